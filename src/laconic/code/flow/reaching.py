"""Reaching definitions: which writes a read may see.

The classical forward analysis over bit sets (Aho, Lam, Sethi, Ullman, Compilers, 9.2.4). A write to a path ends earlier
ones of that path and of its parts; a change in place ends none. A step that raises has changed what it changed, and
written nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from laconic.code.routines import ENTRY, OBJECT, Path, Routine, Way

MAX_DEFINITIONS = 20_000  # of one routine; larger ones are data, not code


class Definition(NamedTuple):
    """A variable, or a part of one, gets a value at a point; `whole` unless it only changes in place."""

    point: int
    path: Path
    whole: bool


class Flow(NamedTuple):
    """The value that `reader` takes of `path` may come from the step `definer`."""

    definer: int
    reader: int
    path: Path


def definitions_of(routine: Routine) -> list[Definition]:
    """Everything that is written or changed, in the order of the points, aliases included."""
    aliases = aliases_of(routine)
    found: list[Definition] = []
    for number, point in enumerate(routine.points):
        found += [Definition(number, path, True) for path in point.writes]
        changed = dict.fromkeys(point.changes)
        for path in [*point.changes, *(path for path in point.writes if len(path) > 1)]:
            changed.update(dict.fromkeys((other,) for other in aliases.get(path[0], ()) if other != path[0]))
        found += [Definition(number, path, False) for path in changed]
    return found[:MAX_DEFINITIONS]


def data_flows(routine: Routine) -> list[Flow]:
    """All pairs of a definition and a read that it may reach, in the order of the readers."""
    definitions = definitions_of(routine)
    incoming = reaching(routine, definitions)
    by_root: dict[str, list[int]] = defaultdict(list)
    for at, definition in enumerate(definitions):
        by_root[definition.path[0]].append(at)
    flows: dict[Flow, None] = {}
    for reader, point in enumerate(routine.points):
        here = incoming[reader]
        for path in point.reads:
            for at in by_root.get(path[0], ()):
                if here >> at & 1 and sees(path, definitions[at]):
                    flows[Flow(definitions[at].point, reader, definitions[at].path)] = None
    return list(flows)


def reaching(routine: Routine, definitions: list[Definition]) -> list[int]:
    """For each point, the definitions that reach it as a bit set."""
    written, changed, ended = _effects(routine, definitions)
    before: dict[int, list[tuple[int, Way]]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for edge in routine.edges:
        if edge.why is not Way.NEVER:
            before[edge.target].append((edge.source, edge.why))
            after[edge.source].append(edge.target)
    incoming = [0] * len(routine.points)
    pending = list(range(len(routine.points) - 1, -1, -1))
    waiting = set(pending)
    while pending:
        point = pending.pop()
        waiting.discard(point)
        merged = 0
        for source, why in before[point]:
            unsure = why is Way.EXCEPTION or (why is Way.FALSE and routine.points[source].tests)
            merged |= incoming[source] if unsure else incoming[source] & ~ended[source]
            merged |= changed[source] if why is Way.EXCEPTION else written[source] | changed[source]
        if merged != incoming[point] or point == ENTRY:
            incoming[point] = merged
            for target in after[point]:
                if target not in waiting:
                    waiting.add(target)
                    pending.append(target)
    return incoming


def sees(path: Path, definition: Definition) -> bool:
    """Whether a read of a path takes anything of what was defined."""
    if path[-1] == OBJECT:
        return definition.whole and definition.path == path[: len(definition.path)] and len(definition.path) < len(path)
    shorter = min(len(path), len(definition.path))
    return path[:shorter] == definition.path[:shorter]


def _effects(routine: Routine, definitions: list[Definition]) -> tuple[list[int], list[int], list[int]]:
    """What each point writes, changes and ends, as bit sets."""
    number = len(routine.points)
    written, changed, ended = [0] * number, [0] * number, [0] * number
    by_root: dict[str, list[int]] = defaultdict(list)
    for at, definition in enumerate(definitions):
        by_root[definition.path[0]].append(at)
        (written if definition.whole else changed)[definition.point] |= 1 << at
    for definition in definitions:
        if definition.whole:
            size = len(definition.path)
            for other in by_root[definition.path[0]]:
                if definitions[other].path[:size] == definition.path:
                    ended[definition.point] |= 1 << other
    return written, changed, ended


def aliases_of(routine: Routine) -> dict[str, list[str]]:
    """Names that may stand for parts of one object, wherever they do in the routine."""
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for one, other in routine.shares:
        parent[find(one)] = find(other)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(parent):
        groups[find(name)].append(name)
    return {name: group for group in groups.values() for name in group}
