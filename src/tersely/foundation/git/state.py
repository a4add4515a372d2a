"""The state of a repository that git keeps, as far as a comparison of its files depends on it, told
from the times of its files.

Beside the files of the working tree, which whoever asks has to watch, a comparison depends on the
commits that names stand for, on what is tracked, and on settings. Git writes each of them by
renaming a file over another, which changes the times of the directory that holds it. So no git has
to be started to see that nothing has changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterator
from functools import lru_cache

from tersely.foundation.git.repository import homes_of, is_known, work_tree

MAX_REF_ENTRIES = 5_000  # files and directories below `refs`, of more of which nothing is told
MAX_INDEX_BYTES = 100_000_000
RACY_NS = 50_000_000  # in which a file may change again without another time
_FILES = (
    "HEAD", "index", "config", "config.worktree", "packed-refs", "shallow", "reftable", "info/exclude",
    "info/attributes", "refs/heads", "refs/remotes", "refs/tags",
)  # fmt: skip
_COMPRESSED_INDEX_VERSION = 4  # from which on paths are not written out

Stamp = tuple[str, int, int, int]  # a path, and its time, size and number


def git_state(root: str, unwatched: frozenset[str]) -> Hashable | None:
    """A value that is another one when git may compare differently; None where that cannot be told.

    It cannot where files are tracked in directories of names that are not watched, such as those of
    dependencies.
    """
    tree = work_tree(root)
    if not tree or not is_known(tree):
        return None
    homes = homes_of(tree)
    stamps: list[Stamp] = []
    for home in homes:
        stamps += [_stamp(f"{home}/{name}") for name in _FILES]
        directories = list(_directories(f"{home}/refs"))
        if len(directories) > MAX_REF_ENTRIES:
            return None
        stamps += map(_stamp, directories)
    latest = max(changed_ns for _, changed_ns, _, _ in stamps)
    if time.time_ns() - latest < RACY_NS or _tracks(unwatched, _stamp(f"{homes[0]}/index")):
        return None
    return tuple(stamps)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return path, status.st_mtime_ns, status.st_size, status.st_ino


def _directories(refs: str) -> Iterator[str]:
    """The directories that hold names of commits; too many of them where there are too many names
    to look at.
    """
    pending, entries = [refs], 0
    while pending:
        directory = pending.pop()
        yield directory
        try:
            with os.scandir(directory) as listed:
                for entry in listed:
                    entries += 1
                    if entries > MAX_REF_ENTRIES:
                        yield from [directory] * (MAX_REF_ENTRIES + 1)
                        return
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue


@lru_cache(maxsize=4)
def _tracks(names: frozenset[str], index: Stamp) -> bool:
    """True if files may be tracked in directories of some names."""
    path, _, size, _ = index
    if not size:
        return False
    if size > MAX_INDEX_BYTES or any(
        name.startswith("sharedindex.") for name in os.listdir(os.path.dirname(path))
    ):
        return True
    with open(path, "rb") as file:
        content = file.read()
    is_compressed = int.from_bytes(content[4:8], "big") >= _COMPRESSED_INDEX_VERSION
    return is_compressed or any(f"{name}/".encode() in content for name in names)
