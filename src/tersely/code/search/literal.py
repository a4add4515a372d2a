"""Text as it stands: quoted strings and regular expressions, found line by line in the sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from tersely.code.index.content import Hashed
from tersely.code.search.required import required_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.deadline import DeadlineError, deadline

EXPRESSION_SECONDS = 10  # of processor time, for a regular expression in all files
# of a line that an expression is tried on: longer ones are data, and backtracking has no end
MAX_LINE_BYTES = 2_000
MAX_LINES_PER_FILE = 1_000


class FileMatches(NamedTuple):
    """The lines of a file on which something was found, from 1, ascending."""

    path: str
    lines: list[int]


def find_quoted(
    files: Iterable[Hashed], source_of: Callable[[Hashed], bytes], quoted: Iterable[str]
) -> Iterator[FileMatches]:
    """The files that have every quoted text somewhere, with the lines on which one of them begins."""
    needles = [text.encode() for text in quoted]
    for file in files:
        source = source_of(file)
        if all(needle in source for needle in needles):
            expression = re.compile(b"|".join(map(re.escape, needles)))
            yield FileMatches(
                file.path, _lines(source, (match.start() for match in expression.finditer(source)))
            )


def find_expression(
    files: Iterable[Hashed], source_of: Callable[[Hashed], bytes], expression: re.Pattern[bytes]
) -> list[FileMatches]:
    """The files in which an expression matches within a line; `timed_out` where that has no end."""
    required = required_text(expression)
    found = []
    try:
        with deadline(EXPRESSION_SECONDS):
            for file in files:
                lines = _lines_with(
                    source_of(file), required, bool(expression.flags & re.IGNORECASE)
                )
                matching = (
                    number
                    for number, line in lines
                    if len(line) <= MAX_LINE_BYTES and expression.search(line)
                )
                found.append(FileMatches(file.path, list(islice(matching, MAX_LINES_PER_FILE))))
    except DeadlineError:
        message = f"the expression was still being searched for after {EXPRESSION_SECONDS} s of processor time"
        raise TerselyError(
            "timed_out", message, "avoid a repetition within a repetition, or search fewer files"
        ) from None
    return [matches for matches in found if matches.lines]


def _lines_with(source: bytes, required: bytes, ignores_case: bool) -> Iterable[tuple[int, bytes]]:
    """The lines that have a text, numbered from 1."""
    if not required:
        return enumerate(source.split(b"\n"), 1)
    compared = source.lower() if ignores_case else source
    return _numbered(source, compared, required) if required in compared else ()


def _numbered(source: bytes, compared: bytes, required: bytes) -> Iterator[tuple[int, bytes]]:
    number, start = 1, 0
    at = compared.find(required)
    while at >= 0:
        first = source.rfind(b"\n", 0, at) + 1
        number += source.count(b"\n", start, first)
        end = source.find(b"\n", at)
        start = end if end >= 0 else len(source)
        yield number, source[first:start]
        at = compared.find(required, start)


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
