"""The symbol lens: what is worth knowing around some symbols, by the call graph and what they
mention.

The score of a neighbour is a product of factors, so that each can be judged alone:

    direction × distance × grade × commonness × nearness × test

The first four pass along a path to what lies beyond it; nearness and test speak of one symbol only.
Paths keep their direction: callees of callees and callers of callers are followed, the other
callers of a callee are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log2
from typing import Any, Protocol

from tersely.code.graph.callgraph import EXTERNAL_PREFIX
from tersely.code.places import directory_of, is_test
from tersely.code.symbols import CLASS_KINDS, Edge, Grade, Kind, Symbol
from tersely.context.lenses.candidate import (
    BASE,
    BY_NAME,
    CALLEE,
    CALLER,
    CONSTANT,
    ENCLOSING,
    MEMBER,
    NEAR_TARGET_SCORE,
    SIBLING,
    TARGET,
    TARGET_SCORE,
    TEST,
    TYPE,
    Candidate,
    View,
    ranked,
)
from tersely.context.lenses.mentions import Used
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    DEFAULT_DEPTH_HOPS,
    MAX_CANDIDATES_SYMBOLS,
    MAX_DEPTH_HOPS,
    MAX_EXPANDED_SYMBOLS,
)
from tersely.foundation.types import frozen

MAX_NEIGHBOURS_SYMBOLS = 200  # callers or callees taken of one symbol; a hub has thousands

# What a symbol calls decides what it does; who calls it only how it is used.
CALLEE_WEIGHT = 0.8
CALLER_WEIGHT = 0.7
# Each further hop is half as likely to matter: most changes stay within one hop of where they
# start.
HOP_DECAY = 0.5
# An edge is worth about as much as it is likely to be true.
GRADE_WEIGHT = {Grade.EXACT: 1.0, Grade.INFERRED: 0.9, Grade.BY_NAME: 0.4}
# A callee that everything calls (a logger, `len` of ours) says little about its caller, and a
# caller that does everything (`main`) little about its callees: like a common word in search, worth
# less by the logarithm.
COMMON_AT = 16  # as many users, or steps, halve the worth
# How much a caller does is known from its length, without following its calls.
LINES_PER_STEP = 4
# Code in one file, or one folder, tends to change together.
SAME_FILE_WEIGHT = 1.2
SAME_FOLDER_WEIGHT = 1.1
# Tests show how the target is meant to be used, but there are many and they are long.
TEST_WEIGHT = 0.5
# The class around a method holds the fields that it works on.
ENCLOSING_SCORE = 0.6
# What a class is made of. What its methods call is one hop further away than what it calls itself
# would be.
MEMBER_SCORE = 0.75
# Compile-time dependencies: a base gives members, a constant its whole meaning in one line, a type
# its shape.
USED_SCORE = {BASE: 0.7, CONSTANT: 0.6, TYPE: 0.5}
# What stands in the same file is changed together with the target more often than what is two calls
# away, but tells little of what the target does: its signature takes the room that all others
# leave.
SIBLING_SCORE = 0.15


class Graph(Protocol):
    """The questions of the lens to the call graph."""

    def callers(self, symbol_id: str) -> list[Edge]:
        """Edges whose callee is the symbol."""
        ...

    def callees(self, symbol_id: str) -> list[Edge]:
        """Edges whose caller is the symbol, those to `external:` names among them."""
        ...

    def symbol(self, symbol_id: str) -> Symbol | None:
        """The symbol of an id, None for what is outside the repository."""
        ...


Uses = Callable[[Symbol], Iterable[Used]]
Popularity = Callable[[Symbol], int]


def nothing(symbol: Symbol) -> Iterable[Any]:
    """For when the dependencies of a symbol, its members or its neighbours are not wanted or known."""
    return ()


def around(
    targets: Sequence[Symbol],
    graph: Graph,
    *,
    depth: int = DEFAULT_DEPTH_HOPS,
    callers: bool = True,
    uses: Uses = nothing,
    members: Callable[[Symbol], Iterable[Symbol]] = nothing,
    beside: Callable[[Symbol], Iterable[Symbol]] = nothing,
    popularity: Popularity | None = None,
) -> View:
    """Candidates around the targets within `depth` hops; without `callers`, those that they lead
    to alone.

    A target that is a module stands for what it defines, which `members` gives.

    `uses` gives the compile-time dependencies of a symbol, `members` what a class consists of,
    `beside` what stands in the same file, the nearest first. `popularity` says how many places use
    a symbol, by and large: the files that mention its name will do, where counting its callers
    would mean to resolve them all.
    """
    if not 0 <= depth <= MAX_DEPTH_HOPS:
        raise TerselyError(
            "invalid_argument", f"the depth is {depth}; it can be 0 to {MAX_DEPTH_HOPS}"
        )
    beyond: Counter[str] = Counter()
    users = popularity or (lambda symbol: len(graph.callers(symbol.id)))
    found = [
        Candidate(one, TARGET_SCORE, TARGET, whole_only=one.kind is Kind.MODULE) for one in targets
    ]
    for target in targets:
        if target.kind is Kind.MODULE:
            found += _contents(target, list(members(target)), users)
            continue
        found += _enclosing(target, graph)
        found += [Candidate(member, MEMBER_SCORE, MEMBER, target.id) for member in members(target)]
        found += [
            Candidate(used, USED_SCORE[reason], reason, target.id) for used, reason in uses(target)
        ]
    forward = _Walk(
        graph, graph.callees, lambda edge: edge.callee, users, CALLEE, CALLEE_WEIGHT, beyond
    )
    backward = _Walk(
        graph, graph.callers, lambda edge: edge.caller, _steps_in, CALLER, CALLER_WEIGHT, beyond
    )
    found += forward.candidates(targets, depth)
    found += backward.candidates(targets, depth if callers else 0)
    definitions = [target for target in targets if target.kind is not Kind.MODULE] if depth else []
    found += [one for target in definitions for one in _siblings(target, beside)]
    candidates = ranked(found)
    beyond.update(candidate.reason for candidate in candidates[MAX_CANDIDATES_SYMBOLS:])
    return View(
        candidates[:MAX_CANDIDATES_SYMBOLS], dict(sorted(beyond.items())), lens=f"around {depth}"
    )


def _enclosing(target: Symbol, graph: Graph) -> list[Candidate]:
    parent = graph.symbol(target.parent) if target.parent else None
    if parent is None or parent.kind not in CLASS_KINDS:
        return []
    return [Candidate(parent, ENCLOSING_SCORE, ENCLOSING, target.id)]


def _contents(module: Symbol, definitions: Sequence[Symbol], users: Popularity) -> list[Candidate]:
    """The definitions of a file, worth the more the more is known by its name elsewhere."""
    known = {symbol.id: log2(2 + users(symbol)) for symbol in definitions}
    most = max(known.values(), default=1.0)
    return [
        Candidate(symbol, MEMBER_SCORE * known[symbol.id] / most, MEMBER, module.id)
        for symbol in definitions
    ]


def _siblings(target: Symbol, beside: Callable[[Symbol], Iterable[Symbol]]) -> list[Candidate]:
    """The other symbols in the file of a target, worth less the further away they stand."""
    return [
        Candidate(
            symbol,
            SIBLING_SCORE / (1 + log2(1 + rank) / log2(COMMON_AT)),
            SIBLING,
            target.id,
            outline_only=True,
        )
        for rank, symbol in enumerate(beside(target))
    ]


@frozen
class _Step:
    """One edge away from `near`, which has `strength`, to the symbol with the id `far`."""

    near: Symbol
    strength: float
    far: str
    grade: Grade


@frozen
class _Walk:
    """The call graph followed in one direction."""

    graph: Graph
    edges: Callable[[str], list[Edge]]
    far_end: Callable[[Edge], str]
    crowd: Callable[[Symbol], int]  # with how many others a symbol shares its edges
    reason: str
    weight: float
    beyond: Counter[str]

    def candidates(self, targets: Sequence[Symbol], depth: int) -> list[Candidate]:
        """The symbols within `depth` hops. Each is expanded once, from where it was first reached."""
        seen = {target.id for target in targets}
        frontier = [
            (target, self.weight / (1 if target.kind in CLASS_KINDS else HOP_DECAY))
            for target in targets
        ]
        found: list[Candidate] = []
        for _ in range(depth):
            reached: dict[str, tuple[Symbol, float]] = {}
            for near, strength in frontier[:MAX_EXPANDED_SYMBOLS]:
                for step in self._steps(near, strength):
                    self._take(step, seen, found, reached)
            seen.update(reached)
            frontier = sorted(reached.values(), key=lambda pair: (-pair[1], pair[0].id))
        return found

    def _steps(self, near: Symbol, strength: float) -> list[_Step]:
        """The edges of one symbol, the most promising of them if there are too many."""
        best: dict[str, Grade] = {}
        for edge in self.edges(near.id):
            far = self.far_end(edge)
            if far == near.id or far.startswith(EXTERNAL_PREFIX):
                continue
            if far not in best or GRADE_WEIGHT[edge.grade] > GRADE_WEIGHT[best[far]]:
                best[far] = edge.grade
        order = sorted(best, key=lambda far: (-self._promise(near, far, best[far]), far))
        for far in order[MAX_NEIGHBOURS_SYMBOLS:]:
            self.beyond[self._reason_of(_path_of(far), best[far])] += 1
        return [_Step(near, strength, far, best[far]) for far in order[:MAX_NEIGHBOURS_SYMBOLS]]

    def _promise(self, near: Symbol, far: str, grade: Grade) -> float:
        """The part of the score that costs nothing to know."""
        path = _path_of(far)
        return GRADE_WEIGHT[grade] * _nearness(near.path, path) * _test_weight(path)

    def _take(
        self,
        step: _Step,
        seen: set[str],
        found: list[Candidate],
        reached: dict[str, tuple[Symbol, float]],
    ) -> None:
        symbol = None if step.far in seen else self.graph.symbol(step.far)
        if symbol is None or symbol.parent == step.near.id:
            return
        known = reached.get(symbol.id)
        strength = (
            step.strength * HOP_DECAY * GRADE_WEIGHT[step.grade] * _commonness(self.crowd(symbol))
        )
        # Nobody calls a test, and what lies behind a guess is hardly ever right.
        leads_on = step.grade is not Grade.BY_NAME and not is_test(symbol.path)
        if leads_on and (known is None or strength > known[1]):
            reached[symbol.id] = (symbol, strength)
        score = strength * _nearness(step.near.path, symbol.path) * _test_weight(symbol.path)
        reason = self._reason_of(symbol.path, step.grade)
        found.append(Candidate(symbol, min(score, NEAR_TARGET_SCORE), reason, step.near.id))

    def _reason_of(self, path: str, grade: Grade) -> str:
        reason = TEST if self.reason == CALLER and is_test(path) else self.reason
        return reason + BY_NAME if grade is Grade.BY_NAME else reason


def _steps_in(caller: Symbol) -> int:
    return (caller.end_line - caller.start_line) // LINES_PER_STEP


def _commonness(crowd: int) -> float:
    """1 for one alone, a half at `COMMON_AT`, a quarter at its cube."""
    return 1 / (1 + log2(max(crowd, 1)) / log2(COMMON_AT))


def _nearness(path: str, other: str) -> float:
    if path == other:
        return SAME_FILE_WEIGHT
    return SAME_FOLDER_WEIGHT if directory_of(path) == directory_of(other) else 1.0


def _test_weight(path: str) -> float:
    return TEST_WEIGHT if is_test(path) else 1.0


def _path_of(symbol_id: str) -> str:
    return symbol_id.partition(":")[0]
