"""Text as it stands: quoted strings and regular expressions, found line by line in the sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

MAX_LINE_BYTES = 2_000  # of a line that an expression is tried on: longer ones are data, and backtracking has no end
MAX_LINES_PER_FILE = 1_000


class FileMatches(NamedTuple):
    """The lines of a file on which something was found, from 1, ascending."""

    path: str
    lines: list[int]


def find_quoted(
    paths: Iterable[str], source_of: Callable[[str], bytes], quoted: Iterable[str]
) -> Iterator[FileMatches]:
    """The files that have every quoted text somewhere, with the lines on which one of them begins."""
    needles = [text.encode() for text in quoted]
    for path in paths:
        source = source_of(path)
        if all(needle in source for needle in needles):
            expression = re.compile(b"|".join(map(re.escape, needles)))
            yield FileMatches(path, _lines(source, (match.start() for match in expression.finditer(source))))


def find_expression(
    paths: Iterable[str], source_of: Callable[[str], bytes], expression: re.Pattern[bytes]
) -> Iterator[FileMatches]:
    """The files in which an expression matches within a line."""
    for path in paths:
        lines = source_of(path).split(b"\n")
        found = (
            number for number, line in enumerate(lines, 1) if len(line) <= MAX_LINE_BYTES and expression.search(line)
        )
        matches = [number for number, _ in zip(found, range(MAX_LINES_PER_FILE), strict=False)]
        if matches:
            yield FileMatches(path, matches)


def _lines(source: bytes, offsets: Iterable[int]) -> list[int]:
    lines: list[int] = []
    line, before = 1, 0
    for offset in offsets:
        line += source.count(b"\n", before, offset)
        before = offset
        if not lines or lines[-1] != line:
            lines.append(line)
        if len(lines) >= MAX_LINES_PER_FILE:
            break
    return lines
