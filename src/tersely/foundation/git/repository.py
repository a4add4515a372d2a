"""The place of the repository of a working tree, and whether what git would read of it stays there.

Git follows what a repository says: to another repository that it shares, to one whose objects it
borrows, along links, and to more settings. All of that may have come in an archive. A repository
that leads elsewhere is refused, unless the other one knows of this directory as well, as with
worktrees and submodules, or the user allows the place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from tersely.foundation.limits import MAX_SETTINGS_BYTES
from tersely.foundation.storage.roots import is_within
from tersely.foundation.system import NO_WAITING, UNCHANGED
from tersely.foundation.types import Strings

# What git opens in a repository by name; any of them may be a link.
_OPENED = tuple(
    "HEAD config config.worktree index packed-refs shallow info info/exclude info/attributes refs refs/heads "
    "refs/remotes refs/tags logs objects objects/info objects/info/alternates objects/info/commit-graph "
    "objects/info/commit-graphs objects/pack objects/pack/multi-pack-index".split()
)
# Places outside that the user allows, separated by `:`: the setting `git_elsewhere`, which no
# repository can make.
ALLOWED = "TERSELY_GIT_ELSEWHERE"
_MAX_NAMED_PLACES = 100  # settings and object stores that one repository names
_POINTER_BYTES = 4_096


class LeadsOutError(Exception):
    """Git would read what is not of this repository; `str()` says where, `hint` what allows it, ""
    for nothing.
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.hint = f"if it is yours, {ALLOWED}={place} allows it" if place else ""


def work_tree(directory: str) -> str:
    """The nearest directory around an absolute path that has a `.git`, "" without one."""
    while not os.path.lexists(f"{directory}/.git"):
        if not directory:
            return ""
        directory = directory.rpartition("/")[0]
    return directory or "/"


def is_known(tree: str) -> bool:
    """True if the repository that a working tree names is inside it, or knows of it."""
    home, mark = _home_of(tree), f"{tree.rstrip('/')}/.git"
    if os.path.lexists(f"{home}/commondir"):
        return _is_worktree(home, mark)
    return home.startswith(f"{os.path.realpath(tree).rstrip('/')}/") or _is_submodule(home, tree)


def homes_elsewhere(tree: str) -> Strings:
    """The directories in which git keeps what belongs to a working tree, if they are outside of it:
    its own place, then what it shares.

    Nothing unless that repository knows of the tree: whoever made the tree could name any place.
    """
    home = _home_of(tree)
    if not is_known(tree) or _is_inside(home, [os.path.realpath(tree)]):
        return ()
    return tuple(dict.fromkeys((home, _common_of(home))))


def homes_of(tree: str) -> Strings:
    """The directories in which git keeps what belongs to a working tree, then what several trees
    share, if that is elsewhere.
    """
    home = _home_of(tree)
    return tuple(dict.fromkeys((home, _common_of(home))))


def settings_text(home: str) -> str:
    """The settings of a repository as text, without those that they include; "" where they are too
    long.
    """
    text = _text_of(f"{home}/config", MAX_SETTINGS_BYTES + 1)
    return text if len(text) <= MAX_SETTINGS_BYTES else ""


def check_home(tree: str) -> str:
    """The settings of the repository of a working tree, in lower case; raises `LeadsOutError`."""
    if not is_known(tree):
        raise LeadsOutError(
            ".git leads to a repository elsewhere that does not know of this directory"
        )
    homes = homes_of(tree)
    inside = (os.path.realpath(tree), *homes, *_allowed())
    for one in homes:
        for name in _OPENED:
            if os.path.islink(f"{one}/{name}") and not _is_inside(f"{one}/{name}", inside):
                raise LeadsOutError(f".git/{name} leads out of the repository")
    objects = [f"{one}/objects" for one in homes]
    _reached(objects, _borrowed, inside, ".git borrows objects from")
    settings = [f"{one}/{name}" for one in homes for name in ("config", "config.worktree")]
    said = _reached(settings, _included_files, inside, ".git/config includes")
    return "\n".join(_whole_text(path).lower() for path in said)


def _allowed() -> Iterable[str]:
    places = os.environ.get(ALLOWED, "").split(os.pathsep)
    return (os.path.realpath(place) for place in places if os.path.isabs(place))


def _reached(
    places: Iterable[str],
    named: Callable[[str], Iterable[str]],
    inside: Sequence[str],
    how: str,
) -> list[str]:
    """Places, with those that they name, and those again; raises `LeadsOutError`."""
    found = list(dict.fromkeys(places))
    for place in found:
        for name in named(place):
            other = os.path.realpath(name)
            if other in found:
                continue
            if not _is_inside(other, inside) or len(found) > _MAX_NAMED_PLACES:
                raise LeadsOutError(f"{how} {other}, which {ALLOWED} does not allow", other)
            found.append(other)
    return found


def _borrowed(store: str) -> Iterable[str]:
    """The stores of objects that one names."""
    lines = _whole_text(f"{store}/info/alternates").splitlines()
    told = (line.strip().strip('"') for line in lines if not line.startswith("#"))
    return (os.path.join(store, line) for line in told if line)


def _included_files(path: str) -> Iterable[str]:
    """The files that settings include."""
    text = _whole_text(path)
    names = _included(text) if "include" in text.lower() else ()
    return (os.path.join(os.path.dirname(path), os.path.expanduser(name)) for name in names)


def _included(settings: str) -> Iterable[str]:
    """The files that settings include, under whatever conditions; git is given their text, and
    opens nothing.
    """
    import subprocess

    words = (
        "config",
        "--file",
        "-",
        "--no-includes",
        "-z",
        "--get-regexp",
        r"^include(if\..*)?\.path$",
    )
    given = os.fsencode(settings)
    told = subprocess.run(
        ["git", *words], cwd="/", capture_output=True, input=given, check=False
    ).stdout
    return (os.fsdecode(entry).partition("\n")[2] for entry in told.split(b"\0") if entry)


def _is_inside(path: str, directories: Iterable[str]) -> bool:
    real = os.path.realpath(path)
    return any(is_within(real, directory) for directory in directories)


def _home_of(tree: str) -> str:
    """The place of the repository of a working tree: `.git`, or what a file of that name says."""
    mark = f"{tree.rstrip('/')}/.git"
    if not os.path.isfile(mark):
        return os.path.realpath(mark)
    return os.path.realpath(os.path.join(tree, _pointer(mark).removeprefix("gitdir: ")))


def _common_of(home: str) -> str:
    """The place of what worktrees share: itself, but for that of a worktree."""
    said = _pointer(f"{home}/commondir")
    return os.path.realpath(os.path.join(home, said)) if said else home


def _is_worktree(home: str, mark: str) -> bool:
    """True if it is what `git worktree add` made for this directory, in the repository that it
    shares.
    """
    said = _pointer(f"{home}/gitdir")
    is_ours = bool(said) and os.path.realpath(os.path.join(home, said)) == os.path.realpath(mark)
    return is_ours and os.path.dirname(home) == os.path.join(_common_of(home), "worktrees")


def _is_submodule(home: str, tree: str) -> bool:
    """True if a repository around this directory keeps it among its modules."""
    above = tree
    while above not in ("", "/"):
        above = work_tree(above.rpartition("/")[0])
        if above and home.startswith(f"{_home_of(above)}/modules/"):
            return is_known(above)
    return False


def _pointer(path: str) -> str:
    """The path that a file holds, cut as git cuts it: line ends in the middle belong to it. ""
    where it is too long.
    """
    text = _text_of(path, _POINTER_BYTES + 1)
    return text.rstrip("\r\n") if len(text) <= _POINTER_BYTES else ""


def _whole_text(path: str) -> str:
    """All of a file; raises `LeadsOutError` where git would read on beyond what is looked at."""
    text = _text_of(path, MAX_SETTINGS_BYTES + 1)
    if len(text) > MAX_SETTINGS_BYTES:
        raise LeadsOutError(
            f"{path} is larger than {MAX_SETTINGS_BYTES:,} bytes: what it names is not looked at"
        )
    return text


def _text_of(path: str, most_bytes: int) -> str:
    """The beginning of a file, "" for what cannot be read at once; of a link too, which stays
    inside.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | NO_WAITING | UNCHANGED)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(descriptor, most_bytes))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
