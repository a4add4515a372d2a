"""Where a repository begins. Needs `os` alone: the command line looks before it loads anything."""

from __future__ import annotations

import os

INDEX_DIRECTORY = ".tersely"
INDEX_FILE = "index.db"
MARK = ".gitignore"  # what every index directory holds


def enclosing_root(directory: str) -> str:
    """The nearest directory around a resolved one that is a repository or has an index, else the directory itself."""
    around = directory
    while not is_repository(around):
        if around in {"", "/"}:
            return directory
        around = os.path.dirname(around)
    return around


def is_repository(directory: str) -> bool:
    """Whether a directory is the top of a repository, or has an index."""
    return os.path.exists(f"{directory}/.git") or os.path.exists(f"{directory}/{INDEX_DIRECTORY}/{MARK}")
