"""The coverage lens: functions in the order in which they are likely to hold what made tests fail.

First come the failed tests where they failed, and what their stacks name; then what failing tests
ran, by how much more often than passing ones (`coverage/spectrum.py`); then what failed tests call,
as far as it ran; last what ran at all, by how often. Without failures, only the last is known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import log1p, sqrt
from typing import NamedTuple

from tersely.code.coverage.model import FailedTest, FailureFrame
from tersely.code.coverage.naming import is_defined_as, ways_in
from tersely.code.places import is_test
from tersely.code.symbols import CLASS_KINDS, Edge, Kind, Ranges, Symbol, SymbolsOf
from tersely.context.lenses.candidate import (
    CALLEE,
    RAISED,
    STACK,
    TARGET_SCORE,
    Candidate,
    View,
    merged,
    ranged_lines,
    ranked,
)
from tersely.context.lenses.coverage.evidence import (
    ExecutedFunction,
    HeaderLines,
    ran_functions,
)
from tersely.context.lenses.coverage.measured import Measured
from tersely.context.lenses.diff.changed_symbols import Side
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS, MAX_EXPANDED_SYMBOLS
from tersely.foundation.types import frozen, replace

FAILED = "failed test"
SUSPECT = "suspect"
COVERED = "covered function"

# Of a place that is on the stack of all failures; on that of a part of them, times the root of it,
# as Ochiai has it.
RAISED_SCORE = 0.98  # of the last place that is no test
STACK_SCORE = 0.7  # of those before it
ALIKE_SCORE = 0.2  # of a failed test that failed where another did
SUSPICIOUS_SCORE = 0.95  # of what all failing tests ran and no passing one
CALLEE_SCORE = 0.3  # of what a failed test calls and something ran
RAN_SCORE = 0.25  # of what ran most often, beside failures
ONLY_RAN_SCORE = 0.9  # of that, where nothing is known to have failed
TEST_PART = 0.2  # of its score that code for tests has, unless it failed
CALL_HOPS = 2  # from a failed test
LEAST_SHARE = 0.7  # of the score of the best suspect, that others have who are shown with it
AROUND_LINES = 2  # shown around lines of a long function
WHOLE_LINES = 24  # of a function that is shown whole
WHOLE_TEST_LINES = 10  # of a failed test


@frozen
class CoverageSources:
    """The questions of the lens to the repository."""

    symbols_of: SymbolsOf
    symbols_named: SymbolsOf
    symbol: Callable[[str], Symbol | None]
    callees: Callable[[str], Sequence[Edge]]
    header_lines: HeaderLines


class _Place(NamedTuple):
    symbol: Symbol
    line: int  # 0 where only the symbol is known


class MostTargets(NamedTuple):
    """The most symbols of each sort that a pack shows before anything else."""

    tests: int  # that failed
    suspects: int  # functions that only, or mostly, failing tests ran


def view_of(
    found: Measured, sources: CoverageSources, most: MostTargets, *, failures_only: bool = False
) -> View:
    """Candidates for a pack about what ran."""
    stacks = [(failure, _places(failure, sources)) for failure in found.failures]
    functions = list(ran_functions(found, sources.symbols_of, sources.header_lines))
    candidates = list(_failed(stacks, most.tests))
    candidates += _suspicious(functions)
    if stacks:
        candidates += _called(stacks, functions, sources)
    if not failures_only:
        candidates += _frequent(functions, found, RAN_SCORE if stacks else ONLY_RAN_SCORE)
    best_first = ranked(_with_suspects(list(_combined(candidates)), most.suspects))
    listed = tuple(sorted(best_first, key=lambda one: not (one.is_target and one.reason == FAILED)))
    left = Counter(one.reason for one in listed[MAX_CANDIDATES_SYMBOLS:])
    # A whole file would stand before the failed tests, and say neither which of its lines are
    # suspicious nor why.
    apart = frozenset(one.symbol.path for one in listed if stacks or one.reason == SUSPECT)
    return View(listed[:MAX_CANDIDATES_SYMBOLS], dict(sorted(left.items())), apart=apart)


def _with_suspects(candidates: Sequence[Candidate], most: int) -> Iterator[Candidate]:
    """The same, the best of what is suspicious or failed made targets: a pack that only names them
    explains nothing.
    """
    found = (
        one
        for one in candidates
        if one.reason in {SUSPECT, RAISED} and not is_test(one.symbol.path)
    )
    best = sorted(found, key=lambda one: (-one.score, one.symbol.id))[:most]
    chosen = {one.symbol.id for one in best if one.score >= LEAST_SHARE * best[0].score}
    for one in candidates:
        yield replace(one, score=TARGET_SCORE) if one.symbol.id in chosen else one


def _combined(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """One candidate a symbol: what speaks most for it, with the lines of all and what makes it
    suspicious.
    """
    found: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        found[one.symbol.id].append(one)
    for listed in found.values():
        best = max(listed, key=lambda one: one.score)
        also = next(
            (one for one in listed if one.reason == SUSPECT and best.reason != SUSPECT), None
        )
        evidence = best.evidence
        if also is not None and best.reason != FAILED:
            evidence = "; ".join(filter(None, [evidence, f"{SUSPECT} {also.evidence}"]))
        parts = merged(part for one in listed for part in one.parts)
        is_whole = not best.parts and best.reason in {FAILED, RAISED, STACK, SUSPECT}
        yield replace(best, parts=() if is_whole else parts, evidence=evidence)


def _places(failure: FailedTest, sources: CoverageSources) -> list[_Place]:
    """The stack of a failure in symbols, the failed test alone where there is none."""
    placed = [_place(frame, sources) for frame in failure.frames]
    found = [one for one in placed if one is not None]
    if any(is_test(one.symbol.path) for one in found):
        return found
    test = definition_of_test(failure.test, sources.symbols_named)
    return [_Place(test, 0), *found] if test is not None else found


def _place(frame: FailureFrame, sources: CoverageSources) -> _Place | None:
    symbols = sources.symbols_of(frame.path)
    if not symbols or frame.line > symbols[0].end_line:
        return None
    return _Place(Side(frame.path, b"", symbols).owners(frame.line)[frame.line], frame.line)


def definition_of_test(name: str, symbols_named: SymbolsOf) -> Symbol | None:
    """The function that defines a test, if its name tells."""
    for parts in ways_in(name):
        found = [
            one for one in symbols_named(parts[-1]) if is_defined_as(parts, one.path, one.qualname)
        ]
        if len(found) == 1:
            return found[0]
    return None


def _failed(
    stacks: Sequence[tuple[FailedTest, list[_Place]]], most_targets: int
) -> Iterator[Candidate]:
    """The places where tests failed, and what led there."""
    lines: dict[str, set[int]] = defaultdict(set)
    shares: Counter[str] = Counter()
    for _, places in stacks:
        shares.update({place.symbol.id for place in places})
        for place in places:
            lines[place.symbol.id].add(place.line)
    targets: set[str] = set()
    causes: set[tuple[str, int]] = set()
    for failure, places in stacks:
        tests = [place for place in places if is_test(place.symbol.path)]
        is_new = _cause(failure, places) not in causes
        causes.add(_cause(failure, places))
        for place in places:
            score, reason = _rank(place, places, tests)
            if reason == FAILED:
                if is_new and len(targets) < most_targets:
                    targets.add(place.symbol.id)
                score = TARGET_SCORE if place.symbol.id in targets else ALIKE_SCORE
            else:
                score *= sqrt(shares[place.symbol.id] / len(stacks))
            whole = WHOLE_TEST_LINES if reason == FAILED else WHOLE_LINES
            parts = _parts(place.symbol, lines[place.symbol.id], whole)
            evidence = failure.message if reason in {FAILED, RAISED} else ""
            yield Candidate(place.symbol, score, reason, parts=parts, evidence=evidence)


def _cause(failure: FailedTest, places: Sequence[_Place]) -> tuple[str, int]:
    """The place where a test failed: of tests that fail at one place, one tells what the others
    would.
    """
    return (
        (places[-1].symbol.id, places[-1].line)
        if places and places[-1].line
        else (failure.message, 0)
    )


def _rank(place: _Place, places: Sequence[_Place], tests: Sequence[_Place]) -> tuple[float, str]:
    if tests and place.symbol == tests[-1].symbol:
        return TARGET_SCORE, FAILED
    if place is places[-1]:
        return (RAISED_SCORE, RAISED) if tests else (TARGET_SCORE, FAILED)
    return STACK_SCORE * (TEST_PART if is_test(place.symbol.path) else 1), STACK


def _suspicious(functions: Sequence[ExecutedFunction]) -> Iterator[Candidate]:
    for one in functions:
        if one.suspicion:
            score = SUSPICIOUS_SCORE * one.suspicion * _weight(one.symbol)
            told = (
                f"{one.suspicion:.2f}, line{'s' * (len(one.worst) > 1)} {ranged_lines(one.worst)}: "
                f"{one.failing} failing, {one.passing} passing"
            )
            yield Candidate(
                one.symbol, score, SUSPECT, parts=_parts(one.symbol, one.worst), evidence=told
            )


def _called(
    stacks: Sequence[tuple[FailedTest, list[_Place]]],
    functions: Sequence[ExecutedFunction],
    sources: CoverageSources,
) -> Iterator[Candidate]:
    """The callees of failed tests, as far as they ran."""
    ran = {one.symbol.id for one in functions}
    tests = {place for _, places in stacks for place in places if is_test(place.symbol.path)}
    named = {one.id: place.symbol.id for place in tests for one in _around(place, sources)}
    frontier, seen = sorted(named), set(named)
    for hop in range(1, CALL_HOPS + 1):
        reached = []
        for near in frontier[:MAX_EXPANDED_SYMBOLS]:
            for edge in sources.callees(near):
                symbol = (
                    sources.symbol(edge.callee)
                    if edge.callee in ran and edge.callee not in seen
                    else None
                )
                if symbol is not None:
                    seen.add(symbol.id)
                    reached.append(symbol.id)
                    yield Candidate(
                        symbol, CALLEE_SCORE / hop * _weight(symbol), CALLEE, named.get(near, near)
                    )
        frontier = reached


def _around(place: _Place, sources: CoverageSources) -> list[Symbol]:
    """The definition at a place, and those without a name inside it that are around the line: tests
    may be such.
    """
    around = [
        one
        for one in sources.symbols_of(place.symbol.path)
        if one.kind is Kind.LAMBDA and one.start_line <= place.line <= one.end_line
    ]
    return [place.symbol, *around]


def _frequent(
    functions: Sequence[ExecutedFunction], found: Measured, best: float
) -> Iterator[Candidate]:
    """The symbols that ran, by how often: in how many tests where they are known, else how many
    times, else how much of it.
    """
    by_tests, by_times = bool(found.tests), found.counts_times
    often = [
        one.tests if by_tests else one.times if by_times else len(one.lines) for one in functions
    ]
    most = log1p(max(often, default=0))
    for one, number in zip(functions, often, strict=True):
        if number:
            told = (
                f"by {number} test{'s' * (number != 1)}"
                if by_tests
                else f"{number:,} times"
                if by_times
                else ""
            )
            share = (
                f"{len(one.lines)} of {len(one.lines) + len(one.missed)} lines"
                if found.knows_missed
                else ""
            )
            score = best * log1p(number) / most * _weight(one.symbol)
            yield Candidate(
                one.symbol, score, COVERED, evidence=", ".join(filter(None, [told, share]))
            )


def _weight(symbol: Symbol) -> float:
    return TEST_PART if is_test(symbol.path) else 1.0


def _parts(
    symbol: Symbol, lines: Sequence[int] | set[int], whole_lines: int = WHOLE_LINES
) -> Ranges:
    """The lines that say something with some around them, of a symbol that is long; all of a short
    one.
    """
    is_short = symbol.end_line - symbol.start_line < whole_lines
    known = [line for line in lines if line]
    if not known or (is_short and symbol.kind not in {*CLASS_KINDS, Kind.MODULE, Kind.NAMESPACE}):
        return ()
    first, last = symbol.start_line, symbol.end_line
    return merged((max(first, at - AROUND_LINES), min(last, at + AROUND_LINES)) for at in known)
