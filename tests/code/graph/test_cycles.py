"""Knots of random graphs, against reachability by definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tersely.code.graph.cycles import Knot, knots

nodes = st.sampled_from("abcdefgh")
graphs = st.dictionaries(nodes, st.frozensets(nodes))


def reached(graph: dict[str, frozenset[str]], start: str) -> set[str]:
    """What can be reached from a node in one step or more."""
    found: set[str] = set()
    pending = list(graph.get(start, ()))
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(graph.get(node, ()))
    return found


@given(graphs)
def test_members_of_a_knot_are_those_that_reach_one_another(
    graph: dict[str, frozenset[str]],
) -> None:
    reach = {node: reached(graph, node) for node in "abcdefgh"}
    mutual = {
        frozenset(one for one in reach if one in reach[node] and node in reach[one])
        for node in reach
    }
    expected = sorted(tuple(sorted(group)) for group in mutual if len(group) > 1)
    assert sorted(knot.members for knot in knots(graph)) == expected


@given(graphs)
def test_the_way_around_is_closed_and_inside(graph: dict[str, frozenset[str]]) -> None:
    for knot in knots(graph):
        assert knot.cycle[0] == knot.cycle[-1] == knot.members[0]
        assert set(knot.cycle) <= set(knot.members)
        assert len(set(knot.cycle[1:])) == len(knot.cycle) - 1
        assert all(
            later in graph[earlier]
            for earlier, later in zip(knot.cycle, knot.cycle[1:], strict=False)
        )


def test_the_shortest_way_is_shown_and_larger_knots_come_first() -> None:
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": {"a"}, "x": {"y"}, "y": {"x"}, "z": {"z"}}
    assert knots(graph) == [
        Knot(("a", "b", "c"), ("a", "c", "a")),
        Knot(("x", "y"), ("x", "y", "x")),
    ]


def test_a_long_chain_needs_no_recursion() -> None:
    chain = {str(number): {str(number + 1)} for number in range(20_000)}
    assert knots(chain) == []
    assert len(knots(chain | {"20000": {"0"}})[0].cycle) == 20_002
