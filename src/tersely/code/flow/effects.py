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
    effects = _Effects(routines.routines)
    return routines._replace(routines=tuple(map(effects.noted, routines.routines)))


class _Effects:
    """The effects of the functions of one file on their arguments."""

    def __init__(self, routines: tuple[Routine, ...]) -> None:
        self.routines = routines
        self.named = _functions(routines)
        self.changed = {at: _changed_here(routine) for at, routine in enumerate(routines)}
        for _ in range(MAX_ROUNDS):
            grown = {at: found | self._passed_on(at) for at, found in self.changed.items()}
            if grown == self.changed:
                break
            self.changed = grown

    def noted(self, routine: Routine) -> Routine:
        """A routine with each change of an argument noted at the call."""
        extra: dict[int, dict[AccessPath, None]] = {}
        for call in routine.calls:
            for path in self._changes_of(call, routine):
                extra.setdefault(call.point, {})[path] = None
        points = [
            _with_changes(point, extra[number]) if number in extra else point
            for number, point in enumerate(routine.points)
        ]
        return routine._replace(points=tuple(points))

    def _passed_on(self, at: int) -> frozenset[str]:
        """The parameters that a function passes to others which change them."""
        routine = self.routines[at]
        changes = (self._changes_of(call, routine) for call in routine.calls)
        changed = {path[0] for paths in changes for path in paths}
        return frozenset(name for name in routine.parameters if name in changed)

    def _changes_of(self, call: CfgCall, routine: Routine) -> list[AccessPath]:
        """The arguments that a call changes. A name that the caller binds itself is no function of
        the file.
        """
        at = self.named.get(call.callee, -1) if not call.receiver else -1
        if at < 0 or call.callee in routine.parameters:
            return [path for _, path in call.arguments] if call.blind else []
        parameters = self.routines[at].parameters
        found = []
        for key, path in call.arguments:
            name = key if isinstance(key, str) else parameters[key] if key < len(parameters) else ""
            if name in self.changed[at]:
                found.append(path)
        return found


def _functions(routines: tuple[Routine, ...]) -> dict[str, int]:
    """The functions of the module that have a name of their own, by that name; of several the last
    in the file.
    """
    found: dict[str, int] = {}
    for at, routine in enumerate(routines):
        if routine.kind == "function" and routine.parent == 0 and "." not in routine.name:
            other = found.get(routine.name, at)
            found[routine.name] = max(at, other, key=lambda one: (routines[one].line, one))
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


def _with_changes(point: CfgNode, extra: dict[AccessPath, None]) -> CfgNode:
    reads = dict.fromkeys([*point.reads, *((path[0], OBJECT) for path in extra)])
    return point._replace(
        reads=tuple(reads), mutates=tuple(dict.fromkeys([*point.mutates, *extra]))
    )
