"""The solver gives least solutions, whatever is asked in whatever order, and always comes to an
end.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.graph.pointsto import fixpoint
from tersely.code.graph.pointsto.fixpoint import EMPTY, Solver
from tersely.code.graph.program.work import WorkSpentError

# unknown -> its constants, the unknowns it includes
System = dict[int, tuple[frozenset[int], tuple[int, ...]]]
SIZE = 14


@st.composite
def systems(draw: st.DrawFn) -> System:
    size = draw(st.integers(1, SIZE))
    constants = st.frozensets(st.integers(0, 6), max_size=2)
    others = st.lists(st.integers(0, size - 1), max_size=4).map(tuple)
    return {key: (draw(constants), draw(others)) for key in range(size)}


def least(system: System) -> dict[int, frozenset[int]]:
    values: dict[int, frozenset[int]] = dict.fromkeys(system, EMPTY)
    while True:
        found = {
            key: own.union(*(values[other] for other in others))
            for key, (own, others) in system.items()
        }
        if found == values:
            return values
        values = found


class Asked:
    """A solver with the equations of a system."""

    def __init__(self, system: System) -> None:
        self.limits: set[str] = set()  # that answers have met
        self.solver = Solver()
        self.system = system
        self.computations = 0

    def ask(self, key: int) -> frozenset[int]:
        found, limits = self.solver.bounds.collect(self._solve, key)
        self.limits |= limits
        return found

    def _solve(self, key: int) -> frozenset[int]:
        return self.solver.solve(("unknown", key), self._compute, key)

    def _compute(self, key: int) -> frozenset[int]:
        self.computations += 1
        own, others = self.system[key]
        return own.union(*map(self._solve, others))


def chain(length: int) -> System:
    return {
        key: (frozenset({key} if key == length else ()), (key + 1,) if key < length else ())
        for key in range(length + 1)
    }


@given(systems(), st.data())
def test_answers_are_the_least_solution_in_any_order(system: System, data: st.DataObject) -> None:
    asked, expected = Asked(system), least(system)
    for key in data.draw(st.permutations(sorted(system))):
        assert asked.ask(key) == expected[key]


@given(systems(), st.data())
def test_what_is_solved_is_not_computed_again(system: System, data: st.DataObject) -> None:
    asked = Asked(system)
    first = {key: asked.ask(key) for key in system}
    spent = asked.computations
    assert {key: asked.ask(key) for key in data.draw(st.permutations(sorted(system)))} == first
    assert asked.computations == spent


@given(systems(), st.integers(1, 5))
def test_chains_that_are_cut_are_finished_later(system: System, bound: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixpoint, "MAX_CHAIN", bound)
        patch.setattr(fixpoint, "MAX_RECOMPUTATIONS", 1_000)
        asked, expected = Asked(system), least(system)
        assert {key: asked.ask(key) for key in system} == expected


def test_a_chain_longer_than_the_bound_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    # whoever uses the solver provides the stack for more
    monkeypatch.setattr(fixpoint, "MAX_CHAIN", 30)
    assert Asked(chain(100)).ask(0) == {100}


def test_a_ring_agrees() -> None:
    ring: System = {key: (frozenset({key}), ((key + 1) % 9,)) for key in range(9)}
    assert Asked(ring).ask(4) == frozenset(range(9))


def test_a_question_ends_after_so_many_unknowns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MAX_UNKNOWNS", 20)
    asked = Asked(chain(100))
    assert asked.ask(0) == EMPTY
    assert asked.computations <= 20 * fixpoint.EXPLORED
    asked.system = {200: (frozenset({1}), ())}
    assert asked.ask(200) == {1}  # the next question has a budget of its own


@given(systems(), st.integers(1, 12), st.data())
def test_a_question_that_was_cut_takes_nothing_from_others(
    system: System, bound: int, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixpoint, "MAX_UNKNOWNS", bound)
        asked, expected = Asked(system), least(system)
        for key in data.draw(st.permutations(sorted(system))):
            alone = Asked(system)
            is_whole_alone = alone.ask(key) == expected[key] and not alone.limits
            asked.limits.clear()
            found = asked.ask(key)
            assert found == expected[key] if not asked.limits else not is_whole_alone
            assert asked.ask(key) == found  # a question has one answer


def test_what_needs_each_other_is_given_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MAX_UNKNOWNS", 20)
    asked = Asked({key: (frozenset({key % 9}), tuple(range(200))) for key in range(200)})
    asked.ask(0)
    spent = asked.computations
    for key in range(200):
        asked.limits.clear()
        asked.ask(key)
        assert asked.limits == {fixpoint.UNKNOWNS_LIMIT}
    assert asked.computations - spent < 400  # 3,600 if each were given up by itself


def test_what_a_cut_question_has_finished_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MAX_UNKNOWNS", 5)
    asked = Asked({**chain(10), 0: (frozenset(), (20, 1)), 20: (frozenset({2}), ())})
    asked.ask(0)
    assert asked.limits == {fixpoint.UNKNOWNS_LIMIT}
    asked.limits.clear()
    spent = asked.computations
    assert asked.ask(20) == {2}
    assert asked.computations == spent
    assert not asked.limits


def test_an_unknown_that_never_settles_ends() -> None:
    solver = Solver()
    computed = []

    def contrary() -> frozenset[int]:
        computed.append(1)
        return EMPTY if solver.solve("contrary", contrary) else frozenset({1})

    assert solver.solve("contrary", contrary) == {1}
    assert len(computed) <= fixpoint.MAX_RECOMPUTATIONS


def test_a_set_that_grows_without_end_counts_as_unknown() -> None:
    solver = Solver()

    def endless(start: int) -> frozenset[int]:
        known = solver.solve("endless", endless, start)
        return known | set(range(len(known), len(known) + 40))

    assert len(solver.solve("endless", endless, 0)) <= fixpoint.MAX_VALUES
    many: System = {0: (frozenset(range(fixpoint.MAX_VALUES + 1)), ()), 1: (frozenset({1}), (0,))}
    assert Asked(many).ask(1) == {1}


def test_a_failure_leaves_the_solver_usable() -> None:
    solver = Solver()

    def fail() -> frozenset[int]:
        raise ValueError

    def through() -> frozenset[int]:
        return solver.solve("fail", fail)

    with pytest.raises(ValueError):
        solver.solve("through", through)
    assert solver.solve("through", lambda: frozenset({1})) == {1}


def test_what_depends_on_nothing_of_its_own_is_solved_once() -> None:
    first = Solver()
    second = Solver(first)
    computed: list[str] = []

    def common() -> frozenset[str]:
        computed.append("common")
        return frozenset({"c"})

    def own(solver: Solver, value: str) -> frozenset[str]:
        solver.mark_own()
        return frozenset({value})

    def both(solver: Solver, value: str) -> frozenset[str]:
        return solver.solve("common", common) | solver.solve("own", own, solver, value) | {"b"}

    def ring(solver: Solver, value: str) -> frozenset[str]:
        return solver.solve("both", both, solver, value) | solver.solve("ring", ring, solver, value)

    for _ in range(2):
        assert first.solve("ring", ring, first, "1") == {"c", "1", "b"}
        assert second.solve("ring", ring, second, "2") == {"c", "2", "b"}
    assert computed == ["common"]


@pytest.mark.parametrize("is_whole_first", [True, False])
def test_a_set_may_be_asked_for_whole_and_not(is_whole_first: bool) -> None:
    solver, values = Solver(), frozenset((1, 2))
    ways = [solver.solve_whole, solver.solve]
    for solve in ways if is_whole_first else reversed(ways):
        assert solve(("numbers",), lambda: values) == values


def test_what_needs_too_many_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MAX_UNKNOWNS", 20)
    ring: System = {key: (EMPTY, ((key + 1) % 30, (key + 7) % 30)) for key in range(30)}
    ways: System = {100 + key: (frozenset({key}), (key,)) for key in range(30)}
    asked = Asked({**ring, **ways})
    for key in ways:  # each leads into the ring at another place
        asked.limits.clear()
        asked.ask(key)
        assert asked.limits == {fixpoint.UNKNOWNS_LIMIT}
    assert asked.computations < 300  # 600 if each went round by itself


def test_what_costs_too_much_is_forgotten() -> None:
    asked = Asked(chain(50))
    with pytest.raises(WorkSpentError), asked.solver.bounds.limited(20):
        asked.ask(0)
    assert asked.computations == 20
    assert asked.ask(0) == {50}  # nothing was kept as unknown
