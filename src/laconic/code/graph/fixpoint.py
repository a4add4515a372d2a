"""Least fixpoints on demand: equations over sets, solved for the unknowns that somebody asks about and no others.

The answer for an unknown is its value in the least solution of the whole system, whatever was asked before: a refreshed
index and a rebuilt one therefore agree. The method is a local solver with recorded dependencies (Fecht and Seidl, "A
faster solver for general systems of equations", 1999): an unknown is computed when first met, one met while it is being
computed gives its value so far, and whoever read a value that changed later is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

EMPTY: frozenset[Any] = frozenset()

MAX_COMPUTATIONS = 4_000  # for one question; what is not known by then counts as unknown
MAX_RECOMPUTATIONS = 16  # of one unknown; after half of them its value may only grow, after all of them it stays
MAX_CHAIN = 200  # unknowns that wait for each other; the next one is computed after them
MAX_VALUES = 100  # members of one set; a larger one says nothing and counts as unknown


class Solver:
    """A table of solved unknowns. `solve(key, compute, *arguments)` where compute(*arguments) is a frozenset."""

    def __init__(self) -> None:
        self._solved: dict[Hashable, frozenset[Any]] = {}
        self._values: dict[Hashable, frozenset[Any]] = {}  # of the question being answered, not final yet
        self._equations: dict[Hashable, tuple[Callable[..., frozenset[Any]], tuple[Any, ...]]] = {}
        self._readers: dict[Hashable, dict[Hashable, None]] = {}  # in order of reading
        self._computations: dict[Hashable, int] = {}
        self._stack: list[Hashable] = []
        self._left = 0  # computations that the present question may still take
        self._stale: dict[Hashable, None] = {}  # in order of discovery

    def solve(self, key: Hashable, compute: Callable[..., frozenset[Any]], *arguments: Any) -> frozenset[Any]:
        """The least solution for `key`; asked from inside a computation, its value so far."""
        known = self._solved.get(key)
        if known is not None:
            return known
        if not self._stack:
            return self._answer(key, compute, arguments)
        self._readers.setdefault(key, {})[self._stack[-1]] = None
        value = self._values.get(key)
        if value is None:
            self._equations[key] = (compute, arguments)
            self._values[key] = EMPTY
            if len(self._stack) >= MAX_CHAIN:
                self._stale[key] = None
                return EMPTY
            self._compute(key)
            value = self._values[key]
        return value

    def _answer(self, key: Hashable, compute: Callable[..., frozenset[Any]], arguments: Any) -> frozenset[Any]:
        self._equations[key] = (compute, arguments)
        self._values[key] = EMPTY
        self._left = MAX_COMPUTATIONS
        try:
            self._compute(key)
            while self._stale:
                stale, _ = self._stale.popitem()
                self._compute(stale)
            self._solved.update(self._values)
        except RecursionError:  # expressions nested deeply in a long chain: nothing is said of this one
            self._solved[key] = EMPTY
        finally:
            self._values, self._equations, self._readers, self._computations = {}, {}, {}, {}
            self._stale, self._stack = {}, []
        return self._solved[key]

    def _compute(self, key: Hashable) -> None:
        count = self._computations[key] = self._computations.get(key, 0) + 1
        self._left -= 1
        if count > MAX_RECOMPUTATIONS or self._left < 0:
            return
        compute, arguments = self._equations[key]
        self._stack.append(key)
        found = compute(*arguments)
        self._stack.pop()
        before = self._values[key]
        if count > MAX_RECOMPUTATIONS // 2:
            found |= before
        if len(found) > MAX_VALUES:
            found = EMPTY
        if found != before:
            self._values[key] = found
            for reader in self._readers.get(key, ()):
                # A reader further down the stack finishes first and may have read the old value.
                self._stale[reader] = None
