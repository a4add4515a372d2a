"""Reaching definitions: the writes that a read may see.

The classical forward analysis over bit sets (Aho, Lam, Sethi, Ullman, Compilers, 9.2.4). A write to
a path ends earlier ones of that path and of its parts; a change in place ends none. A step that
raises has made its changes in place, and written nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from tersely.code.routines import ENTRY, EXIT, OBJECT, AccessPath, EdgeKind, Routine

MAX_DEFINITIONS = 20_000  # of one routine; larger ones are data, not code
# of one object; a change through one of more names counts as a change that no later write ends
MAX_NAMES_APART = 32
MAX_FLOWS = 200_000  # of one routine that are listed; slices follow all of them


class Definition(NamedTuple):
    """A variable, or a part of one, gets a value at a point; `whole` unless it only changes in
    place.
    """

    point: int
    statement: int  # of the point
    path: AccessPath
    whole: bool


class Flow(NamedTuple):
    """The value of `path` at `reader` may come from the step `definer`."""

    definer: int
    reader: int
    path: AccessPath


def definitions_of(routine: Routine) -> list[Definition]:
    """Everything that is written or changed, in the order of the points, aliases included."""
    aliases = {name: _change_names(group) for name, group in aliases_of(routine).items()}
    found: list[Definition] = []
    for number, point in enumerate(routine.points):
        found += [Definition(number, point.statement, path, True) for path in point.writes]
        changed = dict.fromkeys(point.mutates)
        for path in [*point.mutates, *(path for path in point.writes if len(path) > 1)]:
            changed.update(
                dict.fromkeys((other,) for other in aliases.get(path[0], ()) if other != path[0])
            )
        found += [Definition(number, point.statement, path, False) for path in changed]
    return found[:MAX_DEFINITIONS]


def _change_names(group: list[str]) -> list[str]:
    """Under which names a change of an object is noted: all it has, or one for all where they are
    too many.
    """
    return group if len(group) <= MAX_NAMES_APART else [_common(group)]


def _common(group: list[str]) -> str:
    return f"<one of {group[0]}>"


def data_flows(routine: Routine) -> list[Flow]:
    """All pairs of a definition and a read that it may reach, in the order of the readers; at most
    `MAX_FLOWS`.
    """
    definitions = definitions_of(routine)
    incoming = reaching_definitions(routine, definitions)
    views = Views(definitions, aliases_of(routine))
    flows: dict[Flow, None] = {}
    for reader, point in enumerate(routine.points):
        for path in point.reads:
            for at in numbers_in(incoming[reader] & views.visible_definitions(path)):
                defined = definitions[at]
                named = path[:1] if defined.path[0] in views.common else defined.path
                flows[Flow(defined.point, reader, named)] = None
        if len(flows) >= MAX_FLOWS:
            break
    return list(flows)


def reaching_definitions(routine: Routine, definitions: list[Definition]) -> list[int]:
    """For each point, the definitions that reach it as a bit set."""
    effects = _effects(routine, definitions)
    before: dict[int, list[tuple[int, EdgeKind]]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for edge in routine.edges:
        if edge.kind is not EdgeKind.NEVER:
            before[edge.target].append((edge.source, edge.kind))
            after[edge.source].append(edge.target)
    incoming = [0] * len(routine.points)
    # the exit, which stands for itself otherwise, comes after all that lead to it
    last = len(routine.points)
    # a heap: points are numbered in the order of the text
    pending = [*range(EXIT), *range(EXIT + 1, last), last]
    waiting = {*range(last)}
    while pending:
        point = heappop(pending)
        point = EXIT if point == last else point
        waiting.discard(point)
        merged = 0
        for source, kind in before[point]:
            merged |= effects.leaving(source, kind, incoming[source])
        if merged != incoming[point] or point == ENTRY:
            incoming[point] = merged
            for target in after[point]:
                if target not in waiting:
                    waiting.add(target)
                    heappush(pending, last if target == EXIT else target)
    return incoming


class Views:
    """The definitions that a path is about, among some, as bit sets, however many there are."""

    def __init__(self, definitions: Iterable[Definition], aliases: Mapping[str, list[str]]) -> None:
        self.common_of = {
            name: _common(group) for name, group in aliases.items() if len(group) > MAX_NAMES_APART
        }
        self.common = frozenset(self.common_of.values())
        self.below: dict[AccessPath, int] = defaultdict(int)  # of the path and of its parts
        self.exact: dict[AccessPath, int] = defaultdict(int)
        self.whole: dict[AccessPath, int] = defaultdict(int)
        for at, definition in enumerate(definitions):
            for size in range(1, len(definition.path) + 1):
                self.below[definition.path[:size]] |= 1 << at
            self.exact[definition.path] |= 1 << at
            if definition.whole:
                self.whole[definition.path] |= 1 << at

    def visible_definitions(self, path: AccessPath) -> int:
        """The definitions from which a read of a path may take a value, as a bit set."""
        is_object = path[-1] == OBJECT
        found = 0 if is_object else self.below.get(path, 0)
        kept = self.whole if is_object else self.exact
        for size in range(1, len(path)):
            found |= kept.get(path[:size], 0)
        return found | (0 if is_object else self.exact.get((self.common_of.get(path[0], ""),), 0))


def numbers_in(bits: int) -> Iterator[int]:
    """The positions of a bit set, ascending."""
    for at, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            yield at * 8 + low.bit_length() - 1
            byte ^= low


class _Effects(NamedTuple):
    """The definitions that each point writes, changes and ends, as bit sets."""

    routine: Routine
    written: list[int]
    changed: list[int]
    ended: list[int]

    def leaving(self, point: int, kind: EdgeKind, incoming: int) -> int:
        """The definitions that leave a point by an edge of a kind, of those that reach it."""
        if kind is EdgeKind.EXCEPTION:
            return incoming | self.changed[point]
        is_unsure = kind is EdgeKind.FALSE and self.routine.points[point].tests
        kept = incoming if is_unsure else incoming & ~self.ended[point]
        return kept | self.written[point] | self.changed[point]


def _effects(routine: Routine, definitions: list[Definition]) -> _Effects:
    number = len(routine.points)
    written, changed, ended = [0] * number, [0] * number, [0] * number
    below = Views(definitions, {}).below
    for at, definition in enumerate(definitions):
        (written if definition.whole else changed)[definition.point] |= 1 << at
        if definition.whole:
            ended[definition.point] |= below[definition.path]
    return _Effects(routine, written, changed, ended)


def aliases_of(routine: Routine) -> dict[str, list[str]]:
    """The names that may be aliases of parts of one object anywhere in the routine."""
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
