"""The places that a command has to be kept from: sockets of other programs, and what git runs or
believes.

Git runs hooks, and believes settings that name programs, outside of all confinement and long after
the command. Where the system can, these are read-only while it runs; in any case they are
afterwards what they were.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tersely.agent.tools.files import places, replacing
from tersely.agent.tools.files.places import FileState
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.repository import homes_elsewhere
from tersely.foundation.storage.roots import INDEX_DIRECTORY, is_within

MAX_CLOSED_SOCKETS = 1_000  # of other programs, which a command does not reach
MAX_GUARDED_FILES = 200  # of hooks, and of linked working trees

_HOOKS = "hooks"
_SETTINGS = ("config", "config.worktree", "commondir", "gitdir")
_TREES = "worktrees"
_WHOLE = (_HOOKS, "modules", _TREES)
_SOCKETS = "/proc/net/unix"


def sockets(writable: Sequence[str]) -> list[str]:
    """The places in the file system where programs of this machine listen, but for those that a
    command may write to.
    """
    try:
        with open(_SOCKETS, encoding="utf-8", errors="surrogateescape") as file:
            names = {f"/{line.rstrip().partition(' /')[2]}" for line in file if " /" in line}
    except OSError:
        return []
    found = []
    for name in sorted(names):
        with suppress(OSError):
            is_ours = any(is_within(name, place) for place in writable)
            if not is_ours and stat.S_ISSOCK(os.lstat(name).st_mode):
                found.append(name)
    return found[:MAX_CLOSED_SOCKETS]


def homes(root: Path) -> list[Path]:
    """The places where git keeps what belongs to a working tree: below it, and elsewhere for a
    linked one or a submodule.
    """
    inside = root / ".git"
    return [
        *([inside] if inside.is_dir() and not inside.is_symlink() else []),
        *map(Path, homes_elsewhere(str(root))),
    ]


def guarded(root: Path) -> list[str]:
    """The paths that git runs or believes, and that Tersely does, as far as they are there."""
    paths = [root / INDEX_DIRECTORY]
    if (root / ".git").is_file():
        paths.append(root / ".git")
    for home in homes(root):
        paths += [home / name for name in (*_SETTINGS, *_WHOLE)]
        if _is_shared(root, home):
            trees = home / _TREES
            paths.remove(trees)
            paths += [tree / name for tree in _entries(trees) for name in _SETTINGS]
    return [
        str(path)
        for path in dict.fromkeys(paths)
        if os.path.lexists(path) and os.path.realpath(path) == str(path)
    ]


def believed(root: Path, folders: Iterable[Path]) -> dict[tuple[Path, str], FileState]:
    """The settings and hooks of git as they are in the places where it keeps them, and, with the
    root among the folders, the file that leads from there to such a place.
    """
    found = {}
    for home in folders:
        hooks = [f"{_HOOKS}/{hook.name}" for hook in _entries(home / _HOOKS)]
        for name in (".git",) if home == root else (*_SETTINGS, _HOOKS, *hooks):
            # that of hooks is a file only where it is a link
            with suppress(TerselyError):
                state = places.state(home, name)
                if state is not None:
                    found[home, name] = state
    return found


def restored(root: Path, before: Mapping[tuple[Path, str], FileState]) -> list[str]:
    """Make settings and hooks what they were, where that is not so; the paths that were changed,
    and what stays so.
    """
    # not where git is led to now: one changed setting would hide another
    now = believed(root, {home for home, _ in before if not home.is_symlink()})
    changed = sorted(
        place for place in before.keys() | now.keys() if before.get(place) != now.get(place)
    )
    told = dict.fromkeys(changed, "")
    for home, name in sorted(changed, key=lambda place: (place in before, place)):
        # what is removed gives its place
        try:
            _restore(home, name, now.get((home, name)), before.get((home, name)))
        except TerselyError as error:
            told[home, name] = f" (cannot be: {error.message})"
    return [f"{os.path.relpath(home / name, root)}{why}" for (home, name), why in told.items()]


def _restore(home: Path, name: str, now: FileState | None, wanted: FileState | None) -> None:
    if wanted is not None:
        with suppress(OSError):
            (home / name).rmdir()
        replacing.put(home, name, now, wanted)
    elif now is not None:
        replacing.remove(home, name, now, ())


def _entries(folder: Path) -> Sequence[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())[:MAX_GUARDED_FILES]
    return ()


def _is_shared(root: Path, home: Path) -> bool:
    """True if a linked working tree has its own place below this one."""
    return any(str(other).startswith(f"{home}/") for other in homes(root))
