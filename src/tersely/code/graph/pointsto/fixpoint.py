"""Least fixpoints on demand: equations over sets, solved for the unknowns that somebody asks about and no others.

The answer for an unknown is its value in the least solution of the whole system, whatever was asked before: a refreshed
index and a rebuilt one therefore agree. The method is a local solver with recorded dependencies (Fecht and Seidl, "A
faster solver for general systems of equations", 1999): an unknown is computed when first met, one met while it is being
computed gives its value so far, and whoever read a value that changed later is computed again.

Several solvers may have the same equations but for some, which say so. What depends on none of those is solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

EMPTY: frozenset[Any] = frozenset()

MAX_COMPUTATIONS = 4_000  # for one question; what is not known by then counts as unknown
COMPUTATIONS_LIMIT = f"truncated: values were followed in at most {MAX_COMPUTATIONS:,} steps for one expression"
DEPTH_LIMIT = "truncated: an expression is nested too deeply to be followed"
MAX_RECOMPUTATIONS = 16  # of one unknown; after half of them its value may only grow, after all of them it stays
MAX_CHAIN = 200  # unknowns that wait for each other; the next one is computed after them
MAX_VALUES = 100  # members of one set; a larger one says nothing and counts as unknown


class _Unknown:
    """An unknown of the question that is being answered: its equation, its value so far and who read that."""

    __slots__ = ("arguments", "computations", "compute", "is_own", "readers", "value")

    def __init__(self, compute: Callable[..., frozenset[Any]], arguments: tuple[Any, ...]) -> None:
        self.compute = compute
        self.arguments = arguments
        self.computations = 0
        self.is_own = False  # it depends on an equation that only this solver has
        self.value = EMPTY
        self.readers: dict[_Unknown, None] = {}  # in order of reading


class Solver:
    """A table of solved unknowns. `solve(key, compute, *arguments)` where compute(*arguments) is a frozenset.

    `shared` holds what solvers with the same equations have in common. `say_cut` is told of every bound that an answer
    has met, whether it met it now or when it was solved before.
    """

    def __init__(
        self, shared: dict[Hashable, frozenset[Any]] | None = None, say_cut: Callable[[str], None] | None = None
    ) -> None:
        self.shared: dict[Hashable, frozenset[Any]] = {} if shared is None else shared
        self._solved: dict[Hashable, frozenset[Any]] = {}
        self._open: dict[Hashable, _Unknown] = {}  # of the question being answered, not final yet
        self._stack: list[_Unknown] = []
        self._say_cut = say_cut
        self._limits: set[str] = set()  # that the present question has met, in words
        self._cut: dict[Hashable, frozenset[str]] = {}  # limits that were met for what is solved
        self._left = 0  # computations that the present question may still take
        self._stale: dict[_Unknown, None] = {}  # in order of discovery

    def solve(self, key: Hashable, compute: Callable[..., frozenset[Any]], *arguments: Any) -> frozenset[Any]:
        """The least solution for `key`; asked from inside a computation, its value so far."""
        known = self.shared.get(key)
        if known is not None:
            return known
        if not self._stack:
            known = self._solved.get(key)
            self._cut_before(key)
            return self._answer(key, compute, arguments) if known is None else known
        known = self._solved.get(key)
        if known is not None:
            self._stack[-1].is_own = True
            self._cut_before(key)
            return known
        unknown = self._open.get(key)
        if unknown is not None:
            unknown.readers[self._stack[-1]] = None
            return unknown.value
        unknown = self._open[key] = _Unknown(compute, arguments)
        unknown.readers[self._stack[-1]] = None
        if len(self._stack) >= MAX_CHAIN:
            self._stale[unknown] = None
        else:
            self._compute(unknown)
        return unknown.value

    def solve_whole(self, key: Hashable, compute: Callable[..., frozenset[Any]], *arguments: Any) -> frozenset[Any]:
        """Like `solve`, for a set that says something at any size: the classes below a class."""
        return EMPTY.union(*self.solve(key, _as_one, compute, *arguments))

    @property
    def is_solving(self) -> bool:
        """Whether a question is being answered, so that values are those so far."""
        return bool(self._stack)

    def mark_own(self) -> None:
        """Say of the equation that is being computed that other solvers have another one for the same key."""
        if self._stack:
            self._stack[-1].is_own = True

    def mark_cut(self, limit: str) -> None:
        """Say that the answer to the present question is incomplete, with the bound in words."""
        self._limits.add(limit)
        if self._say_cut is not None:
            self._say_cut(limit)

    def _cut_before(self, key: Hashable) -> None:
        for limit in self._cut.get(key, ()):
            self.mark_cut(limit)

    def _answer(self, key: Hashable, compute: Callable[..., frozenset[Any]], arguments: Any) -> frozenset[Any]:
        asked = self._open[key] = _Unknown(compute, arguments)
        self._left = MAX_COMPUTATIONS
        self._limits.clear()
        try:
            self._compute(asked)
            while self._stale:
                stale, _ = self._stale.popitem()
                self._compute(stale)
            self._keep()
        except RecursionError:  # expressions nested deeply in a long chain: nothing is said of this one
            self._solved[key] = asked.value = EMPTY
            self.mark_cut(DEPTH_LIMIT)
            self._cut[key] = frozenset(self._limits)
        finally:
            for unknown in self._open.values():
                unknown.readers.clear()  # they refer to each other
            self._open, self._stale, self._stack = {}, {}, []
        return asked.value

    def _keep(self) -> None:
        """Keep what was solved: for all solvers unless it depends on what is our own, or bounds cut it off."""
        limits = frozenset(self._limits)
        if not limits:
            pending = [unknown for unknown in self._open.values() if unknown.is_own]
            while pending:
                for reader in pending.pop().readers:
                    if not reader.is_own:
                        reader.is_own = True
                        pending.append(reader)
        for key, unknown in self._open.items():
            (self._solved if unknown.is_own or limits else self.shared)[key] = unknown.value
            if limits:
                self._cut[key] = limits

    def _compute(self, unknown: _Unknown) -> None:
        unknown.computations += 1
        self._left -= 1
        if self._left < 0:
            self.mark_cut(COMPUTATIONS_LIMIT)
        if unknown.computations > MAX_RECOMPUTATIONS or self._left < 0:
            return
        self._stack.append(unknown)
        found = unknown.compute(*unknown.arguments)
        self._stack.pop()
        before = unknown.value
        if unknown.computations > MAX_RECOMPUTATIONS // 2:
            found |= before
        if len(found) > MAX_VALUES:
            found = EMPTY
        if found != before:
            unknown.value = found
            # A reader further down the stack finishes first and may have read the old value.
            self._stale.update(unknown.readers)


def _as_one(compute: Callable[..., frozenset[Any]], *arguments: Any) -> frozenset[Any]:
    """A set as the one member of another."""
    return frozenset((compute(*arguments),))
