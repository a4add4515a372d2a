"""The files that a session has changed, as git tells it: commits that were made, and what is not
committed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tersely.code.index.history.changes import Changes
from tersely.foundation.errors import TerselyError

Stamp = tuple[int, int]  # size and time of change in nanoseconds; zeros where there is no file


class Before(NamedTuple):
    """A repository before: its commit, and the files that differed from it then."""

    root: Path
    commit: str
    stamps: Mapping[str, Stamp]


def look(root: Path) -> Before | None:
    """A repository as it is now, None where git cannot tell."""
    try:
        changes = Changes(root)
        return Before(root, changes.tip(), _stamps(root, changes))
    except TerselyError:
        return None


def changed_since(before: Before) -> list[str]:
    """The paths of the files that are others than they were, without those that had been changed
    and stayed so.
    """
    try:
        now = _stamps(before.root, Changes(before.root, before.commit))
    except TerselyError:
        return []
    back = [
        path
        for path in before.stamps
        if path not in now and _stamp(before.root, path) != before.stamps[path]
    ]
    return sorted(
        [*(path for path, stamp in now.items() if before.stamps.get(path) != stamp), *back]
    )


def _stamps(root: Path, changes: Changes) -> dict[str, Stamp]:
    return {path: _stamp(root, path) for path in changes.paths()}


def _stamp(root: Path, path: str) -> Stamp:
    try:
        found = os.lstat(root / path)
    except OSError:
        return (0, 0)
    return (found.st_size, found.st_mtime_ns)
