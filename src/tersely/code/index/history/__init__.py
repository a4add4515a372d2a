"""Changes and history of a repository: diffs, commits that touched lines, and their subjects."""
