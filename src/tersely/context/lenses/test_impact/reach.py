"""The search from changed symbols to the tests that run them, the surest and nearest ways first.

A way is as certain as all its steps together: the product of what each alone is worth. So certainty
falls with the distance, and weak steps do not chain.

Users are looked for by the graph that costs little, and those of changed symbols that it knows by
name alone with all that is known.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tersely.code.graph.users import UseKind, User, Users
from tersely.code.index.storage.store import Store
from tersely.code.languages.runners.runner import SelectedTest
from tersely.code.places import is_test
from tersely.code.symbols import Grade, Symbol
from tersely.context.lenses.test_impact.suites import Suites

MAX_SEARCHED_SYMBOLS = 150  # beyond the changed ones, whose users are looked for
MAX_AFFECTED_TESTS = 1_000  # of one change, above which the search ends
# that mention a name whose users are looked for; the users of what would need more are not
MAX_SEARCHED_FILES = 300
_RANK = {Grade.EXACT: 0, Grade.INFERRED: 1, Grade.BY_NAME: 2}

# How often a function that may run another in some way does so in a test that runs it: maximum
# likelihood over the ways that `bench/change_impact.py` finds for 80 functions of Flask, rounded.
# Ways that come too seldom there have the figure of calls of their grade.
CERTAINTY: Mapping[tuple[str, Grade], float] = {
    (UseKind.CALLS, Grade.EXACT): 1.0,
    (UseKind.CALLS, Grade.INFERRED): 0.9,
    (UseKind.CALLS, Grade.BY_NAME): 0.3,
    (UseKind.PASSED, Grade.INFERRED): 0.15,
    (UseKind.HELD, Grade.INFERRED): 0.15,
    (UseKind.HELD, Grade.BY_NAME): 0.1,
    (UseKind.INSIDE, Grade.INFERRED): 0.3,
    (UseKind.CONSTRUCTED, Grade.BY_NAME): 0.3,
    (UseKind.OVERRIDDEN, Grade.INFERRED): 0.3,
    (UseKind.OVERRIDDEN, Grade.EXACT): 0.75,
}
LIKELY = 0.5  # from which certainty on a test is among those to run first
LEAST_CERTAINTY = 0.1  # of a way that is followed


class Step(NamedTuple):
    """One symbol on the way from a test to the change; `way` is what it does to the next one, ""
    for the last.
    """

    id: str
    way: str


class Affected(NamedTuple):
    """A test that may run what has changed. `steps` lead from it to the change; it alone if it is
    the change.
    """

    test: SelectedTest
    grade: Grade  # of the least sure step
    certainty: float  # from 0 to 1, of the whole way
    steps: tuple[Step, ...]


class Reaching(NamedTuple):
    """The tests that were found; `limit` says how many symbols were not searched, "" where it came to its
    end.
    """

    tests: list[Affected]
    limit: str


class Reach:
    """A best-first search. A symbol is reached in the surest way there is, and of those in the
    shortest.
    """

    def __init__(self, users: Users, store: Store, suites: Suites) -> None:
        self._users = users
        self._store = store
        self._suites = suites
        # from a symbol to the next one on its way, and how
        self._next: dict[str, tuple[str, str]] = {}
        # of equally sure and near symbols those in files of tests come first
        self._queue: list[tuple[float, int, bool, str, str, str, int]] = []
        self._files: set[int] = set()  # that mention a name whose users were looked for
        self._too_wide = 0  # symbols that too many other files mention

    def search(self, changed: Iterable[Symbol], users_of_gone: Iterable[User]) -> Reaching:
        """The tests that reach changed symbols, or that are among those who used what is gone."""
        found: dict[SelectedTest, Affected] = {}
        for symbol in changed:
            self._push(1.0, 0, symbol.id, "", "", 0)
        for user in users_of_gone:
            self._push(certainty_of(user), 1, user.id, "", user.kind, _RANK[user.grade])
        self._follow(found)
        return Reaching(list(found.values()), self._limit_hit())

    def _limit_hit(self) -> str:
        unseen = len({entry[3] for entry in self._queue} - self._next.keys())
        left = unseen + self._too_wide
        return f"{left:,} symbols that use it not searched" if left else ""

    def _follow(self, found: dict[SelectedTest, Affected]) -> None:
        """Add the tests that are reached from the queue, up to the limits."""
        looked_at = 0
        while self._queue and looked_at < MAX_SEARCHED_SYMBOLS and len(found) < MAX_AFFECTED_TESTS:
            doubt, depth, _, current, after, way, rank = heapq.heappop(self._queue)
            if current in self._next:
                continue
            self._next[current] = after, way
            reached = self._store.symbol(current)
            test = self._suites.test_of(reached) if reached is not None else None
            if test is not None:
                found.setdefault(
                    test, Affected(test, list(_RANK)[rank], -doubt, self._steps(current))
                )
            elif reached is not None and self._is_narrow(reached):
                # the changed ones are not counted: they have a bound of their own
                looked_at += bool(after)
                self._look_around(reached, -doubt, depth + 1, rank)

    def _is_narrow(self, symbol: Symbol) -> bool:
        """True if the users of a symbol are in files enough of which are searched anyway."""
        files = self._files.union(self._store.files_mentioning(symbol.name))
        is_narrow = not self._files or len(files) <= MAX_SEARCHED_FILES
        if is_narrow:
            self._files = files
        self._too_wide += not is_narrow
        return is_narrow

    def _look_around(self, symbol: Symbol, certainty: float, depth: int, rank: int) -> None:
        users = self._users.nearby.of(symbol.id)
        is_changed = depth == 1
        if is_changed and {user.grade for user in users if user.kind == UseKind.CALLS} == {
            Grade.BY_NAME
        }:
            users = self._users.of(symbol.id)
        for user in users:
            together = max(rank, _RANK[user.grade])
            self._push(
                certainty * certainty_of(user), depth, user.id, symbol.id, user.kind, together
            )
        for test in self._suites.run_with(symbol):
            self._push(certainty, depth, test.id, symbol.id, UseKind.PROVIDED, rank)

    def _push(
        self, certainty: float, depth: int, symbol_id: str, after: str, way: str, rank: int
    ) -> None:
        if symbol_id not in self._next and certainty >= LEAST_CERTAINTY:
            outside_tests = not is_test(symbol_id.partition(":")[0])
            heapq.heappush(
                self._queue, (-certainty, depth, outside_tests, symbol_id, after, way, rank)
            )

    def _steps(self, symbol_id: str) -> tuple[Step, ...]:
        steps = []
        while symbol_id:
            after, way = self._next[symbol_id]
            steps.append(Step(symbol_id, way))
            symbol_id = after
        return tuple(steps)


def certainty_of(user: User) -> float:
    """The likelihood that a definition runs another when it runs itself."""
    return CERTAINTY.get((user.kind, user.grade), CERTAINTY[UseKind.CALLS, user.grade])
