"""The directories to watch in order to hear of every change that may concern the index."""

from __future__ import annotations

import os

from tersely.code.index.listing.ignore import SKIP_DIRS, VIRTUAL_ENVIRONMENT_NAMES, is_skipped_name
from tersely.code.index.storage.store import Store
from tersely.code.places import directory_of, outward
from tersely.foundation.git.listing import ignored_directories, in_repository
from tersely.foundation.git.runner import GitUnavailableError

UNWATCHED_DIRECTORIES = SKIP_DIRS  # names of directories that are not watched, or not always
# names of what never holds a project's own source
TOOL_DIRECTORIES = SKIP_DIRS - VIRTUAL_ENVIRONMENT_NAMES
_GIT_DIRECTORY = ".git"
_EXCLUDES = "info"  # below it, the file `exclude`


def watched_directories(root: str, store: Store) -> list[str]:
    """Directories as paths from an absolute root ("" is the root itself), parents first; those of
    git end the list.

    They are all that somebody may put source into: whatever no rule excludes, and what holds a file
    that is known. Directories of dependencies and of git's objects are not among them: they would
    be most of all there are.
    """
    kept = _directories_of_known_files(store)
    closed = _ignored(root) - kept
    found, pending = [], [""]
    while pending:
        directory = pending.pop()
        found.append(directory)
        for name in _subdirectories(f"{root}/{directory}"):
            path = f"{directory}/{name}" if directory else name
            if path in kept or (path not in closed and not is_skipped_name(root, path, name)):
                pending.append(path)
    return [*found, *_of_git(root)]


def _directories_of_known_files(store: Store) -> set[str]:
    return {around for path in store.known() for around in outward(directory_of(path))}


def _ignored(root: str) -> set[str]:
    if not in_repository(root):
        return set()
    try:
        return set(ignored_directories(root))
    except GitUnavailableError:
        return set()


def _subdirectories(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # gone, or not ours to read
        return []


def _of_git(root: str) -> list[str]:
    """The files in which git keeps what is tracked and what is excluded, if they lie in the root."""
    found = [_GIT_DIRECTORY, f"{_GIT_DIRECTORY}/{_EXCLUDES}"]
    return [directory for directory in found if os.path.isdir(f"{root}/{directory}")]
