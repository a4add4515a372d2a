"""Symbols in pieces of a few lines: what is chosen or left out as one. A short symbol is one piece,
a long one several.

Every line belongs to the innermost function or type around it, so no two pieces share lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tersely.code.symbols import VALUE_KINDS, Kind, Range, Symbol

WHOLE_LINES = 14  # of a symbol that is one piece
PIECE_LINES = 8  # of what is longer, after which a piece ends where a statement of the body does
LEAST_PIECE_LINES = 4  # after which a blank line ends a piece
MOST_PIECE_LINES = 16
PIECE_INDENT = 4  # columns that a piece may begin deeper than the one before it, at most
LEAST_VALUE_LINES = 3  # of a constant that is a piece by itself


class Region(NamedTuple):
    """Lines of one symbol, from 1, both included."""

    symbol: Symbol
    first: int
    last: int


def regions_of(
    symbols: Sequence[Symbol], lines: Sequence[str], left_out: Collection[str] = ()
) -> list[Region]:
    """The pieces of all symbols of a file that are worth showing by themselves, but for those with
    an id left out.
    """
    found: list[Region] = []
    own = own_lines(symbols, len(lines))
    for symbol in symbols:
        if symbol.id in own and symbol.id not in left_out:
            found += [Region(symbol, *piece) for piece in _pieces(lines, own[symbol.id])]
    return found


def own_lines(symbols: Sequence[Symbol], last_line: int) -> dict[str, list[int]]:
    """By symbol that stands alone the lines of which it is the innermost."""
    kinds = {one.id: one.kind for one in symbols}
    owner = [""] * (last_line + 1)
    alone = (
        one
        for one in symbols[1:]
        if one.start_line <= last_line and _stands_alone(one, kinds.get(one.parent))
    )
    for one in sorted(alone, key=lambda one: (one.start_byte, -one.end_byte)):
        # inner ones come later
        end = min(one.end_line, last_line) + 1
        owner[one.start_line : end] = [one.id] * (end - one.start_line)
    found: dict[str, list[int]] = {}
    for number, symbol_id in enumerate(owner):
        if symbol_id:
            found.setdefault(symbol_id, []).append(number)
    return found


def _stands_alone(symbol: Symbol, around: Kind | None) -> bool:
    if symbol.kind in {Kind.LAMBDA, Kind.MODULE}:
        return False
    if symbol.kind not in VALUE_KINDS:
        return True
    at_top = around in {Kind.MODULE, Kind.NAMESPACE}
    return at_top and symbol.end_line - symbol.start_line + 1 >= LEAST_VALUE_LINES


def _pieces(lines: Sequence[str], own: Sequence[int]) -> Iterator[Range]:
    """Cut where the code does: at blank lines, and where a statement of the body begins."""
    for run in _runs(own):
        numbers = list(run)
        if len(numbers) <= WHOLE_LINES:
            yield numbers[0], numbers[-1]
            continue
        first = numbers[0]
        depth = _indent(lines[first - 1])
        for number in numbers[1:]:
            size, text = number - first, lines[number - 1]
            rest = numbers[-1] - number + 1
            after_blank = not lines[number - 2].strip()
            begins = text.strip()[:1] not in _CLOSING and _indent(text) <= depth + PIECE_INDENT
            if rest >= LEAST_PIECE_LINES and (
                (size >= LEAST_PIECE_LINES and after_blank and begins)
                or (size >= PIECE_LINES and begins)
                or size >= MOST_PIECE_LINES
            ):
                yield first, number - 1
                first, depth = number, _indent(text)
        yield first, numbers[-1]


_CLOSING = frozenset(["", ")", "]", "}"])


def _runs(own: Sequence[int]) -> Iterator[range]:
    first = previous = own[0]
    for number in own[1:]:
        if number != previous + 1:
            yield range(first, previous + 1)
            first = number
        previous = number
    yield range(first, previous + 1)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
