"""The project of a directory: worktrees and clones of one repository are one project.

A copy is recognised by what it shares with others: the place where git keeps what its worktrees
have in common, the place from which it was cloned, its first commit. The first two are read from
files, the last is asked of git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePath

from tersely.foundation.git.repository import homes_of, is_known, settings_text, work_tree
from tersely.foundation.git.runner import GitUnavailableError, run
from tersely.foundation.storage.roots import enclosing_root

PROJECT_CHARACTERS = 12  # of the id of a project
MAX_FOLLOWED_CLONES = 10  # of clones
_ORIGIN = re.compile(r'\[remote "origin"\](.*?)(?=^\s*\[|\Z)', re.DOTALL | re.MULTILINE)
_URL = re.compile(r'^\s*url\s*=\s*"?(.*?)"?\s*$', re.MULTILINE)
_ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^/@]*@)?([^/:]+)(?::\d+(?=/))?[:/]+(.+)", re.IGNORECASE)


def project_name(directory: str) -> str:
    """The name of the project of a directory: as the place from which it was cloned is called, or
    its directory.

    It reads a few files and starts nothing.
    """
    home = _shared_home(directory)
    if not home:
        return PurePath(enclosing_root(directory)).name
    *_, last = _sources(home)
    return PurePath(last.removesuffix("/.git")).name.removesuffix(".git")


def place_marks(directory: str) -> list[str]:
    """By which files a directory is known as a copy of its project, the surest first."""
    home = _shared_home(directory)
    return [_mark(one) for one in _sources(home)] if home else [_mark(enclosing_root(directory))]


def commit_mark(directory: str) -> str:
    """By which first commit it is known, "" where there is none."""
    if not work_tree(directory):
        return ""
    try:
        given = run(directory, ["rev-list", "--max-parents=0", "HEAD"])
    except (GitUnavailableError, OSError):
        return ""
    return min(given.decode("ascii", "replace").split(), default="")[:PROJECT_CHARACTERS]


def portable_mark(directory: str) -> str:
    """By which another machine may know it: by its first commit, else the place from which it was
    cloned.
    """
    return commit_mark(directory) or place_marks(directory)[-1]


def are_of_one_project(one: str, other: str) -> bool:
    """True if two directories are copies of the same repository."""
    shares_place = not set(place_marks(one)).isdisjoint(place_marks(other))
    return shares_place or (bool(commit_mark(one)) and commit_mark(one) == commit_mark(other))


def _shared_home(directory: str) -> str:
    """The place where git keeps what all worktrees of a directory's repository share, "" where it
    has none or leads astray.
    """
    tree = work_tree(directory)
    return homes_of(tree)[-1] if tree and is_known(tree) else ""


def _sources(home: str) -> Iterator[str]:
    """The repository itself and those from which it was cloned, step by step, as far as they are on
    this machine.
    """
    for _ in range(MAX_FOLLOWED_CLONES):
        yield home
        address = _origin(home)
        if not address:
            return
        if _is_remote(address):
            yield _plain(address)
            return
        place = os.path.realpath(
            os.path.join(os.path.dirname(home), address.removeprefix("file://"))
        )
        home = _shared_home(place) if os.path.lexists(f"{place}/.git") else place
        if not os.path.isdir(home):
            yield place
            return


def _is_remote(address: str) -> bool:
    return not address.startswith("file://") and ":" in address.partition("/")[0]


def _plain(address: str) -> str:
    """An address without what differs between those who clone from it: scheme, user, port, ending."""
    matched = _ADDRESS.fullmatch(address)
    return (
        f"{matched[1].lower()}/{matched[2].strip('/')}".removesuffix(".git") if matched else address
    )


def _origin(home: str) -> str:
    """From where a repository was cloned, as its settings say."""
    section = _ORIGIN.search(settings_text(home))
    url = _URL.search(section[1]) if section else None
    return url[1] if url else ""


def _mark(place: str) -> str:
    return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:PROJECT_CHARACTERS]
