"""Slices that leave their function: into those which are called on the way, one call deep, and out
into those that it is written in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tersely.code.flow.lines import lines_of_all, statements_at
from tersely.code.flow.reader import FlowReader
from tersely.code.flow.slicing import Direction, has_variable, returning_statements, slice_of
from tersely.code.routines import Routine, Routines
from tersely.code.symbols import Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SLICED_CALLEES
from tersely.foundation.types import Numbers


class CalledSlice(NamedTuple):
    """The slice of a function that is called on a line."""

    symbol: str  # its id
    path: str
    routine: Routine
    lines: Numbers
    called_on: int


def parts_of_callees(
    reader: FlowReader, callees: Iterable[tuple[Symbol, int]], direction: Direction
) -> list[CalledSlice]:
    """The slices of functions, each with the line on which it is called.

    Backward a slice holds the dependences of the function's results, forward the statements that
    its parameters reach.
    """
    parts: list[CalledSlice] = []
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
            CalledSlice(
                symbol.id, symbol.path, routine, tuple(lines_of_all(routine, statements)), line
            )
        )
    return parts


class EnclosingSlice(NamedTuple):
    """The slice of a function that another one is written in."""

    at: int  # its position among the routines of the file
    lines: Numbers


def parts_around(
    routines: Routines, at: int, statements: Iterable[int], direction: Direction
) -> list[EnclosingSlice]:
    """The parts of a slice in the enclosing functions, innermost first, as far as one reaches the
    next.

    Backward a part holds the definitions of free variables, as they are where the function is used;
    forward it holds the uses of the function.
    """
    found: list[EnclosingSlice] = []
    inside, chosen = routines.routines[at], set(statements)
    while inside.parent >= 0 and routines.routines[inside.parent].kind == "function":
        around = routines.routines[inside.parent]
        if not _crosses_boundary(inside, chosen, around, direction):
            break
        chosen = set(slice_of(around, statements_at(around, inside.line), direction))
        found.append(EnclosingSlice(inside.parent, tuple(lines_of_all(around, chosen))))
        inside = around
    return found


def _crosses_boundary(
    inside: Routine, chosen: set[int], around: Routine, direction: Direction
) -> bool:
    """True if statements of a nested function read variables of the enclosing one, or reach it: by
    writes, changes or a result.
    """
    points = [point for point in inside.points if point.statement in chosen]
    if direction is Direction.BACKWARD:
        paths = {path for point in points for path in point.reads}
    else:
        paths = {path for point in points for path in (*point.writes, *point.mutates)}
        if not chosen.isdisjoint(returning_statements(inside)):
            return True
    own = set(inside.parameters)
    return any(path[0] not in own and has_variable(around, path[0]) for path in paths)


def _criterion(routine: Routine, direction: Direction) -> list[int]:
    if direction is Direction.FORWARD:
        return [0]
    return sorted(returning_statements(routine)) or [0]


def called_lines(routine: Routine, statements: Iterable[int]) -> set[int]:
    """The lines on which the statements contain calls."""
    chosen = set(statements)
    return {call.line for call in routine.calls if routine.points[call.point].statement in chosen}
