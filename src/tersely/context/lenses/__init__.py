"""Ways to look at a repository: each lens yields candidates for a pack, with a score and a reason."""
