"""The files that belong to a working tree by git."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from tersely.foundation.git.repository import work_tree
from tersely.foundation.git.runner import GitUnavailableError, environment, finished, run, started
from tersely.foundation.types import record

if TYPE_CHECKING:  # imported where there is a repository to ask about
    import subprocess

MAX_SUBMODULE_LEVELS = 8  # submodules of submodules
_LISTING_SETTINGS = ("--list", "--includes", "--show-scope", "--name-only", "-z")
_SCOPES_OF_A_REPOSITORY = {"local", "worktree"}
_FILTER_OFF = {"clean": "", "process": "", "required": "false"}


@record
class Listing:
    """Paths below a root, POSIX separators, as `git ls-files --cached --others --exclude-standard`
    names them.
    """

    tracked: list[str]
    untracked: list[str]
    # directories that are repositories of their own and no submodules
    other_repositories: list[str]
    missing_submodules: list[str]


class GitListing:
    """A listing in the making: git works on another core until somebody asks for the result.

    A context manager, so that no process is left behind when nobody does.
    """

    def __init__(self, root: str) -> None:
        """Start git in `root`, a directory inside a repository or not."""
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._failure = ""
        if not in_repository(root):
            return
        try:
            self._process = _start(root)
        except OSError as error:
            self._failure = f"git cannot be run: {error.strerror}"
        except GitUnavailableError as error:
            self._failure = str(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            self._process.communicate()

    def result(self) -> Listing:
        """Wait for git. Raises `GitUnavailableError`."""
        if self._process is None:
            raise GitUnavailableError(self._failure)
        listing = _read(self._process, self._root, 0)
        if not (listing.tracked or listing.untracked) and _is_ignored(self._root):
            raise GitUnavailableError("the repository around this directory ignores it")
        return listing


def in_repository(directory: str) -> bool:
    """True if an absolute path is a working tree of git or lies in one."""
    return bool(work_tree(directory))


def ignored_directories(root: str) -> list[str]:
    """The outermost directories below `root` in which git ignores everything. Raises
    `GitUnavailableError`.
    """
    try:
        listed = run(root, ["ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard"])
    except OSError as error:
        raise GitUnavailableError(str(error)) from error
    return [
        path.removesuffix("/") for path in os.fsdecode(listed).split("\0") if path.endswith("/")
    ]


def _start(root: str) -> subprocess.Popen[bytes]:
    return started(root, ["ls-files", "-z", "-t", "-s", "-c", "-o", "--exclude-standard"])


def filterless_environment(root: str) -> dict[str, str]:
    """The same for a git that compares files with what is committed: it runs no filter that the
    repository names.

    Those that users set for themselves may run. Raises `OSError` and `GitUnavailableError`.
    """
    chosen = environment(root)
    entries = iter(os.fsdecode(run(root, ["config", *_LISTING_SETTINGS])).split("\0"))
    filters = {
        name.rpartition(".")[0]
        for scope, name in zip(entries, entries, strict=False)
        if scope in _SCOPES_OF_A_REPOSITORY and name.startswith("filter.")
    }
    settings = [
        (f"{name}.{key}", value) for name in sorted(filters) for key, value in _FILTER_OFF.items()
    ]
    chosen["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings):
        chosen |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return chosen


def _read(process: subprocess.Popen[bytes], root: str, depth: int) -> Listing:
    status, output, errors = finished(process, root)
    if status:
        said = errors.decode("utf-8", "replace").strip().partition("\n")[0]
        raise GitUnavailableError(said or f"git ended with status {status}")
    listing = Listing([], [], [], [])
    submodules = _sort(os.fsdecode(output), listing)
    for path in submodules:
        _add_submodule(listing, root, path, depth + 1)
    return listing


def _sort(output: str, listing: Listing) -> list[str]:
    """Sort entries (`? path` or `H mode hash stage<TAB>path`) into `listing`; the submodules are
    returned.
    """
    submodules = []
    tracked: dict[str, None] = {}  # a path in conflict is listed once a stage
    for entry in output.split("\0"):
        if entry.startswith("? "):
            kind = listing.other_repositories if entry.endswith("/") else listing.untracked
            kind.append(entry[2:].removesuffix("/"))
        elif entry:
            status, _, path = entry.partition("\t")
            if status.startswith("160000 ", 2):
                submodules.append(path)
            else:
                tracked[path] = None
    listing.tracked = list(tracked)
    return submodules


def _add_submodule(listing: Listing, root: str, path: str, depth: int) -> None:
    directory = f"{root}/{path}"
    is_inside = os.path.realpath(directory) == directory
    if depth > MAX_SUBMODULE_LEVELS or not is_inside or not os.path.lexists(f"{directory}/.git"):
        listing.missing_submodules.append(path)
        return
    try:
        inner = _read(_start(directory), directory, depth)
    except (OSError, GitUnavailableError):
        listing.missing_submodules.append(path)
        return
    for into, paths in (
        (listing.tracked, inner.tracked),
        (listing.untracked, inner.untracked),
        (listing.other_repositories, inner.other_repositories),
        (listing.missing_submodules, inner.missing_submodules),
    ):
        into += [f"{path}/{found}" for found in paths]


def _is_ignored(root: str) -> bool:
    """True if an ignore file of a repository around `root` names it or a parent of it."""
    if os.path.lexists(f"{root}/.git"):
        return False
    try:
        return not finished(started(root, ["check-ignore", "-q", "."]), root)[0]
    except (OSError, GitUnavailableError):
        return False
