"""The statements that a line belongs to, and the lines of a statement."""

from __future__ import annotations

from collections.abc import Iterable

from tersely.code.expressions import last_part
from tersely.code.routines import Routine, Routines, Statement


def routine_at(routines: Routines, line: int) -> int:
    """The innermost routine that a line is of; the head of a function is of the function.

    The first and last lines of a function without a name are of the statement that it is written
    in.
    """
    best = 0
    for at, routine in enumerate(routines.routines):
        anonymous = last_part(routine.name).startswith("<")
        if anonymous and not (routine.line < line and statements_at(routine, line)):
            continue
        if routine.line <= line <= routine.end_line:
            best = at
    return best


def statements_at(routine: Routine, line: int) -> list[int]:
    """The statements of a line: the innermost ones that have it, and those that begin on it."""
    found = [at for at, statement in enumerate(routine.statements) if line in lines_of(statement)]
    owners = {routine.statements[at].owner for at in found}
    return [at for at in found if at not in owners or routine.statements[at].line == line]


def nearest_statements(routine: Routine, line: int) -> list[int]:
    """Those at the line, else the next below it inside the routine, else the last above: a comment,
    an empty line.
    """
    found = statements_at(routine, line)
    if found:
        return found
    below = [statement.line for statement in routine.statements if statement.line > line]
    above = [statement.line for statement in routine.statements if statement.line <= line]
    chosen = min(below) if below else max(above, default=routine.line)
    return [at for at, statement in enumerate(routine.statements) if statement.line == chosen]


def lines_of_all(routine: Routine, statements: Iterable[int]) -> list[int]:
    """The lines of some statements, ascending."""
    return sorted({line for at in statements for line in lines_of(routine.statements[at])})


def lines_of(statement: Statement) -> list[int]:
    """The lines of a statement without those of statements inside it."""
    return sorted({*range(statement.line, statement.head_end_line + 1), *statement.tails})
