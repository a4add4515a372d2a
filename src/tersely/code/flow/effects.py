"""The effects of calling a function on its arguments.

A function that changes the object of a parameter changes the caller's argument. These parameters
follow from the functions themselves: a small fixpoint over the calls by plain name within one file.
A function of another file is taken to change its arguments if its result is unused: else there
would be little reason to call it.
"""

from __future__ import annotations

from tersely.code.flow.reaching import aliases_of
from tersely.code.flow.recursion import with_recursion
from tersely.code.routines import OBJECT, AccessPath, CfgCall, CfgNode, Routine, Routines

MAX_ROUNDS = 8  # calls through which a change of an argument is followed


def with_effects(routines: Routines) -> Routines:
    """The routines, with each change of an argument noted at the call, and with `comes_back` set."""
    routines = with_recursion(routines)
    changing = changed_parameters(routines)
    named = _functions(routines)
    return routines._replace(
        routines=tuple(
            _changed_by_calls(routine, routines, named, changing) for routine in routines.routines
        )
    )


def changed_parameters(routines: Routines) -> dict[int, frozenset[str]]:
    """For each function, by its position, the parameters whose objects it changes."""
    named = _functions(routines)
    found = {at: _changed_here(routine) for at, routine in enumerate(routines.routines)}
    for _ in range(MAX_ROUNDS):
        grown = {
            at: found[at] | _changed_by(routine, routines, named, found)
            for at, routine in enumerate(routines.routines)
        }
        if grown == found:
            break
        found = grown
    return found


def _functions(routines: Routines) -> dict[str, int]:
    """The functions of the module that have a name of their own, by that name; of several the last
    in the file.
    """
    found: dict[str, int] = {}
    for at, routine in enumerate(routines.routines):
        if routine.kind == "function" and routine.parent == 0 and "." not in routine.name:
            other = found.get(routine.name, at)
            found[routine.name] = max(at, other, key=lambda one: (routines.routines[one].line, one))
    return found


def _changed_here(routine: Routine) -> frozenset[str]:
    changed = {path[0] for point in routine.points for path in point.mutates}
    changed |= {path[0] for point in routine.points for path in point.writes if len(path) > 1}
    aliases = aliases_of(routine)
    return frozenset(
        name
        for name in routine.parameters
        if name in changed or not changed.isdisjoint(aliases.get(name, ()))
    )


def _changed_by(
    routine: Routine, routines: Routines, named: dict[str, int], changing: dict[int, frozenset[str]]
) -> frozenset[str]:
    passed = {
        path[0]
        for call in routine.calls
        for path in _changes_of(call, routine, routines, named, changing)
    }
    return frozenset(name for name in routine.parameters if name in passed)


def _changes_of(
    call: CfgCall,
    routine: Routine,
    routines: Routines,
    named: dict[str, int],
    changing: dict[int, frozenset[str]],
) -> list[AccessPath]:
    """The arguments that a call changes. A name that the caller binds itself is no function of the
    file.
    """
    at = named.get(call.callee, -1) if not call.receiver else -1
    if at < 0 or call.callee in routine.parameters:
        return [path for _, path in call.arguments] if call.blind else []
    parameters = routines.routines[at].parameters
    found = []
    for key, path in call.arguments:
        name = key if isinstance(key, str) else parameters[key] if key < len(parameters) else ""
        if name in changing[at]:
            found.append(path)
    return found


def _changed_by_calls(
    routine: Routine, routines: Routines, named: dict[str, int], changing: dict[int, frozenset[str]]
) -> Routine:
    extra: dict[int, dict[AccessPath, None]] = {}
    for call in routine.calls:
        for path in _changes_of(call, routine, routines, named, changing):
            extra.setdefault(call.point, {})[path] = None
    if not extra:
        return routine
    points = [
        _with_changes(point, extra.get(number, {})) for number, point in enumerate(routine.points)
    ]
    return routine._replace(points=tuple(points))


def _with_changes(point: CfgNode, extra: dict[AccessPath, None]) -> CfgNode:
    if not extra:
        return point
    reads = dict.fromkeys([*point.reads, *((path[0], OBJECT) for path in extra)])
    return point._replace(
        reads=tuple(reads), mutates=tuple(dict.fromkeys([*point.mutates, *extra]))
    )
