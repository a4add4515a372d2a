"""Basic blocks: steps that always run one after the other, and the exits to the blocks that follow.

A step that may raise does not end its block, but all steps of a block raise to the same handlers;
the edges to these are listed beside the block's exits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tersely.code.flow.dominance import reached
from tersely.code.routines import ENTRY, EXIT, CfgEdge, EdgeKind, Routine
from tersely.foundation.types import Numbers


class BasicBlock(NamedTuple):
    """Points in the order in which they run. `exits` and `raises` name blocks by their number."""

    points: Numbers
    exits: tuple[tuple[int, EdgeKind], ...]
    raises: Numbers
    reachable: bool


def basic_blocks(routine: Routine) -> list[BasicBlock]:
    """The blocks of a routine: the entry first, the exit second, the rest in the order of the text."""
    normal = [
        edge for edge in routine.edges if edge.kind not in (EdgeKind.NEVER, EdgeKind.EXCEPTION)
    ]
    chains = _chains(routine, normal)
    number = {point: at for at, chain in enumerate(chains) for point in chain}
    exits: dict[int, dict[tuple[int, EdgeKind], None]] = defaultdict(dict)
    raises: dict[int, dict[int, None]] = defaultdict(dict)
    for edge in routine.edges:
        source, target = number[edge.source], number[edge.target]
        if edge.kind is EdgeKind.EXCEPTION:
            raises[source][target] = None
        elif edge.kind is not EdgeKind.NEVER and edge.source == chains[source][-1]:
            exits[source][target, edge.kind] = None
    following = {
        at: [*(target for target, _ in exits[at]), *raises[at]] for at in range(len(chains))
    }
    alive = reached(0, following)
    return [
        BasicBlock(tuple(chain), tuple(exits[at]), tuple(raises[at]), at in alive)
        for at, chain in enumerate(chains)
    ]


def _chains(routine: Routine, normal: list[CfgEdge]) -> list[list[int]]:
    """The points that always run one after the other."""
    handlers: dict[int, set[int]] = defaultdict(set)
    for edge in routine.edges:
        if edge.kind is EdgeKind.EXCEPTION:
            handlers[edge.source].add(edge.target)
    caught = set().union(*handlers.values(), (EXIT,))
    following = {source: target for source, target in _lone_steps(normal) if target not in caught}
    continued = {*following.values()}
    chains = []
    for start in range(len(routine.points)):
        if start not in continued:
            chain = [start]
            while chain[-1] in following:
                chain.append(following[chain[-1]])
            chains += _by_handlers(chain, handlers)
    taken = {point for chain in chains for point in chain}
    return chains + [[point] for point in range(len(routine.points)) if point not in taken]


def _lone_steps(edges: Iterable[CfgEdge]) -> Iterator[tuple[int, int]]:
    """The edges, as source and target, that are the only one from the one and the only one to the
    other, but for those from the entry and back to the same point.
    """
    after: dict[int, list[int]] = defaultdict(list)
    before: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        after[edge.source].append(edge.target)
        before[edge.target].append(edge.source)
    for source, targets in after.items():
        is_lone = len(targets) == 1 and len(before[targets[0]]) == 1
        if is_lone and source not in (ENTRY, targets[0]):
            yield source, targets[0]


def _by_handlers(chain: list[int], handlers: Mapping[int, set[int]]) -> list[list[int]]:
    """A chain of steps, cut before each step whose exceptions go to other handlers than earlier
    ones.
    """
    parts: list[list[int]] = [[]]
    last: set[int] = set()
    for point in chain:
        here = handlers.get(point, set())
        if here and last and here != last:
            parts.append([])
        parts[-1].append(point)
        last = here or last
    return parts
