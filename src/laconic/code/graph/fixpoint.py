"""Least fixpoints on demand: equations over sets, solved for the unknowns that somebody asks about and no others.

The answer for an unknown is its value in the least solution of the whole system, whatever was asked before: a refreshed
index and a rebuilt one therefore agree. The method is the local solver of logic programming with tabling (Chen and
Warren, "Tabled evaluation with delaying", 1996): an unknown met again while it is being computed gives its present
approximation, and the first member of such a cycle is computed again until nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

EMPTY: frozenset[Any] = frozenset()

MAX_ROUNDS = 30  # computations of one unknown; sets only grow, so more means a set that is cut below anyway
MAX_CHAIN = 1_000  # unknowns that wait for each other; the next one counts as unknown
MAX_VALUES = 400  # members of one set; a larger one says nothing and counts as unknown


class Solver:
    """A table of solved unknowns. `solve(key, compute, *arguments)` where compute(*arguments) is a frozenset."""

    def __init__(self) -> None:
        self._solved: dict[Hashable, frozenset[Any]] = {}
        self._approximations: dict[Hashable, list[Any]] = {}  # being computed: [depth, so far, met again]
        self._provisional: dict[Hashable, tuple[int, frozenset[Any]]] = {}  # depends on something being computed
        self._trail: list[Hashable] = []  # keys of `_provisional` in order of arrival
        self._lowest = MAX_CHAIN  # the outermost unknown that the present computation has met again
        self._depth = 0

    def solve(self, key: Hashable, compute: Callable[..., frozenset[Any]], *arguments: Any) -> frozenset[Any]:
        """The least solution for `key`; inside a cycle its approximation so far."""
        known = self._solved.get(key)
        if known is not None:
            return known
        active = self._approximations.get(key)
        if active is not None:
            active[2] = True
            self._lowest = min(self._lowest, active[0])
            return active[1]  # type: ignore[no-any-return]
        provisional = self._provisional.get(key)
        if provisional is not None:
            self._lowest = min(self._lowest, provisional[0])
            return provisional[1]
        if self._depth >= MAX_CHAIN:
            return EMPTY
        return self._compute(key, compute, arguments)

    def _compute(self, key: Hashable, compute: Callable[..., frozenset[Any]], arguments: Any) -> frozenset[Any]:
        outer_lowest = self._lowest
        depth = self._depth
        self._depth = depth + 1
        mark = len(self._trail)
        result = EMPTY
        lowest = MAX_CHAIN
        for _ in range(MAX_ROUNDS):
            approximation = self._approximations[key] = [depth, result, False]
            self._lowest = MAX_CHAIN
            found = compute(*arguments)
            lowest = min(lowest, self._lowest)
            if len(found) > MAX_VALUES:
                found = EMPTY
                break
            if not approximation[2] or found <= result:  # nobody used the approximation, or it was right
                break
            result |= found
            self._forget(mark)
        result = result | found
        del self._approximations[key]
        self._depth = depth
        if lowest >= depth:
            for inner in self._trail[mark:]:
                self._solved[inner] = self._provisional.pop(inner)[1]
            del self._trail[mark:]
            self._solved[key] = result
            self._lowest = outer_lowest
        else:
            self._provisional[key] = (lowest, result)
            self._trail.append(key)
            self._lowest = min(outer_lowest, lowest)
        return result

    def _forget(self, mark: int) -> None:
        for key in self._trail[mark:]:
            del self._provisional[key]
        del self._trail[mark:]
