"""What commits said and which files they touched: the latest subjects of the history, newest first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from tersely.foundation.git.runner import beginning

MAX_SUBJECT_COMMITS = 2_000  # whose subjects are compared with a task
_OPTIONS = (
    "--no-merges", "--name-only", "--no-renames", "--no-color", "--no-ext-diff", "--no-show-signature",
    "--submodule=short", "--format=%x01%s", "--relative",
)  # fmt: skip


class Subject(NamedTuple):
    """One commit: the first line of its message, and the files it touched, from the root."""

    text: str
    paths: tuple[str, ...]


def subjects(root: Path) -> list[Subject]:
    """The latest commits that led to what is checked out; none where git cannot tell."""
    text = beginning(str(root), ["log", "HEAD", f"--max-count={MAX_SUBJECT_COMMITS}", *_OPTIONS])
    return [_subject(part) for part in os.fsdecode(text).split("\1")[1:]]


def _subject(part: str) -> Subject:
    first, _, rest = part.partition("\n")
    return Subject(first, tuple(path for path in rest.split("\n") if path))
