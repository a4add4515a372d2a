"""A body of which only some lines matter: the rest is said to be left out, with its lines."""

from __future__ import annotations

from collections.abc import Collection

from laconic.code.pack.excerpt import Line

ELLIPSIS = "⋯"


def sliced(lines: list[str], first_line: int, last_line: int, kept: Collection[int]) -> list[Line]:
    """The kept lines of a file between two others, both included; a mark with its lines stands for each gap."""
    body: list[Line] = []
    gap = 0
    for number in range(first_line, last_line + 2):
        if number <= last_line and number not in kept:
            gap = gap or number
            continue
        if gap and any(line.strip() for line in lines[gap - 1 : number - 1]):
            body.append(_mark(lines, gap, number - 1))
        gap = 0
        if number <= last_line:
            body.append(Line(number, lines[number - 1]))
    return body


def _mark(lines: list[str], first: int, last: int) -> Line:
    """`⋯ 12-15`, indented as the line that it stands for."""
    written = next((line for line in lines[first - 1 : last] if line.strip()), "")
    indent = written[: len(written) - len(written.lstrip())]
    span = f"{first}-{last}" if last > first else f"{first}"
    return Line(first, f"{indent}{ELLIPSIS} {span}")
