"""Program slices: the statements that what happens somewhere depends on, or that depend on it (Weiser 1984).

A slice is the closure of the criterion under data and control dependence. Statements are taken whole: with one step of
a statement come its others. A backward slice is closed under the structure of the text too: with a statement comes what
it stands in, and with a `try` its handlers, since they decide where control goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from laconic.code.flow.dominance import control_dependences
from laconic.code.flow.reaching import data_flows, definitions_of, reaching, sees
from laconic.code.routines import OBJECT, Path, Routine


class Direction(StrEnum):
    """Backward: what the criterion depends on. Forward: what depends on it."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Dependences(NamedTuple):
    """The program dependence graph of a routine: for each statement, those that it depends on."""

    on: list[set[int]]
    inside: list[set[int]]  # with a statement come these, for the sake of structure


def dependences(routine: Routine) -> Dependences:
    """Data and control dependence between statements."""
    on: list[set[int]] = [set() for _ in routine.statements]
    points = routine.points
    for flow in data_flows(routine):
        on[points[flow.reader].statement].add(points[flow.definer].statement)
    for point, deciding in enumerate(control_dependences(routine)):
        on[points[point].statement].update(points[other].statement for other in deciding)
    inside: list[set[int]] = [set() for _ in routine.statements]
    for at, statement in enumerate(routine.statements):
        if statement.owner >= 0:
            inside[at].add(statement.owner)
        if statement.kind == "handler":
            inside[statement.owner].add(at)
    return Dependences(on, inside)


def slice_of(
    routine: Routine,
    criterion: Iterable[int],
    direction: Direction,
    variable: str = "",
    graph: Dependences | None = None,
) -> list[int]:
    """The statements of a slice, ascending. With `variable`, only what its value there depends on, or reaches."""
    graph = graph or dependences(routine)
    chosen = set(criterion)
    if direction is Direction.FORWARD:
        users: list[set[int]] = [set() for _ in routine.statements]
        for at, others in enumerate(graph.on):
            for other in others:
                users[other].add(at)
        start = _readers(routine, chosen, variable) if variable else chosen
        return sorted(_closure(start, users) | chosen)
    both = [one | other for one, other in zip(graph.on, graph.inside, strict=True)]
    if not variable:
        return sorted(_closure(chosen, both))
    start = set(chosen) if _writes(routine, chosen, variable) else _definers(routine, chosen, variable)
    for at in chosen:
        start |= graph.inside[at] | _deciders(routine, at)
    return sorted(_closure(start, both) | chosen)


def _closure(start: Iterable[int], neighbours: list[set[int]]) -> set[int]:
    seen = set(start)
    pending = list(seen)
    while pending:
        for neighbour in neighbours[pending.pop()]:
            if neighbour not in seen:
                seen.add(neighbour)
                pending.append(neighbour)
    return seen


def _named(path: Path, variable: str) -> bool:
    """Whether a path is of the variable, written `x`, `self.x` or `x["key"]`; shadowing variables count as well."""
    written = path[0].split("'")[0] + "".join(path[1:])
    return written == variable or (path[0].split("'")[0] == variable)


def _writes(routine: Routine, statements: set[int], variable: str) -> bool:
    points = [point for point in routine.points if point.statement in statements]
    return any(_named(path, variable) for point in points for path in (*point.writes, *point.changes))


def _definers(routine: Routine, statements: set[int], variable: str) -> set[int]:
    """The statements whose definitions of the variable reach the criterion."""
    definitions = definitions_of(routine)
    incoming = reaching(routine, definitions)
    found = set()
    for number, point in enumerate(routine.points):
        if point.statement in statements:
            for at, definition in enumerate(definitions):
                if incoming[number] >> at & 1 and _named(definition.path, variable):
                    found.add(routine.points[definition.point].statement)
    return found


def _readers(routine: Routine, statements: set[int], variable: str) -> set[int]:
    """The statements that read the variable as the criterion leaves it."""
    definitions = definitions_of(routine)
    incoming = reaching(routine, definitions)
    inside = [number for number, point in enumerate(routine.points) if point.statement in statements]
    named = [at for at, definition in enumerate(definitions) if _named(definition.path, variable)]
    here = [at for at in named if definitions[at].point in inside]
    here = here or [at for at in named if any(incoming[number] >> at & 1 for number in inside)]
    return {
        point.statement
        for number, point in enumerate(routine.points)
        if any(incoming[number] >> at & 1 and sees(path, definitions[at]) for path in point.reads for at in here)
    }


def _deciders(routine: Routine, statement: int) -> set[int]:
    deciding = control_dependences(routine)
    return {
        routine.points[other].statement
        for number, point in enumerate(routine.points)
        if point.statement == statement
        for other in deciding[number]
    }


def has_variable(routine: Routine, variable: str) -> bool:
    """Whether a routine has a variable of that name, or the part of one that is written so."""
    return any(
        _named(path, variable)
        for point in routine.points
        for path in (*point.reads, *point.writes, *point.changes)
        if path[-1] != OBJECT
    )


def names_of(routine: Routine) -> list[str]:
    """The variables of a routine as they are written, sorted."""
    paths = {path[0] for point in routine.points for path in (*point.reads, *point.writes, *point.changes)}
    return sorted({name.split("'")[0] for name in paths if not name.startswith("<")})
