"""How a budget is spread over the ways of finding what a task needs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tersely.code.lenses.candidate import Candidate, View
from tersely.code.lenses.task.look import Operator, Proposals
from tersely.code.pack.plan import NOTHING, Outlook, Plan, plan
from tersely.code.symbols import Kind, Symbol

FOUND = [Operator.NAMES, Operator.SEARCH, Operator.CONTEXT]


def candidate(number: int, score: float, size_bytes: int) -> Candidate:
    path = f"{number % 3}.py"
    header = min(40, size_bytes)
    symbol = Symbol(
        f"{path}:f{number}", path, "python", Kind.FUNCTION, f"f{number}", f"f{number}", path, 1, 9, 1, 0, size_bytes,
        header, 0, 0,
    )  # fmt: skip
    return Candidate(symbol, score, "hit")


def proposals(sizes: list[tuple[float, int]]) -> Proposals:
    listed = [candidate(number, *one) for number, one in enumerate(sizes)]
    return Proposals(View(tuple(listed)), {one.symbol.id: FOUND[number % 3] for number, one in enumerate(listed)})


def tokens(found: Plan) -> int:
    return sum(step.tokens for step in found.steps)


CANDIDATES = st.lists(st.tuples(st.floats(0.001, 0.98), st.integers(30, 4_000)), max_size=30)


@given(CANDIDATES, st.integers(1, 3_000))
def test_a_plan_keeps_to_its_budget_and_counts_every_symbol_once(sizes: list[tuple[float, int]], budget: int) -> None:
    found = plan(proposals(sizes), budget, 1_000, lambda size: NOTHING)
    assert tokens(found) <= budget + len(found.steps)  # each is rounded
    assert sum(step.symbols for step in found.steps) <= len(sizes)
    assert found.worth <= sum(score for score, _ in sizes) + 1e-9
    assert [step.operator for step in found.steps].count(Operator.SEARCH) == 1


@given(CANDIDATES, st.integers(100, 2_000))
def test_more_budget_is_never_worth_less(sizes: list[tuple[float, int]], budget: int) -> None:
    small, large = (plan(proposals(sizes), size, 1_000, lambda size: NOTHING) for size in (budget, 4 * budget))
    assert large.worth >= small.worth - 1e-9


def test_a_map_stands_alone_where_nothing_is_found() -> None:
    found = plan(proposals([]), 500, 40, lambda size: Outlook(size - 10, 0.8))
    assert found.map_budget == 500
    assert found.steps[0].operator is Operator.MAP
    assert found.steps[0].tokens == 490


def test_a_map_takes_the_place_of_what_is_worth_less() -> None:
    weak = [(0.9, 200), *[(0.001, 300)] * 40]
    found = plan(proposals(weak), 2_000, 100, lambda size: Outlook(size, 0.5))
    assert found.map_budget > 0
    assert found.worth > plan(proposals(weak), 2_000, 100, lambda size: NOTHING).worth


def test_no_map_is_made_where_none_can_be_worth_its_place() -> None:
    def never(size: int) -> Outlook:
        raise AssertionError("a map of a large repository takes long")

    found = plan(proposals([(0.5, 400)] * 30), 2_000, 1_000_000, never)
    assert found.map_budget == 0


def test_equal_questions_have_equal_plans() -> None:
    sizes = [(0.3, 400), (0.3, 400), (0.2, 90)]
    assert plan(proposals(sizes), 200, 10, lambda size: NOTHING) == plan(
        proposals(sizes), 200, 10, lambda size: NOTHING
    )
