"""The pack for a task: the likeliest symbols whole, and what they lead to.

Symbols are taken in the order of their chance of being changed, for the first finds are read first;
worth by token decides nothing among them. A body that is taken is never cut at its end: a long
function is cut down to the windows that hold words of the task, lines of its traces and what those
depend on. Then come steps along calls and bases from the likeliest. Below a floor of chance nothing
more is added, whatever the budget: what is not needed costs as much as what is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.context.lenses.candidate import (
    BASE,
    CALLEE,
    NEAR_TARGET_SCORE,
    TYPE,
    Candidate,
    View,
)
from tersely.context.lenses.localization.rank import LikelySymbol, Location
from tersely.context.lenses.neighbours import Neighbours, view_of
from tersely.context.pack.kinds.packet import certainty, outermost
from tersely.context.pack.sliced import SourceLines, windows

FLOOR = 0.005  # the least chance of a symbol that is shown
SEEDS = 3  # likeliest symbols from which calls and bases are followed
STEP_FLOOR = 0.03  # the least chance that a call from one of them has to give
# Of a budget, one in so many tokens pays for a line of a function that is changed as likely as not; one
# with more lines is cut down to windows.
LONG_TOKENS = 20
WHOLE_SHARE = 0.75  # of its lines, from which on a function is shown whole after all
# What a step from a symbol that is changed is likely to lead to one as well.
STEP_CHANCE = {CALLEE: 0.12, BASE: 0.1, TYPE: 0.05}


def planned(
    location: Location, neighbours: Neighbours, source: SourceLines, budget: int, *, fill: bool
) -> View:
    """The candidates of a pack for a task, in the order in which they are to be shown."""
    ranked = _with_steps(location.symbols, neighbours)
    shown = outermost(one for one in ranked if fill or one.chance >= FLOOR)
    candidates = [_whole(one, location, source, budget, place) for place, one in enumerate(shown)]
    apart = frozenset(one.symbol.path for one in candidates if one.parts)
    return View(tuple(candidates), apart=apart, lens="task", in_order=True)


def _with_steps(symbols: Sequence[LikelySymbol], neighbours: Neighbours) -> list[LikelySymbol]:
    """The likely symbols with what the first of them call, extend and use, the likeliest first;
    nothing is asked for whose answer could not reach the floor of steps.
    """
    found = {one.symbol.id: one for one in symbols}
    for seed in symbols[:SEEDS]:
        leads_on = seed.chance * STEP_CHANCE[CALLEE] >= STEP_FLOOR
        for candidate in _around(seed.symbol, neighbours) if leads_on else ():
            symbol = candidate.symbol
            chance = seed.chance * STEP_CHANCE.get(candidate.reason, 0.0) * candidate.score
            if symbol.kind is Kind.MODULE or not chance:
                continue
            reason = f"{candidate.reason} of {seed.symbol.qualname}"
            before = found.get(symbol.id, LikelySymbol(symbol, 0.0, reason))
            joined = 1 - (1 - before.chance) * (1 - chance)
            why = before.reason if before.chance > chance else reason
            found[symbol.id] = LikelySymbol(symbol, joined, why)
    return sorted(found.values(), key=lambda one: (-one.chance, one.symbol.id))


def _around(symbol: Symbol, neighbours: Neighbours) -> Sequence[Candidate]:
    """What a symbol leads to in one step."""
    depth = 0 if symbol.kind in CLASS_KINDS else 1
    return view_of([symbol], neighbours, depth=depth, callers=False).candidates


def _whole(
    one: LikelySymbol, location: Location, source: SourceLines, budget: int, place: int
) -> Candidate:
    """A symbol with its source, cut down to windows where it is long; a long class with its outline
    alone.
    """
    symbol = one.symbol
    score = NEAR_TARGET_SCORE - place / 1_000
    common = Candidate(symbol, score, certainty(one.chance), evidence=one.reason)
    lines, long_lines = len(source.of(symbol)), round((0.5 + one.chance) * budget / LONG_TOKENS)
    if lines <= long_lines:
        return replace(common, whole_only=True)
    if symbol.kind not in CALLABLE_KINDS:
        return common
    parts = windows(symbol, location, source, long_lines)
    is_most = sum(last - first + 1 for first, last in parts) >= WHOLE_SHARE * lines
    return replace(common, whole_only=True, parts=() if is_most else parts)
