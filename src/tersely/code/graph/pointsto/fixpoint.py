"""Least fixpoints on demand: equations over sets, solved for the unknowns that somebody asks about
and no others.

The answer for an unknown is its value in the least solution of the whole system, whatever was asked
before: a refreshed index and a rebuilt one therefore agree. The method is a local solver with
recorded dependencies (Fecht and Seidl, "A faster solver for general systems of equations", 1999):
an unknown is computed when first met, one met while it is being computed gives its value so far,
and whoever read a value that changed later is computed again.

Several solvers may have the same equations but for some, which say so. What depends on none of
those is solved once.

A question that needs more unknowns than the bound is cut. Given up for all questions is each unknown
that is found to need so many, directly or indirectly: asked for alone it would be cut too. To find
most of them at once, a question goes on for a while beyond the bound. What else it has not finished
is forgotten, so that other questions find it out for themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar, TypeVarTuple

from tersely.code.bounds import Result
from tersely.code.graph.program.work import Work

Member = TypeVar("Member")
Arguments = TypeVarTuple("Arguments")
Solution = frozenset[Any]  # each unknown has members of its own kind

EMPTY: Solution = frozenset()

# for one question, beside those solved before; the others count as unknown. Two of 87,000 questions
# about the calls of seven repositories needed more.
MAX_UNKNOWNS = 1_000
EXPLORED = 2  # times as many are met before a question is cut, to find which others need too many
UNKNOWNS_LIMIT = f"values of one expression were followed through at most {MAX_UNKNOWNS:,} others"
DEPTH_LIMIT = "an expression is nested too deeply to be followed"
# of one unknown; after half of them its value may only grow, after all of them it stays
MAX_RECOMPUTATIONS = 16
RECOMPUTATIONS_LIMIT = (
    f"values that depend on each other were followed at most {MAX_RECOMPUTATIONS} times"
)
MAX_CHAIN = 200  # unknowns that wait for each other; the next one is computed after them
MAX_VALUES = 100  # members of one set; a larger one says nothing and counts as unknown
VALUES_LIMIT = f"what may be any of more than {MAX_VALUES} values counts as unknown"

# for which a value may be unknown that is not
SOLVING_LIMITS = frozenset((UNKNOWNS_LIMIT, DEPTH_LIMIT, RECOMPUTATIONS_LIMIT, VALUES_LIMIT))


class _Unknown:
    """An unknown of the question that is being answered: its equation, its value so far and who
    read that.
    """

    __slots__ = ("arguments", "computations", "compute", "is_own", "limits", "readers", "value")

    def __init__(self, compute: Callable[..., Solution], arguments: tuple[object, ...]) -> None:
        self.compute = compute
        self.arguments = arguments
        self.computations = 0
        self.is_own = False  # it depends on an equation that only this solver has
        self.limits = EMPTY  # that its value met, in words
        self.value = EMPTY
        self.readers: dict[_Unknown, None] = {}  # in order of reading


class Solver:
    """A table of solved unknowns. `solve(key, compute, *arguments)` where compute(*arguments) is a
    frozenset.

    It shares with the solver `below` what has the same equations in both. `bounds` hears of every
    bound that an answer has met, whether it met it now or when it was solved before.
    """

    def __init__(self, below: Solver | None = None, bounds: Work | None = None) -> None:
        self.bounds = bounds or Work()
        self._shared: dict[Hashable, Solution] = {} if below is None else below._shared
        self._shared_cut: dict[Hashable, frozenset[str]] = (
            {} if below is None else below._shared_cut
        )
        self._solved: dict[Hashable, Solution] = {}
        self._cut: dict[Hashable, frozenset[str]] = {}  # limits that were met for what is solved
        # what needs too many unknowns: its value so far, and the limits that it met
        self._given_up: dict[Hashable, tuple[Solution, frozenset[str]]] = {}
        self._open: dict[Hashable, _Unknown] = {}  # of the question being answered, not final yet
        self._stack: list[_Unknown] = []
        self._stale: dict[_Unknown, None] = {}  # in order of discovery
        self._is_apart = False
        self._meets_own = False  # whether the question apart has to do with our own equations

    def solve(
        self,
        key: Hashable,
        compute: Callable[[*Arguments], frozenset[Member]],
        *arguments: *Arguments,
    ) -> frozenset[Member]:
        """The least solution for `key`; asked from inside a computation, its value so far."""
        known = self._shared.get(key)
        if known is not None:
            if key in self._shared_cut:
                self.bounds.add(*self._shared_cut[key])
            return known
        known = self._solved.get(key)
        if known is not None:
            self.mark_own()
            self.bounds.add(*self._cut.get(key, ()))
            return known
        if key in self._given_up:
            known, limits = self._given_up[key]
            self.mark_own()
            self.bounds.add(*limits)
            return known
        return (
            self._met(key, compute, arguments)
            if self._stack
            else self._answer(key, compute, arguments)
        )

    def _met(
        self, key: Hashable, compute: Callable[..., Solution], arguments: tuple[object, ...]
    ) -> Solution:
        """The value so far of an unknown that the computation of another asks for."""
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

    def solve_whole(
        self,
        key: Hashable,
        compute: Callable[[*Arguments], frozenset[Member]],
        *arguments: *Arguments,
    ) -> frozenset[Member]:
        """Like `solve`, for a set that says something at any size: the classes below a class."""
        return EMPTY.union(*self.solve((_as_one, key), _as_one, compute, *arguments))

    def apart(self, ask: Callable[..., Result], *arguments: object) -> Result:
        """The answer to a question of its own, in the middle of another: what it needs is not
        counted as needed by that. In such a question others are a part of it.
        """
        if not self._stack or self._is_apart:
            return ask(*arguments)
        around = self._open, self._stack, self._stale
        self._open, self._stack, self._stale, self._is_apart = {}, [], {}, True
        self._meets_own = False
        try:
            return ask(*arguments)
        finally:
            self._open, self._stack, self._stale = around
            self._is_apart = False
            if self._meets_own:
                self.mark_own()

    @property
    def is_solving(self) -> bool:
        """True if a question is being answered, so that values are those so far."""
        return bool(self._stack)

    def mark_own(self) -> None:
        """Say of the equation that is being computed that other solvers have another one for the
        same key.
        """
        self._meets_own = True
        if self._stack:
            self._stack[-1].is_own = True

    def _answer(
        self, key: Hashable, compute: Callable[..., Solution], arguments: tuple[object, ...]
    ) -> Solution:
        asked = self._open[key] = _Unknown(compute, arguments)
        try:
            self._compute(asked)
            while self._stale and not self._has_explored:
                stale, _ = self._stale.popitem()
                self._compute(stale)
            many = _needing_many(self._open.values())
            unfinished = _reading(self._stale) | many
            for unknown in unfinished:
                unknown.limits |= {UNKNOWNS_LIMIT}
            self._keep(unfinished, many)
        except RecursionError:
            # expressions nested deeply in a long chain: nothing is said of this one
            self._solved[key] = asked.value = EMPTY
            self._cut[key] = asked.limits = frozenset((DEPTH_LIMIT,))
        finally:
            for unknown in self._open.values():
                unknown.readers.clear()  # they refer to each other
            self._open, self._stale, self._stack = {}, {}, []
        self._meets_own |= asked.is_own
        self.bounds.add(*asked.limits)
        return asked.value

    @property
    def _has_explored(self) -> bool:
        return len(self._open) > EXPLORED * MAX_UNKNOWNS

    def _keep(self, unfinished: set[_Unknown], many: set[_Unknown]) -> None:
        """Keep what was solved, for all solvers unless it depends on what is our own, and the values
        so far of what needs too many unknowns.
        """
        unknowns = self._open.values()
        self._spread([unknown for unknown in unknowns if unknown.is_own or unknown.limits])
        for key, unknown in self._open.items():
            if unknown in many:
                self._given_up[key] = unknown.value, unknown.limits
            if unknown in unfinished:
                continue
            values, cut = (
                (self._solved, self._cut) if unknown.is_own else (self._shared, self._shared_cut)
            )
            values[key] = unknown.value
            if unknown.limits:
                cut[key] = unknown.limits

    def _spread(self, pending: list[_Unknown]) -> None:
        """Mark the readers of what is our own, or cut, as own or cut too."""
        while pending:
            unknown = pending.pop()
            for reader in unknown.readers:
                is_new = (
                    unknown.is_own and not reader.is_own
                ) or not unknown.limits <= reader.limits
                if is_new:
                    reader.is_own |= unknown.is_own
                    reader.limits |= unknown.limits
                    pending.append(reader)

    def _compute(self, unknown: _Unknown) -> None:
        if self._has_explored:
            self._stale[unknown] = None
            return
        self.bounds.spend(not unknown.computations)
        unknown.computations += 1
        if unknown.computations > MAX_RECOMPUTATIONS:
            unknown.limits |= {RECOMPUTATIONS_LIMIT}
            return
        self._stack.append(unknown)
        found, unknown.limits = self.bounds.collect(unknown.compute, *unknown.arguments)
        self._stack.pop()
        before = unknown.value
        if unknown.computations > MAX_RECOMPUTATIONS // 2:
            found |= before
        if len(found) > MAX_VALUES:
            found = EMPTY
            unknown.limits |= {VALUES_LIMIT}
        if found != before:
            unknown.value = found
            # A reader further down the stack finishes first and may have read the old value.
            self._stale.update(unknown.readers)


def _reading(unknowns: Iterable[_Unknown]) -> set[_Unknown]:
    """Unknowns, and whoever reads them, directly or indirectly."""
    found, pending = set(unknowns), list(unknowns)
    while pending:
        readers = pending.pop().readers.keys() - found
        found |= readers
        pending.extend(readers)
    return found


def _as_one(compute: Callable[[*Arguments], frozenset[Member]], *arguments: *Arguments) -> Solution:
    """A set as the one member of another."""
    return frozenset((compute(*arguments),))


def _needing_many(unknowns: Iterable[_Unknown]) -> set[_Unknown]:
    """Those of some unknowns, in order of discovery, that need more of them than the bound."""
    needed = {unknown: 1 << place for place, unknown in enumerate(unknowns)}  # as bits
    many, last = set[_Unknown](), None
    while len(needed) > MAX_UNKNOWNS and last != needed:
        last = needed.copy()
        for unknown in reversed(needed):
            for reader in unknown.readers if unknown not in many else ():
                needed[reader] |= needed[unknown]
                if needed[reader].bit_count() > MAX_UNKNOWNS:
                    many.add(reader)
    return _reading(many)
