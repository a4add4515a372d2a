"""Running git in a repository that is not trusted: no program that it names is run, and nobody waits for its pipes.

Its settings may name a program to watch the file system, filters, a program to compare with, a transport to fetch what
is missing; its `.git` may lead to another repository of the user; and git opens whatever is called `.gitignore`.

One file outside of the repository git may still read: the patterns that `core.excludesFile` names. Users keep theirs
at home, so it is honoured, and a repository may name another; what it says decides which files are listed and no more,
nothing of it is shown, and a pipe in its place is waited for no longer than `GIT_SECONDS`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from laconic.foundation.limits import GIT_PATIENCE_SECONDS, GIT_SECONDS, MAX_HISTORY_BYTES

if TYPE_CHECKING:  # imported where there is a repository to ask about
    import subprocess

GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false")
# Variables by which a calling git (a hook, for one) would point ours at another repository or index.
_REPOSITORY_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
    "GIT_PREFIX", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_IMPLICIT_WORK_TREE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
)  # fmt: skip
# An object that is missing in a partial clone is not fetched: the repository says by which program it would be.
_ASKING_NOBODY = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}  # fmt: skip
_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_POINTER_BYTES = 4_096


class GitUnavailableError(Exception):
    """Git cannot tell; `str()` says why, empty when there is simply no repository."""


def work_tree(directory: str) -> str:
    """The nearest directory around an absolute path that has a `.git`, "" without one."""
    while not os.path.lexists(f"{directory}/.git"):
        if not directory:
            return ""
        directory = directory.rpartition("/")[0]
    return directory or "/"


def environment(root: str) -> dict[str, str]:
    """The variables for a git of ours, which asks about the repository that it is started in and no other.

    The working tree is the one around `root`, whatever the repository's settings say: they may name any directory.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    return kept | {"GIT_WORK_TREE": work_tree(root), **_ASKING_NOBODY}


def started(root: str, words: Sequence[str], variables: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A git at work in `root`. Raises `OSError`, and `GitUnavailableError` where it would read another repository."""
    import subprocess

    _check_home(work_tree(root))
    return subprocess.Popen(
        [*GIT, *words], cwd=root, env=variables or environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def finished(process: subprocess.Popen[bytes], root: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of a git that was started in `root`. Raises `GitUnavailableError`."""
    with process, _watched(process, root) as watch:
        output, errors = process.communicate(given)
    if watch.why:
        raise GitUnavailableError(watch.why)
    return process.returncode, output, errors


def run(root: str, words: Sequence[str], variables: dict[str, str] | None = None, given: bytes = b"") -> bytes:
    """What git prints. Raises `OSError`, and `GitUnavailableError` where it fails."""
    status, output, errors = finished(started(root, words, variables), root, given)
    if status:
        said = errors.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitUnavailableError(said or f"git ended with status {status}")
    return output


def beginning(root: str, words: Sequence[str]) -> bytes:
    """The first `MAX_HISTORY_BYTES` that git prints, "" where it cannot tell."""
    import subprocess

    try:
        _check_home(work_tree(root))
        with subprocess.Popen(
            [*GIT, *words], cwd=root, env=environment(root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process, _watched(process, root) as watch:  # fmt: skip
            assert process.stdout is not None
            text = process.stdout.read(MAX_HISTORY_BYTES)
            process.kill()
    except (OSError, GitUnavailableError):
        return b""
    return b"" if watch.why else text


# What a repository may do to us


@dataclass(slots=True)
class _Watch:
    """Why a git was ended before it was done."""

    why: str = ""


@contextmanager
def _watched(process: subprocess.Popen[bytes], root: str) -> Iterator[_Watch]:
    """End a git that takes too long, or sooner if it waits for a pipe."""
    from threading import Event, Thread

    watch, done = _Watch(), Event()

    def look() -> None:
        if done.wait(GIT_PATIENCE_SECONDS):
            return
        pipe = _pipe_below(root)
        if not pipe and done.wait(GIT_SECONDS - GIT_PATIENCE_SECONDS):
            return
        watch.why = f"{pipe} is a pipe, for which git waits" if pipe else f"git did not answer within {GIT_SECONDS} s"
        process.kill()

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()


def _pipe_below(root: str) -> str:
    """A pipe that git opens when it lists files, "" if there is none."""
    home = f"{work_tree(root)}/.git"
    for directory, folders, names in os.walk(root):
        inside = f"{directory}/".startswith(f"{home}/")
        folders[:] = [] if inside and directory.count("/") > home.count("/") + 1 else folders
        for name in names:
            if inside or name in _READ_BY_GIT:
                with suppress(OSError):
                    if stat.S_ISFIFO(os.stat(f"{directory}/{name}").st_mode):
                        return f"{directory}/{name}".removeprefix(f"{root}/")
    return ""


def _check_home(tree: str) -> None:
    """Refuse a `.git` that leads out of its directory to a repository which does not know of this working tree."""
    if tree and not _is_known(tree):
        raise GitUnavailableError(".git leads to a repository elsewhere that does not know of this directory")


def homes_elsewhere(tree: str) -> tuple[str, ...]:
    """Where git keeps what belongs to a working tree, if that is outside of it: its own place, then what it shares.

    Nothing unless that repository knows of the tree: whoever made the tree could name any place.
    """
    home = _home_of(tree)
    if home.startswith(f"{os.path.realpath(tree).rstrip('/')}/"):
        return ()
    if _is_worktree(home, f"{tree.rstrip('/')}/.git"):
        shared = os.path.realpath(os.path.join(home, _line_of(f"{home}/commondir")))
        return (home, shared) if home.startswith(f"{shared}/worktrees/") else ()
    return (home,) if _is_submodule(home, tree) else ()


def _is_known(tree: str) -> bool:
    home, mark = _home_of(tree), f"{tree.rstrip('/')}/.git"
    shares = os.path.exists(f"{home}/commondir")
    is_inside = home.startswith(f"{os.path.realpath(tree).rstrip('/')}/") and not shares
    return is_inside or _is_worktree(home, mark) or _is_submodule(home, tree)


def _home_of(tree: str) -> str:
    """Where the repository of a working tree is: `.git`, or the place that a file of that name says."""
    mark = f"{tree.rstrip('/')}/.git"
    if not os.path.isfile(mark):
        return os.path.realpath(mark)
    return os.path.realpath(os.path.join(tree, _line_of(mark).removeprefix("gitdir:").strip()))


def _is_worktree(home: str, mark: str) -> bool:
    """Whether it is what `git worktree add` made for this directory."""
    said = _line_of(f"{home}/gitdir")
    return bool(said) and os.path.realpath(os.path.join(home, said)) == os.path.realpath(mark)


def _is_submodule(home: str, tree: str) -> bool:
    """Whether a repository around this directory keeps it among its modules."""
    above = tree
    while above not in ("", "/"):
        above = work_tree(above.rpartition("/")[0])
        if above and home.startswith(f"{_home_of(above)}/modules/"):
            return _is_known(above)
    return False


def _line_of(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.fsdecode(os.read(descriptor, _POINTER_BYTES)).partition("\n")[0].strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
