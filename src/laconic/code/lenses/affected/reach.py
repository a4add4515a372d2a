"""The search from changed symbols to the tests that run them, the surest and nearest ways first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from laconic.code.graph.users import User, Users, Way
from laconic.code.index.store import Store
from laconic.code.languages.runners.commands import SelectedTest
from laconic.code.lenses.affected.suites import Suites
from laconic.code.symbols import Grade, Symbol
from laconic.foundation.limits import MAX_AFFECTED_TESTS

_RANK = {Grade.EXACT: 0, Grade.INFERRED: 1, Grade.BY_NAME: 2}


class Step(NamedTuple):
    """One symbol on the way from a test to the change; `way` is what it does to the next one, "" for the last."""

    id: str
    way: str


class Affected(NamedTuple):
    """A test that may run what has changed. `steps` lead from it to the change; it alone if it is the change."""

    test: SelectedTest
    grade: Grade  # of the least sure step
    steps: tuple[Step, ...]


class Reaching(NamedTuple):
    """The tests that were found; `cut` if the search stopped at its bound."""

    tests: list[Affected]
    cut: bool


class Reach:
    """A best-first search. A symbol is reached in the surest way there is, and of those in the shortest."""

    def __init__(self, users: Users, store: Store, suites: Suites, limit: int) -> None:
        self._users = users
        self._store = store
        self._suites = suites
        self._limit = limit  # symbols whose users are looked for
        self._next: dict[str, tuple[str, str]] = {}  # from a symbol to the next one on its way, and how
        self._queue: list[tuple[int, int, str, str, str]] = []

    def search(self, changed: Iterable[Symbol], users_of_gone: Iterable[User]) -> Reaching:
        """The tests that reach changed symbols, or that are among those who used what is gone."""
        found: dict[SelectedTest, Affected] = {}
        for symbol in changed:
            self._push(0, 0, symbol.id, "", "")
        for user in users_of_gone:
            self._push(_RANK[user.grade], 1, user.id, "", user.way)
        looked_at = 0
        while self._queue and looked_at < self._limit and len(found) < MAX_AFFECTED_TESTS:
            rank, depth, current, after, way = heapq.heappop(self._queue)
            if current in self._next:
                continue
            self._next[current] = after, way
            reached = self._store.symbol(current)
            test = self._suites.test_of(reached) if reached is not None else None
            if test is not None:
                found.setdefault(test, Affected(test, list(_RANK)[rank], self._steps(current)))
            elif reached is not None:
                looked_at += 1
                self._look_around(reached, rank, depth + 1)
        return Reaching(list(found.values()), bool(self._queue))

    def _look_around(self, symbol: Symbol, rank: int, depth: int) -> None:
        for user in self._users.of(symbol.id):
            self._push(max(rank, _RANK[user.grade]), depth, user.id, symbol.id, user.way)
        for test in self._suites.run_with(symbol):
            self._push(rank, depth, test.id, symbol.id, Way.PROVIDED)

    def _push(self, rank: int, depth: int, symbol_id: str, after: str, way: str) -> None:
        if symbol_id not in self._next:
            heapq.heappush(self._queue, (rank, depth, symbol_id, after, way))

    def _steps(self, symbol_id: str) -> tuple[Step, ...]:
        steps = []
        while symbol_id:
            after, way = self._next[symbol_id]
            steps.append(Step(symbol_id, way))
            symbol_id = after
        return tuple(steps)
