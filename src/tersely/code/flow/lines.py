"""Which statements a line belongs to, and which lines a statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tersely.code.routines import ENTRY, EXIT, Point, Routine, Routines, Statement, Way


def routine_at(routines: Routines, line: int) -> int:
    """The innermost routine that a line is of; the head of a function is of the function.

    The first and last lines of a function without a name are of the statement that it is written in.
    """
    best = 0
    for at, routine in enumerate(routines.routines):
        anonymous = routine.name.rpartition(".")[2].startswith("<")
        if anonymous and not (routine.line < line and statements_at(routine, line)):
            continue
        if routine.line <= line <= routine.end_line:
            best = at
    return best


def statements_at(routine: Routine, line: int) -> list[int]:
    """The statements that a line belongs to: those written on it, innermost ones before those around them."""
    found = [at for at, statement in enumerate(routine.statements) if line in lines_of(statement)]
    owners = {routine.statements[at].owner for at in found}
    return [at for at in found if at not in owners or routine.statements[at].line == line]


def nearest_statements(routine: Routine, line: int) -> list[int]:
    """Those at the line, else the next below it inside the routine, else the last above: a comment, an empty line."""
    found = statements_at(routine, line)
    if found:
        return found
    below = [statement.line for statement in routine.statements if statement.line > line]
    above = [statement.line for statement in routine.statements if statement.line <= line]
    chosen = min(below) if below else max(above, default=routine.line)
    return [at for at, statement in enumerate(routine.statements) if statement.line == chosen]


def line_edges(routine: Routine) -> set[tuple[int, int]]:
    """From which line control goes to which other, 0 for the way in and out; what anything may raise left out.

    Steps that are written nowhere, such as the end of a `with`, are passed through.
    """
    after: dict[int, set[int]] = defaultdict(set)
    for edge in routine.edges:
        if edge.why not in (Way.NEVER, Way.EXCEPTION):
            after[edge.source].add(edge.target)
    lines = [routine.statements[point.statement].line for point in routine.points]
    lines[ENTRY] = lines[EXIT] = 0
    found = set()
    for source in range(len(routine.points)):
        if source not in (ENTRY, EXIT) and is_unwritten(routine.points[source]):
            continue
        for target in _written_after(routine, after, source):
            if lines[source] != lines[target] or 0 in (lines[source], lines[target]):
                found.add((lines[source], lines[target]))
    return found


def is_unwritten(point: Point) -> bool:
    """Whether a step stands for the end of a statement that has its beginning elsewhere."""
    return point.start == point.end > 0 and not point.writes


def _written_after(routine: Routine, after: dict[int, set[int]], source: int) -> set[int]:
    found: set[int] = set()
    seen: set[int] = set()
    pending = list(after[source])
    while pending:
        target = pending.pop()
        if target in seen:
            continue
        seen.add(target)
        if target != EXIT and is_unwritten(routine.points[target]):
            pending += after[target]
        else:
            found.add(target)
    return found


def lines_of_all(routine: Routine, statements: Iterable[int]) -> list[int]:
    """The lines of some statements, ascending."""
    return sorted({line for at in statements for line in lines_of(routine.statements[at])})


def lines_of(statement: Statement) -> list[int]:
    """The lines of a statement without those of statements inside it."""
    return sorted({*range(statement.line, statement.head_end_line + 1), *statement.tails})
