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
from typing import NamedTuple

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
LEAST_SHARE, SHARE_OF_CHANCE, MOST_SHARE = 0.35, 0.6, 0.85
LEAST_CUT_TOKENS = 200  # that others have left of a budget, to which a function is cut down
INDENTED = 1.2  # times the tokens of lines, with indentation and what says why they are shown
LEAST_LINES = 5  # that a symbol costs, with that line
ROOM_TOKENS = (
    30  # of a budget for each line of likely symbols, with which there is room for what is around
)
SEEDS = 3  # symbols of whose callers and callees a line each is shown
LEAST_SEED_CHANCE = 0.1
WHOLE_SHARE = 0.75  # of its tokens, from which on a function is shown whole if that fits


class _Sized(NamedTuple):
    """A symbol with the lines and tokens that all of it takes, about, and the tokens that it may
    take.
    """

    likely: LikelySymbol
    lines: int
    tokens: float
    most: float

    @property
    def most_lines(self) -> int:
        """The lines that may be shown, about."""
        return min(self.lines, round(self.most * self.lines / self.tokens))

    def within(self, left: float) -> _Sized:
        """The same with the tokens that others have left: all of it where that is nearly
        its share.
        """
        if WHOLE_SHARE * self.tokens <= self.most and self.tokens <= left:
            return self._replace(most=self.tokens)
        return self._replace(most=min(self.most, left)) if left >= LEAST_CUT_TOKENS else self


def planned(
    location: Location, neighbours: Neighbours, source: SourceLines, budget: int, *, fill: bool
) -> View:
    """The candidates of a pack for a task, in the order in which they are to be shown."""
    likely = outermost(one for one in location.symbols if fill or one.chance >= FLOOR)
    sized = {one.symbol.id: _sized(one, source, budget) for one in likely}

    def worth(one: LikelySymbol) -> float:
        return one.chance / math.sqrt(max(LEAST_LINES, sized[one.symbol.id].most_lines))

    shown = sorted(likely, key=lambda one: (-worth(one), one.symbol.id))
    candidates: list[Candidate] = []
    left: float = budget
    for place, one in enumerate(shown):
        fitting = sized[one.symbol.id].within(left)
        taken = min(fitting.tokens, fitting.most)
        left -= taken if taken <= left else 0.0
        candidates.append(_whole(fitting, location, source, place))
    if ROOM_TOKENS * sum(one.most_lines for one in sized.values()) < budget:
        seeds = [one.symbol for one in shown[:SEEDS] if one.chance >= LEAST_SEED_CHANCE]
        around = view_of(seeds, neighbours, depth=1).candidates
        known = {one.symbol.id for one in shown}
        candidates += [one for one in around if one.symbol.id not in known and not one.is_target]
    apart = frozenset(one.symbol.path for one in candidates if one.parts)
    return View(tuple(candidates), apart=apart, lens="task", in_order=True)


def _sized(one: LikelySymbol, source: SourceLines, budget: int) -> _Sized:
    lines = source.of(one.symbol)
    tokens = INDENTED * tokens_of(line.text.strip() for line in lines)
    share = min(MOST_SHARE, LEAST_SHARE + SHARE_OF_CHANCE * one.chance)
    return _Sized(one, len(lines), max(1.0, tokens), share * budget)


def _whole(one: _Sized, location: Location, source: SourceLines, place: int) -> Candidate:
    """A symbol with its source, cut down to windows where it is long; a long class with its outline
    alone.
    """
    symbol = one.likely.symbol
    score = NEAR_TARGET_SCORE - place / 1_000
    common = Candidate(symbol, score, certainty(one.likely.chance), evidence=one.likely.reason)
    if one.lines <= one.most_lines:
        return replace(common, whole_only=True)
    if symbol.kind not in CALLABLE_KINDS:
        return common
    parts = windows(symbol, location, source, one.most_lines)
    return replace(common, whole_only=True, parts=parts)
