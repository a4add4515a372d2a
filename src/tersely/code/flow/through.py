"""Slices that go into the functions which are called on the way, one call deep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tersely.code.flow.lines import lines_of_all
from tersely.code.flow.reader import FlowReader
from tersely.code.flow.slicing import Direction, returning_statements, slice_of
from tersely.code.routines import Routine
from tersely.code.symbols import Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SLICED_CALLEES


class Part(NamedTuple):
    """The slice of a function that is called on a line."""

    symbol: str  # its id
    path: str
    routine: Routine
    lines: tuple[int, ...]
    called_on: int


def parts_of_callees(
    reader: FlowReader, callees: Iterable[tuple[Symbol, int]], direction: Direction
) -> list[Part]:
    """The slices of functions, each with the line on which it is called.

    Backward what their results depend on, forward what their parameters reach.
    """
    parts: list[Part] = []
    for symbol, line in callees:
        if len(parts) >= MAX_SLICED_CALLEES:
            break
        try:
            routines, at = reader.of_symbol(symbol)
        except TerselyError as error:
            if error.code != "no_statements":
                raise
            continue
        routine = routines.routines[at]
        statements = slice_of(routine, _criterion(routine, direction), direction)
        parts.append(
            Part(symbol.id, symbol.path, routine, tuple(lines_of_all(routine, statements)), line)
        )
    return parts


def _criterion(routine: Routine, direction: Direction) -> list[int]:
    if direction is Direction.FORWARD:
        return [0]
    return sorted(returning_statements(routine)) or [0]


def called_lines(routine: Routine, statements: Iterable[int]) -> set[int]:
    """The lines on which the statements call something."""
    chosen = set(statements)
    return {call.line for call in routine.calls if routine.points[call.point].statement in chosen}
