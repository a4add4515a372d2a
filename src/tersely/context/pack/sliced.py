"""A body of which only some lines matter: the rest is said to be left out, with its lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tersely.context.pack.excerpt import Line

ELLIPSIS = "⋯"


def sliced(lines: list[str], first_line: int, last_line: int, kept: Collection[int]) -> list[Line]:
    """The kept lines of a file between two others, both included; a mark with its lines stands for
    each gap.
    """
    body: list[Line] = []
    gap = 0
    for number in range(first_line, last_line + 2):
        if number <= last_line and number not in kept:
            gap = gap or number
            continue
        if gap:
            body += _gap([Line(at, lines[at - 1]) for at in range(gap, number)])
        gap = 0
        if number <= last_line:
            body.append(Line(number, lines[number - 1]))
    return body


def in_parts(
    whole: Sequence[Line], parts: Sequence[tuple[int, int]], header_lines: int
) -> list[Line]:
    """The first lines of a body, and those that lie in some ranges of the file; a mark stands for
    each gap.
    """
    kept: list[Line] = []
    gap: list[Line] = []
    for position, line in enumerate(whole):
        if position < header_lines or any(first <= line.number <= last for first, last in parts):
            kept += _gap(gap)
            gap = []
            kept.append(line)
        else:
            gap.append(line)
    return kept + _gap(gap)


def without_ranges(whole: Sequence[Line], ranges: Collection[tuple[int, int]]) -> list[Line]:
    """A body without the lines in some ranges of the file; a mark stands for each gap."""
    kept: list[Line] = []
    gap: list[Line] = []
    for line in whole:
        if any(first <= line.number <= last for first, last in ranges):
            gap += [] if line.is_gap else [line]
            continue
        kept += _gap(gap)
        gap = []
        kept.append(line)
    return kept + _gap(gap)


def _gap(gap: Sequence[Line]) -> list[Line]:
    """The line that stands for lines that are left out: none where all are blank."""
    written = next((line.text for line in gap if line.text.strip()), "")
    if not written:
        return []
    indent = written[: len(written) - len(written.lstrip())]
    first, last = gap[0].number, gap[-1].number
    numbers = f"{first}-{last}" if last > first else f"{first}"
    return [Line(first, f"{indent}{ELLIPSIS} {numbers}", is_gap=True)]
