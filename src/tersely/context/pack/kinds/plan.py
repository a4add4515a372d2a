"""The pack for a task: the likeliest symbols whole, what they lead to, and the names of the rest.

Symbols are taken in the order of their chance of being changed, for the first finds are read first;
worth by token decides nothing among them. A body that is taken is never cut at its end: a long
function is cut down to the windows that hold words of the task, lines of its traces and what those
depend on. Then come steps along calls and bases from the likeliest. Below a floor of chance nothing
more is added, whatever the budget: what is not needed costs as much as what is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tersely.code.symbols import CALLABLE_KINDS, Kind, Ranges, Symbol
from tersely.context.lenses.candidate import (
    BASE,
    CALLEE,
    NEAR_TARGET_SCORE,
    TYPE,
    Candidate,
    View,
    merged,
)
from tersely.context.lenses.localization.rank import LikelySymbol, Location
from tersely.context.pack.excerpt import Line
from tersely.context.pack.kinds.packet import certainty

FLOOR = 0.03  # the least chance of a symbol that is shown
MAX_SHOWN = 12  # symbols of which more than the name is shown, unless a budget is to be filled
MAX_FILES = 5  # that they are in
MAX_NAMED = 10  # further symbols, by name alone
SEEDS = 3  # likeliest symbols from which calls and bases are followed
LONG_LINES = 100  # of code; a function with more is cut down to windows
HEAD_LINES = 2  # of a function that is cut down, which are always shown
WINDOW_LINES = 8  # before and after a line that matters
MAX_WINDOW_LINES = 100  # of one function
WHOLE_SHARE = 0.75  # of its lines, from which on a function is shown whole after all
# What a step from a symbol that is changed is likely to lead to one as well.
STEP_CHANCE = {CALLEE: 0.12, BASE: 0.1, TYPE: 0.05}


@dataclass(frozen=True, slots=True)
class PlanSources:
    """The questions of planning to the graph and to files."""

    around: Callable[[Symbol], Sequence[Candidate]]  # what a symbol leads to in one step
    lines: Callable[[Symbol], Sequence[Line]]  # of its source, without documentation
    # lines of a function on which one of them depends, itself included
    depends: Callable[[Symbol, int], Iterable[int]]


def planned(location: Location, sources: PlanSources, *, fill: bool) -> View:
    """The candidates of a pack for a task, in the order in which they are to be shown."""
    ranked = _with_steps(location.symbols, sources)
    shown = _shown(ranked)
    ids = {one.symbol.id for one in shown}
    candidates = [_whole(one, location, sources, place) for place, one in enumerate(shown)]
    rest = [one for one in ranked if one.symbol.id not in ids]
    if fill:
        candidates += [replace(_named(one), outline_only=False) for one in rest]
    else:
        paths = {one.symbol.path for one in shown}
        candidates += [_named(one) for one in rest if one.symbol.path in paths][:MAX_NAMED]
    apart = frozenset(one.symbol.path for one in candidates if one.parts)
    return View(tuple(candidates), apart=apart, lens="task", in_order=not fill)


def _shown(ranked: Sequence[LikelySymbol]) -> list[LikelySymbol]:
    """The likeliest that are worth their tokens, of a handful of files; nothing inside of what is
    shown already.
    """
    shown: list[LikelySymbol] = []
    paths: set[str] = set()
    for one in ranked:
        is_new_file = one.symbol.path not in paths
        if one.chance < FLOOR or len(shown) == MAX_SHOWN:
            break
        if (is_new_file and len(paths) == MAX_FILES) or any(
            _holds(other.symbol, one.symbol) for other in shown
        ):
            continue
        paths.add(one.symbol.path)
        shown.append(one)
    return shown


def _holds(outer: Symbol, inner: Symbol) -> bool:
    """True if showing one function shows another one too."""
    within = (
        outer.path == inner.path
        and outer.start_byte <= inner.start_byte
        and inner.end_byte <= outer.end_byte
    )
    return within and outer.kind in CALLABLE_KINDS


def _with_steps(symbols: Sequence[LikelySymbol], sources: PlanSources) -> list[LikelySymbol]:
    """The likely symbols with what the first of them call, extend and use, the likeliest first;
    nothing is asked for whose answer could not reach the floor.
    """
    found = {one.symbol.id: one for one in symbols}
    for seed in symbols[:SEEDS]:
        leads_on = seed.chance * STEP_CHANCE[CALLEE] >= FLOOR
        for candidate in sources.around(seed.symbol) if leads_on else ():
            symbol = candidate.symbol
            chance = seed.chance * STEP_CHANCE.get(candidate.reason, 0.0) * candidate.score
            if symbol.kind is Kind.MODULE or not chance:
                continue
            before = found.get(symbol.id)
            reason = f"{candidate.reason} of {seed.symbol.qualname}"
            if before is None:
                found[symbol.id] = LikelySymbol(symbol, chance, reason)
            else:
                joined = 1 - (1 - before.chance) * (1 - chance)
                why = before.reason if before.chance > chance else reason
                found[symbol.id] = replace(before, chance=joined, reason=why)
    return sorted(found.values(), key=lambda one: (-one.chance, one.symbol.id))


def _whole(one: LikelySymbol, location: Location, sources: PlanSources, place: int) -> Candidate:
    """A symbol with its source, cut down to windows where it is long; a long class with its outline
    alone.
    """
    symbol = one.symbol
    score = NEAR_TARGET_SCORE - place / 1_000
    common = Candidate(symbol, score, certainty(one.chance), evidence=one.reason)
    if len(sources.lines(symbol)) <= LONG_LINES:
        return replace(common, whole_only=True)
    if symbol.kind not in CALLABLE_KINDS:
        return common
    return replace(common, whole_only=True, parts=_windows(symbol, location, sources))


def _windows(symbol: Symbol, location: Location, sources: PlanSources) -> Ranges:
    """The parts of a long function that the task speaks of; nothing where that is most of it, or
    nothing at all.
    """
    lines = sources.lines(symbol)
    weights = _line_weights([line.text for line in lines], location.words)
    chosen = {line.number for line in lines[:HEAD_LINES]}
    named = [line for path, line in location.trace_lines if path == symbol.path]
    for line in [line for line in named if symbol.start_line <= line <= symbol.end_line]:
        chosen.update(sources.depends(symbol, line))
    for at in sorted(weights, key=lambda at: (-weights[at], at)):
        window = {line.number for line in lines[max(0, at - WINDOW_LINES) : at + WINDOW_LINES + 1]}
        if len(chosen | window) > MAX_WINDOW_LINES:
            break
        chosen |= window
    is_most = len(chosen) >= WHOLE_SHARE * len(lines)
    return () if is_most else merged([(line, line) for line in chosen])


def _line_weights(lines: Sequence[str], words: Sequence[str]) -> dict[int, float]:
    """By position, how many of the words a line has, the rarer ones first in the order counting
    more.
    """
    weights: dict[int, float] = {}
    wanted = [word.lower() for word in words]
    for at, line in enumerate(lines):
        text = line.lower()
        weight = sum(1 / (1 + place) for place, word in enumerate(wanted) if word in text)
        if weight:
            weights[at] = weight
    return weights


def _named(one: LikelySymbol) -> Candidate:
    """A symbol that is told by its name."""
    return Candidate(
        one.symbol, max(0.01, min(one.chance, 0.5)), certainty(one.chance), outline_only=True
    )
