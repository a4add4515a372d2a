"""Symbols in pieces: what is chosen or left out as one. A short symbol is one piece, a long one several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from laconic.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol

WHOLE_LINES = 100  # of a function that is one piece
WHOLE_CLASS_LINES = 60  # of a class with all its members; of a longer one only what is outside of them
PIECE_LINES = 30  # of what is longer, about
LEAST_PIECE_LINES = 18  # after which a blank line ends a piece
MOST_PIECE_LINES = 52
PIECE_INDENT = 4  # columns, by which a line that may begin a piece is deeper than the body at most
LEAST_VALUE_LINES = 3  # of a constant that is no part of a longer piece


class Region(NamedTuple):
    """Lines of one symbol, from 1, both included."""

    symbol: Symbol
    first: int
    last: int


def regions_of(symbols: Sequence[Symbol], lines: Sequence[str], left_out: Collection[str] = ()) -> list[Region]:
    """The pieces of all symbols of a file that are worth showing by themselves, but for those with an id left out."""
    kinds = {one.id: one.kind for one in symbols}
    found: list[Region] = []
    for symbol in symbols[1:]:
        if symbol.id in left_out or not _stands_alone(symbol, kinds.get(symbol.parent)):
            continue
        size = symbol.end_line - symbol.start_line + 1
        limit = WHOLE_CLASS_LINES if symbol.kind in CLASS_KINDS else WHOLE_LINES
        if size <= limit:
            found.append(Region(symbol, symbol.start_line, symbol.end_line))
        else:
            found += [Region(symbol, *piece) for piece in _pieces(lines, _own_lines(symbol, symbols))]
    return found


def _stands_alone(symbol: Symbol, around: Kind | None) -> bool:
    if symbol.kind in {Kind.LAMBDA, Kind.MODULE}:
        return False
    if symbol.kind not in VALUE_KINDS:
        return True
    at_top = around in {Kind.MODULE, Kind.NAMESPACE}
    return at_top and symbol.end_line - symbol.start_line + 1 >= LEAST_VALUE_LINES


def _own_lines(symbol: Symbol, symbols: Sequence[Symbol]) -> list[int]:
    """The lines of a symbol, of a class those that are in none of its functions."""
    lines = set(range(symbol.start_line, symbol.end_line + 1))
    if symbol.kind not in CALLABLE_KINDS:
        for other in symbols:
            if other.parent == symbol.id and other.kind not in VALUE_KINDS:
                lines.difference_update(range(other.start_line, other.end_line + 1))
    return sorted(lines)


def _pieces(lines: Sequence[str], own: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Cut where the code does: at blank lines, and where a statement of the body begins."""
    indents = [_indent(lines[number - 1]) for number in own if number <= len(lines) and lines[number - 1].strip()]
    depth = min(indents[1:-1], default=0) + PIECE_INDENT
    first = previous = 0
    for number in own:
        size = previous - first + 1
        text = lines[number - 1] if number <= len(lines) else ""
        after_blank = first and not lines[previous - 1].strip()
        if first and (
            number != previous + 1
            or (size >= LEAST_PIECE_LINES and after_blank)
            or (size >= PIECE_LINES and text.strip() and _indent(text) <= depth)
            or size >= MOST_PIECE_LINES
        ):
            yield first, previous
            first = number
        first = first or number
        previous = number
    if first:
        yield first, previous


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
