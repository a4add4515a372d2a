"""A body of which only some lines matter: the rest is said to be left out, with its lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby, product
from typing import TYPE_CHECKING

from tersely.code.symbols import Range, Ranges, Symbol
from tersely.context.lenses.candidate import merged
from tersely.context.pack.excerpt import Excerpt, Line
from tersely.foundation.types import frozen

if TYPE_CHECKING:
    from tersely.context.lenses.localization.rank import Location

ELLIPSIS = "⋯"
HEAD_LINES = 2  # of a function that is cut down, which are always shown
WINDOW_LINES = (8, 16, 32, 64)  # before and after a line that matters, as far as there is room


def sliced(lines: list[str], first_line: int, last_line: int, kept: Collection[int]) -> Excerpt:
    """The kept lines of a file between two others, both included; a mark with its lines stands for
    each gap.
    """
    between = range(first_line, last_line + 1)
    whole = [Line(number, lines[number - 1]) for number in between]
    return _kept(whole, lambda line: line.number in kept)


def in_parts(whole: Sequence[Line], parts: Sequence[Range], header_lines: int) -> Excerpt:
    """The first lines of a body, and those that lie in some ranges of the file; a mark stands for
    each gap.
    """
    header = whole[:header_lines]
    return _kept(whole, lambda line: line in header or _is_in(line, parts))


def without_ranges(whole: Sequence[Line], ranges: Collection[Range]) -> Excerpt:
    """A body without the lines in some ranges of the file; a mark stands for each gap."""
    return _kept(whole, lambda line: not _is_in(line, ranges))


def _is_in(line: Line, ranges: Iterable[Range]) -> bool:
    return any(first <= line.number <= last for first, last in ranges)


def _kept(whole: Iterable[Line], is_kept: Callable[[Line], bool]) -> Excerpt:
    """The lines that are kept, and a mark for each run of others."""
    found: Excerpt = []
    for are_kept, run in groupby(whole, is_kept):
        lines = list(run)
        found += lines if are_kept else _gap([line for line in lines if not line.is_gap])
    return found


def _gap(gap: Sequence[Line]) -> Excerpt:
    """The line that stands for lines that are left out: none where all are blank."""
    written = next((line.text for line in gap if line.text.strip()), "")
    if not written:
        return []
    indent = written[: len(written) - len(written.lstrip())]
    first, last = gap[0].number, gap[-1].number
    numbers = f"{first}-{last}" if last > first else f"{first}"
    return [Line(first, f"{indent}{ELLIPSIS} {numbers}", is_gap=True)]


@frozen
class SourceLines:
    """The questions to files about the lines of one symbol."""

    of: Callable[[Symbol], Sequence[Line]]  # its source, without documentation
    # lines of a function on which one of them depends, itself included
    depends: Callable[[Symbol, int], Iterable[int]]


def windows(symbol: Symbol, location: Location, source: SourceLines, most: int) -> Ranges:
    """The lines of a symbol that matter for a task, as ranges of its file: of windows so many, and
    so wide, that at most `most` lines are chosen.
    """
    lines = source.of(symbol)
    weights = _line_weights([line.text for line in lines], location.words)
    chosen = {line.number for line in lines[:HEAD_LINES]}
    for path, line in location.trace_lines:
        if path == symbol.path and symbol.start_line <= line <= symbol.end_line:
            chosen.update(source.depends(symbol, line))
    best_first = sorted(weights, key=lambda at: (-weights[at], at))
    for around, at in product(WINDOW_LINES, best_first):
        window = {line.number for line in lines[max(0, at - around) : at + around + 1]}
        if len(chosen | window) > most:
            break
        chosen |= window
    return merged([(line, line) for line in chosen])


def _line_weights(lines: Sequence[str], words: Sequence[str]) -> dict[int, float]:
    """By position, how many of the words a line has, the rarer ones first in the order counting
    more.
    """
    rarity = {word.lower(): 1 / (1 + place) for place, word in enumerate(words)}
    weights = (sum(rarity[word] for word in rarity if word in text.lower()) for text in lines)
    return {at: weight for at, weight in enumerate(weights) if weight}
