"""The choice of pieces to show: the most expected coverage for the tokens, by greedy choice.

The worth of a choice is the expected number of needed pieces in it, and taking by worth per cost is
the greedy rule for a knapsack. The first piece of a symbol costs its heading too, the first of a
file that of the file; the other pieces of a symbol are weighed anew when its heading is paid. Costs
are guesses, so they count for a little less than they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from tersely.code.symbols import Symbol
from tersely.context.lenses.diff.regions import Region
from tersely.foundation.arrays import Figures, np
from tersely.foundation.types import Sums, field, record

TOKENS_PER_BYTE = 0.27
LINE_TOKENS = 0.3  # that the end of a line takes
SYMBOL_TOKENS = 14  # of the first piece of a symbol, for what it is and its signature
FILE_TOKENS = 8  # of the first piece of a file, for its path
COST_POWER = 0.75
# of the tokens, for the pieces of one symbol, which are shown all or none; its first may take more
MOST_SHARE = 0.4
GAP_TOKENS = 6  # for the mark where lines are left out

Chances = Figures


def chosen(
    regions: Sequence[Region],
    chances: Chances,
    lines: Mapping[str, Sequence[str]],
    budget: float,
    least: float,
    known: Collection[str],
) -> list[int]:
    """The positions of the pieces to show within about so many tokens, the best first, none below
    the least chance.

    `known` are files of which something is shown in any case.
    """
    likely = np.flatnonzero(chances >= least).tolist()
    pieces = _by_symbol(likely, regions, lines)
    heap = [
        (-_worth(chances[at], cost + SYMBOL_TOKENS), at)
        for of_symbol in pieces.values()
        for at, cost in of_symbol.items()
    ]
    heapify(heap)
    purse = _Purse(budget, budget * MOST_SHARE, set(known))
    taken: dict[int, None] = {}
    while heap:
        _, at = heappop(heap)
        symbol = regions[at].symbol
        is_first = symbol.id not in purse.spent
        if at in taken or not purse.pays(symbol, pieces[symbol.id][at]):
            continue
        taken[at] = None
        if is_first:
            for mate, alone in pieces[symbol.id].items():
                heappush(heap, (-_worth(chances[mate], alone), mate))
    return list(taken)


@record
class _Purse:
    """The tokens that are left, and what has been paid for."""

    left: float
    most_of_symbol: float  # for all of its pieces; the first alone may take more
    files: set[str]
    spent: Sums = field(default_factory=dict)  # by symbol

    def pays(self, symbol: Symbol, alone: float) -> bool:
        """Pay for a piece of a symbol, and for headings that are new; False, and nothing is paid,
        if it is too much.
        """
        headings = SYMBOL_TOKENS * (symbol.id not in self.spent) + FILE_TOKENS * (
            symbol.path not in self.files
        )
        cost = alone + headings
        is_too_much = symbol.id in self.spent and self.spent[symbol.id] + cost > self.most_of_symbol
        if cost > self.left or is_too_much:
            return False
        self.left -= cost
        self.files.add(symbol.path)
        self.spent[symbol.id] = self.spent.get(symbol.id, 0.0) + cost
        return True


def _by_symbol(
    likely: Iterable[int], regions: Sequence[Region], lines: Mapping[str, Sequence[str]]
) -> dict[str, dict[int, float]]:
    """By symbol what each of its pieces costs beside the headings."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for at in likely:
        symbol, first, last = regions[at]
        found[symbol.id][at] = tokens_of(lines[symbol.path][first - 1 : last]) + GAP_TOKENS
    return found


def _worth(chance: float, cost: float) -> float:
    return float(chance / cost**COST_POWER)


def tokens_of(rows: Iterable[str]) -> float:
    """About the tokens of some lines."""
    return sum(len(row.encode("utf-8", "replace")) * TOKENS_PER_BYTE + LINE_TOKENS for row in rows)
