"""A change of lines as people read it: a unified diff, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from itertools import islice
from typing import NamedTuple

from tersely.foundation.text.escape import visible_line

MAX_PREVIEW_LINES = 400  # of a diff that somebody is asked about
_HEAD_LINES = 2  # of a unified diff, before its first hunk


class FileDifference(NamedTuple):
    """The text of a diff, and how many lines it adds and removes in all."""

    text: str
    added_lines: int
    removed_lines: int


def difference(path: str, before: Sequence[str], after: Sequence[str]) -> FileDifference:
    """The unified diff of two versions, as lines without endings; nothing in it steers a terminal."""
    lines: list[str] = []
    added = removed = 0
    for line in islice(unified_diff(before, after, lineterm=""), _HEAD_LINES, None):
        added += line.startswith("+")
        removed += line.startswith("-")
        if len(lines) <= MAX_PREVIEW_LINES:
            lines.append(visible_line(line[:1]) + visible_line(line[1:]).replace("\\x09", "\t"))
    rest = added + removed - sum(line[:1] in {"+", "-"} for line in lines[:MAX_PREVIEW_LINES])
    shown = lines[:MAX_PREVIEW_LINES] + ([f"… {rest:,} more changed lines"] if rest else [])
    name = visible_line(path)
    return FileDifference("\n".join([f"--- {name}", f"+++ {name}", *shown]) + "\n", added, removed)
