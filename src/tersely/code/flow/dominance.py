"""The steps that decide whether another one runs.

A point *post-dominates* another if every path from there to the exit passes it. A point depends on
a branch if it post-dominates one of the branch's successors and not the branch itself (Ferrante,
Ottenstein, Warren 1987, The program dependence graph and its use in optimization). A jump counts as
a branch to the step behind it, so that the steps it skips depend on it (Ball, Horwitz 1993, Slicing
programs with arbitrary control flow). Post-dominators come from the iteration of Cooper, Harvey and
Kennedy (2001, A simple, fast dominance algorithm).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tersely.code.routines import ENTRY, EXIT, Routine


def control_dependences(routine: Routine) -> list[list[int]]:
    """For each point, the points that decide whether it runs, ascending."""
    after = _successors(routine)
    immediate = post_dominators(after)
    deciding: list[set[int]] = [set() for _ in after]
    for source, targets in enumerate(after):
        if len(targets) < 2:
            continue
        for target in targets:
            runner = target
            while runner not in (immediate[source], EXIT):
                deciding[runner].add(source)
                runner = immediate[runner]
    return [sorted(found) for found in deciding]


def post_dominators(after: Sequence[Sequence[int]]) -> list[int]:
    """The immediate post-dominator of each point; the exit's is itself. Every point has to reach
    the exit.
    """
    before: list[list[int]] = [[] for _ in after]
    for source, targets in enumerate(after):
        for target in targets:
            before[target].append(source)
    order = _postorder(before)
    rank = {point: at for at, point in enumerate(order)}
    immediate = {EXIT: EXIT}
    changed = True
    while changed:
        changed = False
        for point in reversed(order[:-1]):
            known = [target for target in after[point] if target in immediate]
            best = known[0]
            for other in known[1:]:
                best = _common(best, other, immediate, rank)
            if immediate.get(point) != best:
                immediate[point] = best
                changed = True
    return [immediate[point] for point in range(len(after))]


def _common(one: int, other: int, immediate: dict[int, int], rank: dict[int, int]) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = immediate[one]
        while rank[other] < rank[one]:
            other = immediate[other]
    return one


def _postorder(before: Sequence[Sequence[int]]) -> list[int]:
    """Points in postorder of a walk against the edges that begins at the exit, which comes last."""
    order: list[int] = []
    seen = {EXIT}
    pending = [(EXIT, iter(before[EXIT]))]
    while pending:
        point, rest = pending[-1]
        following = next((source for source in rest if source not in seen), None)
        if following is None:
            order.append(point)
            pending.pop()
        else:
            seen.add(following)
            pending.append((following, iter(before[following])))
    return order


def _successors(routine: Routine) -> list[list[int]]:
    """The successors of each point, with or without a jump. An endless loop is taken to end."""
    after: dict[int, dict[int, None]] = defaultdict(dict)
    before: dict[int, list[int]] = defaultdict(list)
    for edge in routine.edges:
        after[edge.source][edge.target] = None
        before[edge.target].append(edge.source)
    after[ENTRY][EXIT] = None  # a step that always runs depends on the call of the routine
    before[EXIT].append(ENTRY)
    ending = reached(EXIT, before)
    for point in range(len(routine.points) - 1, -1, -1):
        if point not in ending and point != EXIT:
            after[point][EXIT] = None
            before[EXIT].append(point)
            ending |= reached(point, before)
    return [list(after[point]) for point in range(len(routine.points))]


def reached(start: int, neighbours: Mapping[int, Sequence[int]]) -> set[int]:
    """All that can be reached from a start, itself included."""
    seen = {start}
    pending = [start]
    while pending:
        for neighbour in neighbours[pending.pop()]:
            if neighbour not in seen:
                seen.add(neighbour)
                pending.append(neighbour)
    return seen
