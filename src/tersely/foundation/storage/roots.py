"""The root of a repository. Needs `os` alone: the command line looks before it loads anything."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    from pathlib import Path

INDEX_DIRECTORY = ".tersely"
INDEX_FILE = "index.db"
MARK = ".gitignore"  # what every directory of ours holds, so that git passes over it
RELAY_LOCK = "relay.lock"  # in the home of a relay, as long as it runs and afterwards
KEY_FILE = "key"  # in the same place: what names this user's indexes
MAX_SHOWN_NAME_CHARACTERS = 200  # of a name that is no directory
_RELAY_HOME = "~/.tersely"


def enclosing_root(directory: str) -> str:
    """The nearest directory around a resolved one that is a repository or has an index, else the
    directory itself.
    """
    around = directory
    while around != (above := os.path.dirname(around)):
        if is_repository(around):
            return around
        around = above
    return directory


def is_repository(directory: str) -> bool:
    """True if a resolved directory is the top of a repository, or has an index.

    A directory `.git` without a `HEAD` is none to git either: sandboxes leave such empty ones. What
    holds everything of a user is never one, nor is a directory because a relay's home lies in it.
    """
    git = f"{directory}/.git"
    has_git = os.path.isfile(git) or os.path.lexists(f"{git}/HEAD")
    return (has_git or _has_index(directory)) and not holds_home(directory)


def holds_home(directory: str) -> bool:
    """True if a resolved directory is the user's home or lies around it: an index of it would take
    in everything that the user has.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    return is_within(home, directory)


def is_within(path: str, directory: str) -> bool:
    """True if a resolved path is that of a resolved directory, or leads to what lies below it."""
    return path == directory or path.startswith(f"{directory.rstrip(os.sep)}{os.sep}")


def relay_home() -> str:
    """The home directory of this user's relay: `$TERSELY_HOME`, else `~/.tersely`."""
    return os.path.expanduser(os.environ.get("TERSELY_HOME") or _RELAY_HOME)


def is_relay_home(directory: str) -> bool:
    """True if a directory is the home of this user's relay or may become it, or was one: then its
    lock or the user's key is there.
    """
    return any(
        os.path.lexists(f"{directory}/{name}") for name in (RELAY_LOCK, KEY_FILE)
    ) or os.path.realpath(directory) in {
        os.path.realpath(home) for home in (relay_home(), os.path.expanduser(_RELAY_HOME))
    }


def _has_index(directory: str) -> bool:
    index = f"{directory}/{INDEX_DIRECTORY}"
    return os.path.exists(f"{index}/{MARK}") and not is_relay_home(index)


def resolved_directory(named: str, option: str) -> str:
    """The resolved directory of a name; raises `root_not_found`, whose hint names the option that
    gave it.
    """
    from tersely.foundation.errors import TerselyError

    hint, shown = f"name a directory with {option}", named[:MAX_SHOWN_NAME_CHARACTERS]
    try:
        resolved = os.path.realpath(named, strict=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise TerselyError("root_not_found", f"{shown}: {why}", hint) from None
    if not os.path.isdir(resolved):
        raise TerselyError("root_not_found", f"{shown} is not a directory", hint)
    return resolved


def find_root(start: Path) -> Path:
    """The nearest directory around `start` that is a repository or has an index, else `start`
    itself, resolved.

    Raises `root_not_found` where that is the home of the user or lies around it, as `/`, in which
    graphical programs start others.
    """
    from tersely.foundation.errors import TerselyError

    try:
        start = start.resolve(strict=True)
    except OSError as error:
        place = start if start.is_absolute() else "the current directory"
        message = f"{place} is gone or closed: {error.strerror}"
        raise TerselyError("root_not_found", message, "name a directory with --root") from error
    root = enclosing_root(str(start))
    if holds_home(root):
        message = f"{root} is a home directory or holds one, so it is no repository"
        raise TerselyError("root_not_found", message, "go to a project, or name one with --root")
    return type(start)(root)
