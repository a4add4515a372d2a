"""Running git in a repository that is not trusted: no program that it names is run, and nobody
waits for its pipes.

Its settings may name a program to watch the file system, filters, a program to compare with, a
transport to fetch what is missing, files of patterns and attributes that lie anywhere; its `.git`
may lead elsewhere (`repository.py`); and git opens whatever is called `.gitignore`. What the user's
own settings name is honoured.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from tersely.foundation.git.repository import LeadsOutError, check_home, homes_of, work_tree
from tersely.foundation.types import Environment, record

if TYPE_CHECKING:  # imported where there is a repository to ask about
    import subprocess

GIT_SECONDS = 40  # for git to list the files
GIT_PATIENCE_SECONDS = 2.0  # until it is looked whether git waits for a pipe
MAX_HISTORY_BYTES = 8_000_000  # of what git says about them
GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false",
       "-c", "log.mailmap=false", "-c", "diff.orderFile=/dev/null")  # fmt: skip
# Variables by which a calling git (a hook, for one) would point ours at another repository or
# index.
_INDEX_VARIABLE = "GIT_INDEX_FILE"
REPOSITORY_VARIABLES = (
    _INDEX_VARIABLE, "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
    "GIT_PREFIX", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_IMPLICIT_WORK_TREE", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
)  # fmt: skip
# An object that is missing in a partial clone is not fetched: the repository says by which program
# it would be.
_ASKING_NOBODY = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}  # fmt: skip
# settings, which repositories may not make
_NAMING_FILES = ("core.excludesFile", "core.attributesFile")
_NOT_FETCHED = "from promisor remote"
_ALL_CONTENTS = "this clone lacks contents: `git fetch --refetch --no-filter` brings them"
_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})


class GitUnavailableError(Exception):
    """Git cannot tell; `str()` says why, "" when there is simply no repository; `hint` what helps,
    "" if unknown.
    """

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def environment(root: str) -> dict[str, str]:
    """The variables for a git of ours, which asks about the repository that it is started in and no
    other.

    The working tree is the one around `root`, whatever the repository's settings say: they may name
    any directory.
    """
    kept = {name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES}
    return kept | {"GIT_WORK_TREE": work_tree(root), **_ASKING_NOBODY}


def index_of_caller(root: str) -> dict[str, str]:
    """The variable by which git names the index of a commit that is being made to its hooks; none
    if it is not of the repository around `root`.
    """
    named = os.environ.get(_INDEX_VARIABLE, "")
    path, tree = os.path.realpath(named), work_tree(root)
    is_own = bool(named and tree) and os.path.dirname(path) == homes_of(tree)[0]
    return {_INDEX_VARIABLE: path} if is_own else {}


def started(
    root: str, words: Sequence[str], variables: Environment | None = None
) -> subprocess.Popen[bytes]:
    """A git at work in `root`. Raises `OSError`, and `GitUnavailableError` where it would read
    another repository.
    """
    import subprocess

    own = _settings(root)
    return subprocess.Popen(
        [*GIT, *own, *words], cwd=root, env=variables or environment(root), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finished(
    process: subprocess.Popen[bytes], root: str, given: bytes = b""
) -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of a git that was started in `root`. Raises
    `GitUnavailableError`.
    """
    with process, _watched(process, root) as watch:
        output, errors = process.communicate(given)
    if watch.why:
        raise GitUnavailableError(watch.why)
    return process.returncode, output, errors


def run(
    root: str, words: Sequence[str], variables: Environment | None = None, given: bytes = b""
) -> bytes:
    """The output of git. Raises `OSError`, and `GitUnavailableError` where it fails."""
    status, output, errors = finished(started(root, words, variables), root, given)
    if status:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        fatal = next((line for line in lines if line.startswith("fatal: ")), "".join(lines[:1]))
        hint = _ALL_CONTENTS if _NOT_FETCHED in fatal else ""
        raise GitUnavailableError(fatal or f"git ended with status {status}", hint)
    return output


def beginning(root: str, words: Sequence[str]) -> bytes:
    """The first `MAX_HISTORY_BYTES` that git prints, "" where it cannot tell."""
    import subprocess

    try:
        own = _settings(root)
        with subprocess.Popen(
            [*GIT, *own, *words], cwd=root, env=environment(root), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process, _watched(process, root) as watch:  # fmt: skip
            assert process.stdout is not None
            text = process.stdout.read(MAX_HISTORY_BYTES)
            process.kill()
    except (OSError, GitUnavailableError):
        return b""
    return b"" if watch.why else text


class GitObject(NamedTuple):
    """An object of a repository as `git cat-file --batch` prints it."""

    id: str
    kind: str
    content: bytes


def objects_in(output: bytes) -> Iterator[GitObject]:
    """The objects that `git cat-file --batch` has printed; what is missing is left out."""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        name, kind, *size = output[at:end].decode().split()
        at = end + 1
        if size:
            yield GitObject(name, kind, output[at : at + int(size[0])])
            at += int(size[0]) + 1


def blob_sizes(output: bytes) -> dict[str, int]:
    """The bytes of each blob that `git cat-file --batch-check` has printed, by its id."""
    rows = map(str.split, output.decode("ascii", "replace").splitlines())
    return {row[0]: int(row[2]) for row in rows if row[1:2] == ["blob"]}


# What a repository may do to us


def _settings(root: str) -> list[str]:
    """Words that unset what only users may set; `GitUnavailableError` where git would be led
    elsewhere.
    """
    tree = work_tree(root)
    try:
        said = check_home(tree) if tree else ""
    except LeadsOutError as error:
        raise GitUnavailableError(str(error), error.hint) from error
    named = (name for name in _NAMING_FILES if name.partition(".")[2].lower() in said)
    return [word for name in named for word in ("-c", f"{name}=/dev/null")]


@record
class _Watch:
    """The reason for which a git was ended before it was done."""

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
        watch.why = (
            f"{pipe} is a pipe, for which git waits"
            if pipe
            else f"git did not answer within {GIT_SECONDS} s"
        )
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
