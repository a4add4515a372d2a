"""The pack for a task: the likeliest symbols whole, long functions as windows, and a line each for
what is around them.

The first finds are read first, and several that are short are worth more than one that is long:
symbols come in the order of their chance of being changed by the root of the lines that they take. A
body that is taken is never cut at its end: a long function is cut down to the windows that hold words
of the task, lines of its traces and what those depend on. The graph is asked about what is shown
alone, and only where that leaves room: following calls and bases to further bodies showed no more of
what was needed.
"""

from __future__ import annotations

import math

from tersely.code.symbols import CALLABLE_KINDS
from tersely.context.lenses.candidate import NEAR_TARGET_SCORE, Candidate, View
from tersely.context.lenses.diff.selection import tokens_of
from tersely.context.lenses.localization.rank import LikelySymbol, Location
from tersely.context.lenses.neighbours import Neighbours, view_of
from tersely.context.pack.kinds.packet import certainty, outermost
from tersely.context.pack.sliced import SourceLines, windows
from tersely.foundation.types import replace

FLOOR = 0.005  # the least chance of a symbol that is shown
# The share of a budget that pays for a function, by the chance that it is changed: a longer one is cut
# down to windows, and what is likeliest never takes it all.
LEAST_SHARE, SHARE_OF_CHANCE, MOST_SHARE = 0.3, 0.6, 0.75
LEAST_LINES = 5  # that a symbol costs, with the line that says why it is shown
ROOM_TOKENS = (
    30  # of a budget for each line of likely symbols, with which there is room for what is around
)
SEEDS = 3  # symbols of whose callers and callees a line each is shown
LEAST_SEED_CHANCE = 0.1
WHOLE_SHARE = 0.75  # of its lines, from which on a function is shown whole after all


def planned(
    location: Location, neighbours: Neighbours, source: SourceLines, budget: int, *, fill: bool
) -> View:
    """The candidates of a pack for a task, in the order in which they are to be shown."""
    likely = outermost(one for one in location.symbols if fill or one.chance >= FLOOR)
    lines = {
        one.symbol.id: min(len(source.of(one.symbol)), _most_lines(one, source, budget))
        for one in likely
    }

    def worth(one: LikelySymbol) -> float:
        return one.chance / math.sqrt(max(LEAST_LINES, lines[one.symbol.id]))

    shown = sorted(likely, key=lambda one: (-worth(one), one.symbol.id))
    candidates = [_whole(one, location, source, budget, place) for place, one in enumerate(shown)]
    if ROOM_TOKENS * sum(lines.values()) < budget:
        seeds = [one.symbol for one in shown[:SEEDS] if one.chance >= LEAST_SEED_CHANCE]
        around = view_of(seeds, neighbours, depth=1).candidates
        known = {one.symbol.id for one in shown}
        candidates += [one for one in around if one.symbol.id not in known and not one.is_target]
    apart = frozenset(one.symbol.path for one in candidates if one.parts)
    return View(tuple(candidates), apart=apart, lens="task", in_order=True)


def _most_lines(one: LikelySymbol, source: SourceLines, budget: int) -> int:
    """The lines of a function that its share of a budget pays for, about."""
    share = min(MOST_SHARE, LEAST_SHARE + SHARE_OF_CHANCE * one.chance)
    lines = source.of(one.symbol)
    tokens = tokens_of(line.text.strip() for line in lines)
    return round(share * budget * len(lines) / max(1.0, tokens))


def _whole(
    one: LikelySymbol, location: Location, source: SourceLines, budget: int, place: int
) -> Candidate:
    """A symbol with its source, cut down to windows where it is long; a long class with its outline
    alone.
    """
    symbol = one.symbol
    score = NEAR_TARGET_SCORE - place / 1_000
    common = Candidate(symbol, score, certainty(one.chance), evidence=one.reason)
    lines, most_lines = len(source.of(symbol)), _most_lines(one, source, budget)
    if lines <= most_lines:
        return replace(common, whole_only=True)
    if symbol.kind not in CALLABLE_KINDS:
        return common
    parts = windows(symbol, location, source, most_lines)
    is_most = sum(last - first + 1 for first, last in parts) >= WHOLE_SHARE * lines
    return replace(common, whole_only=True, parts=() if is_most else parts)
