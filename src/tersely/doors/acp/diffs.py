"""A unified diff as editors want it: for each hunk the text before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_HEADER_LINES = 2  # the names of the file


class EditorHunk(NamedTuple):
    """Lines that change, with those around them; `before` is None where there was no file. `line`
    is in the new one.
    """

    line: int
    before: str | None
    after: str


def hunks(diff: str) -> list[EditorHunk]:
    """The hunks of a diff, none for a text that is no diff. What follows it is passed over."""
    lines = diff.split("\n")
    if len(lines) <= _HEADER_LINES or not lines[0].startswith("--- "):
        return []
    return list(_hunks(lines[_HEADER_LINES:]))


def _hunks(lines: list[str]) -> Iterator[EditorHunk]:
    at = 0
    while at < len(lines) and (header := _HUNK.match(lines[at])):
        start = at = at + 1
        while at < len(lines) and lines[at][:1] in {" ", "+", "-"}:
            at += 1
        body = lines[start:at]
        before = [line[1:] for line in body if line[0] != "+"]
        after = [line[1:] for line in body if line[0] != "-"]
        is_new = header[1] in {"0", "1"} and not before
        yield EditorHunk(int(header[2]), None if is_new else "\n".join(before), "\n".join(after))
