"""The root of a repository. Needs `os` alone: the command line looks before it loads anything."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from pathlib import Path

INDEX_DIRECTORY = ".tersely"
INDEX_FILE = "index.db"
MARK = ".gitignore"  # what every index directory holds
FILE_SYSTEM = "/"


def enclosing_root(directory: str) -> str:
    """The nearest directory around a resolved one that is a repository or has an index, else the
    directory itself.

    The file system as a whole encloses nothing: an index that lies there by accident would take in
    every directory.
    """
    around = directory
    while around not in {"", FILE_SYSTEM}:
        if is_repository(around):
            return around
        around = os.path.dirname(around)
    return directory


def is_repository(directory: str) -> bool:
    """True if a directory is the top of a repository, or has an index.

    A directory `.git` without a `HEAD` is none to git either: sandboxes leave such empty ones.
    """
    git = f"{directory}/.git"
    return (
        os.path.isfile(git)
        or os.path.lexists(f"{git}/HEAD")
        or os.path.exists(f"{directory}/{INDEX_DIRECTORY}/{MARK}")
    )


def find_root(start: Path) -> Path:
    """The nearest directory around `start` that is a repository or has an index, else `start`
    itself, resolved.

    Raises `root_not_found` where that is the whole file system, in which graphical programs start
    others.
    """
    from tersely.foundation.errors import TerselyError

    try:
        start = start.resolve(strict=True)
    except OSError as error:
        message = f"the current directory is gone or closed: {error.strerror}"
        raise TerselyError("root_not_found", message, "name a directory with --root") from error
    root = enclosing_root(str(start))
    if root == FILE_SYSTEM:
        raise TerselyError(
            "root_not_found", f"{FILE_SYSTEM} is not a repository", "name a directory with --root"
        )
    return type(start)(root)
