"""Cycles of a directed graph: what can reach itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from tersely.foundation.types import Strings, frozen

Graph = Mapping[str, AbstractSet[str]]


@frozen
class Knot:
    """Nodes that all reach one another. `cycle` is a shortest way from the first of them back to
    it, closed.
    """

    members: Strings
    cycle: Strings


def knots(graph: Graph) -> list[Knot]:
    """The largest sets of at least two nodes that all reach one another, larger sets first."""
    found = [sorted(component) for component in _components(graph) if len(component) > 1]
    found.sort(key=lambda members: (-len(members), members))
    return [Knot(tuple(members), _shortest_cycle(graph, members)) for members in found]


def _components(graph: Graph) -> list[list[str]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    components: list[list[str]] = []
    for start in sorted(graph):
        if start in order:
            continue
        order[start] = lowest[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        work = [(start, iter(sorted(graph.get(start, ()))))]
        while work:
            node, following = work[-1]
            for other in following:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    lowest[node] = min(lowest[node], order[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == order[node]:
                    components.append(_popped(stack, on_stack, node))
    return components


def _popped(stack: list[str], on_stack: set[str], node: str) -> list[str]:
    """Take a finished component off the stack."""
    place = len(stack) - 1
    while stack[place] != node:
        place -= 1
    component = stack[place:]
    del stack[place:]
    on_stack.difference_update(component)
    return component


def _shortest_cycle(graph: Graph, members: list[str]) -> Strings:
    """A shortest way from the first member back to it."""
    start, inside = members[0], set(members)
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in sorted(graph.get(node, ())):
            if other == start:
                way = [start, node]
                while node != start:
                    node = came_from[node]
                    way.append(node)
                return tuple(reversed(way))
            if other in inside and other not in came_from:
                came_from[other] = node
                waiting.append(other)
    raise AssertionError("members of a component reach themselves")
