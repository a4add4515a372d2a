"""Program slices: the statements that a point depends on, or that depend on it (Weiser 1984).

A slice is the closure of the criterion under data and control dependence. Statements are taken
whole: with one step of a statement come its other steps. The parameters of a routine may receive
values from calls that come back to it, and the results of these calls are its own results. A
backward slice is closed under the structure of the text too: with a statement comes the statement
around it, and with a `try` its handlers, since they decide where control goes on. A nested function
reads free variables as they are where the function is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from tersely.code.flow.dominance import control_dependences
from tersely.code.flow.reaching import (
    Definition,
    Views,
    aliases_of,
    definitions_of,
    numbers_in,
    reaching_definitions,
)
from tersely.code.routines import OBJECT, RESULT, AccessPath, Routine


class Direction(StrEnum):
    """Backward: the statements that the criterion depends on. Forward: those that depend on it."""

    BACKWARD = "backward"
    FORWARD = "forward"


class Recursion(NamedTuple):
    """The dependence of a routine on its own runs: statements whose calls come back to it, those
    that return, and the definitions of its head.
    """

    calls: frozenset[int] = frozenset()
    returns: frozenset[int] = frozenset()
    given: int = 0  # a bit set of definitions


class Dependences(NamedTuple):
    """The program dependence graph of a routine, by statements; sets of definitions are bit sets."""

    definitions: list[Definition]
    incoming: list[int]  # for each point, the definitions that reach it
    views: Views
    taken: list[int]  # for each statement, the definitions of which it takes a value
    control: list[set[int]]  # for each statement, those that decide whether it runs
    inside: list[set[int]]  # with a statement come these, for the sake of structure
    recursion: Recursion


def dependences(routine: Routine) -> Dependences:
    """Data and control dependence between statements."""
    definitions = definitions_of(routine)
    incoming = reaching_definitions(routine, definitions)
    views = Views(definitions, aliases_of(routine))
    taken = [0] * len(routine.statements)
    for number, point in enumerate(routine.points):
        for path in point.reads:
            taken[point.statement] |= incoming[number] & views.visible_definitions(path)
    for at, seen in _captured_definitions(routine, definitions, incoming, views).items():
        taken[at] |= seen
    control: list[set[int]] = [set() for _ in routine.statements]
    for number, deciding in enumerate(control_dependences(routine)):
        control[routine.points[number].statement].update(
            routine.points[other].statement for other in deciding
        )
    inside: list[set[int]] = [set() for _ in routine.statements]
    for at, statement in enumerate(routine.statements):
        if statement.owner >= 0:
            inside[at].add(statement.owner)
        if statement.kind == "handler":
            inside[statement.owner].add(at)
    return Dependences(
        definitions,
        incoming,
        views,
        taken,
        control,
        inside,
        _recursion(routine, definitions),
    )


def _captured_definitions(
    routine: Routine, definitions: Sequence[Definition], incoming: Sequence[int], views: Views
) -> dict[int, int]:
    """For each statement that defines a function, the definitions that reach a use of it and that
    it reads.
    """
    found: dict[int, int] = {}
    for name, read in routine.captures:
        seen = 0
        for path in read:
            seen |= views.visible_definitions((path,))
        functions = sum(1 << at for at, one in enumerate(definitions) if one.path == (name,))
        for number, point in enumerate(routine.points):
            defining = incoming[number] & functions if (name,) in point.reads else 0
            for at in numbers_in(defining):
                statement = definitions[at].statement
                if routine.statements[statement].kind == "definition":
                    found[statement] = found.get(statement, 0) | incoming[number] & seen
    return found


def _recursion(routine: Routine, definitions: Sequence[Definition]) -> Recursion:
    """The calls of a routine that come back to it."""
    coming_back = (call for call in routine.calls if call.comes_back)
    calls = frozenset(routine.points[call.point].statement for call in coming_back)
    if not calls:
        return Recursion()
    given = sum(1 << at for at, definition in enumerate(definitions) if not definition.statement)
    return Recursion(calls, frozenset(returning_statements(routine)), given)


def returning_statements(routine: Routine) -> set[int]:
    """The statements that define the results of a routine."""
    returns = {at for at, statement in enumerate(routine.statements) if statement.kind == "return"}
    return returns | {point.statement for point in routine.points if (RESULT,) in point.writes}


def slice_of(
    routine: Routine,
    criterion: Iterable[int],
    direction: Direction,
    variable: str = "",
) -> list[int]:
    """The statements of a slice, ascending. With `variable`, only the dependences of its value
    there, or the statements that this value reaches.
    """
    graph, chosen = dependences(routine), set(criterion)
    if direction is Direction.FORWARD:
        start = _readers(routine, chosen, variable, graph) if variable else chosen
        return sorted(_dependent(start, graph) | chosen)
    if not variable:
        return sorted(_dependence_closure(chosen, graph))
    start = (
        set(chosen)
        if _writes(routine, chosen, variable)
        else _definers(routine, chosen, variable, graph)
    )
    for at in chosen:
        start |= graph.inside[at] | graph.control[at]
    return sorted(_dependence_closure(start, graph) | chosen)


def _dependence_closure(start: Iterable[int], graph: Dependences) -> set[int]:
    """All that the statements depend on, themselves included. Each definition is looked at once."""
    seen = set(start)
    pending = list(seen)
    known = 0
    while pending:
        at = pending.pop()
        fresh = graph.taken[at] & ~known
        known |= fresh
        definers = _statements_of(fresh, graph)
        if fresh & graph.recursion.given:
            definers |= graph.recursion.calls
        if at in graph.recursion.calls:
            definers |= graph.recursion.returns
        new = (definers | graph.control[at] | graph.inside[at]) - seen
        seen |= new
        pending += new
    return seen


def _dependent(start: Iterable[int], graph: Dependences) -> set[int]:
    """All statements that depend on these, themselves included: passes in the order of the text
    until none is new.
    """
    made = [0] * len(graph.taken)
    for number, definition in enumerate(graph.definitions):
        made[definition.statement] |= 1 << number
    seen = set(start)
    available = 0
    for at in seen:
        available |= made[at]
    rest = [at for at in range(len(made)) if at not in seen]
    size = -1
    while len(seen) != size:
        size, left = len(seen), []
        available |= graph.recursion.given if not seen.isdisjoint(graph.recursion.calls) else 0
        given_back = graph.recursion.calls if not seen.isdisjoint(graph.recursion.returns) else ()
        for at in rest:
            if (
                graph.taken[at] & available
                or at in given_back
                or not graph.control[at].isdisjoint(seen)
            ):
                seen.add(at)
                available |= made[at]
            else:
                left.append(at)
        rest = left
    return seen


def _is_of_variable(path: AccessPath, variable: str) -> bool:
    """True if a path is of the variable, written `x`, `self.x` or `x["key"]`; shadowing variables
    count as well.
    """
    written = path[0].split("'")[0] + "".join(path[1:])
    return written == variable or (path[0].split("'")[0] == variable)


def _writes(routine: Routine, statements: set[int], variable: str) -> bool:
    points = [point for point in routine.points if point.statement in statements]
    return any(
        _is_of_variable(path, variable)
        for point in points
        for path in (*point.writes, *point.mutates)
    )


def _definers(
    routine: Routine, statements: set[int], variable: str, graph: Dependences
) -> set[int]:
    """The statements whose definitions of the variable reach the criterion."""
    named = _definitions_of_variable(variable, graph)
    reached = [graph.incoming[number] & named for number in _points_of(routine, statements)]
    return {at for bits in reached for at in _statements_of(bits, graph)}


def _statements_of(definitions: int, graph: Dependences) -> set[int]:
    """The statements that make the definitions of a bit set."""
    return {graph.definitions[number].statement for number in numbers_in(definitions)}


def _readers(routine: Routine, statements: set[int], variable: str, graph: Dependences) -> set[int]:
    """The statements that read the variable as the criterion leaves it."""
    named = _definitions_of_variable(variable, graph)
    inside = set(_points_of(routine, statements))
    here = sum(
        1 << number for number in numbers_in(named) if graph.definitions[number].point in inside
    )
    if not here:
        for number in inside:
            here |= graph.incoming[number] & named
    return {at for at, taken in enumerate(graph.taken) if taken & here}


def _definitions_of_variable(variable: str, graph: Dependences) -> int:
    common = graph.views.common_of.get(variable, variable)
    paths = enumerate(definition.path for definition in graph.definitions)
    return sum(
        1 << number
        for number, path in paths
        if _is_of_variable(path, variable) or path == (common,)
    )


def _points_of(routine: Routine, statements: set[int]) -> list[int]:
    return [number for number, point in enumerate(routine.points) if point.statement in statements]


def has_variable(routine: Routine, variable: str) -> bool:
    """True if a routine has a variable of that name, or the part of one that is written so."""
    return any(
        _is_of_variable(path, variable)
        for point in routine.points
        for path in (*point.reads, *point.writes, *point.mutates)
        if path[-1] != OBJECT
    )


def names_of(routine: Routine) -> list[str]:
    """The variables of a routine as they are written, sorted."""
    paths = {
        path[0]
        for point in routine.points
        for path in (*point.reads, *point.writes, *point.mutates)
    }
    return sorted({name.split("'")[0] for name in paths if not name.startswith("<")})
