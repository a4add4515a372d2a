"""The chance of each piece that it is needed: the odds of a logistic regression, and its rank among
the pieces of this change.

A regression judges each figure by what it is, and what is much in one repository is little in
another. So its odds are averaged with a plain ranking that knows no more than which piece has more
of each sort of evidence than the others: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).

The weights are fitted by `tools/build_diff_weights.py` to commits of the public repositories that
`needed.json` lists; none of them is among those that `bench/groundtruth/diff_context.py` judges by.
Tests were no part of what was hidden. 250 boosted trees over 74 figures, grown from as many commits,
covered no more of other repositories.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.places import is_test
from tersely.context.lenses.candidate import COCHANGE, MENTION, NEIGHBOUR, WORDING
from tersely.context.lenses.diff.evidence import FIELDS, Evidence

SHIPPED = "needed.json"

# by the regression, the best by the plain ranking; needed ones were among the first 300
MAX_WEIGHED_PIECES = 500
ODDS_WEIGHT = 0.5  # of the odds of the regression, beside the logarithm of the fused ranks
FUSED_OFFSET = 10  # of a rank, by which the first of one list does not outdo good places in several
# of its chance that a piece of a test has, since a change is finished in the code first
TEST_SHARE = 0.06
SYMBOL_SHARE = 0.2  # that a line counts for the other pieces of its symbol
# What each list is sorted by: figures and what they count, summed; and what it says of a piece that
# it is the reason for showing it.
LISTS: tuple[tuple[str, Mapping[str, float]], ...] = (
    (WORDING, {"words": 1.0, "name_words": 1.0}),
    (WORDING, {"body_words": 1.0}),
    (MENTION, {"gone": 1.0, "brought": 1.0, "symbol_gone": SYMBOL_SHARE}),
    (MENTION, {
        "alike_removed": 1.0, "alike_added": 1.0,
        "symbol_alike_removed": SYMBOL_SHARE, "symbol_alike_added": SYMBOL_SHARE,
    }),
    (NEIGHBOUR, {"order": 1.0, "near": 1.0, "same_file": 1.0}),
    (COCHANGE, {"churn": 1.0, "together": 1.0, "cochanged_file": 1.0}),
)  # fmt: skip

Figures = NDArray[np.float64]


class Weights(NamedTuple):
    """A regression; arrays are in the order of `FIELDS`."""

    base: float  # the odds of all zeros
    each: Figures  # 0 for what is in lists alone
    most: Figures  # that counts of a figure

    def odds(self, figures: Figures) -> Figures:
        """The logarithm of the odds for each row."""
        return np.minimum(figures, self.most) @ self.each + self.base


@cache
def shipped() -> Weights:
    """The weights that come with us."""
    known = json.loads(Path(__file__).with_name(SHIPPED).read_text("utf-8"))
    each, most = np.array([known["figures"].get(name, (0.0, 0.0)) for name in FIELDS]).T
    return Weights(known["base"], each, most)


def chances(evidence: Evidence) -> Figures:
    """The chance of each piece that it is needed; none of those that are far down in the plain
    ranking.
    """
    near = np.argsort(-fused(evidence.figures), kind="stable")[:MAX_WEIGHED_PIECES]
    odds = np.full(len(evidence.figures), -np.inf)
    odds[near] = shipped().odds(evidence.figures[near])
    return weighed(evidence, odds)


def weighed(evidence: Evidence, odds: Figures) -> Figures:
    """The chances by the logarithms of the odds."""
    tests = np.array([is_test(region.symbol.path) for region in evidence.regions], bool)
    averaged = ODDS_WEIGHT * odds + np.log(fused(evidence.figures))
    found: Figures = 1 / (1 + np.exp(-averaged))
    return np.where(tests, TEST_SHARE * found, found)


def fused(figures: Figures) -> Figures:
    """The nearness of each piece to the top of all lists, 1 for the best of all pieces."""
    found: Figures = (1 / (FUSED_OFFSET + placed(figures))).sum(axis=1)
    best: Figures = found / found.max(initial=1e-9)
    return best


def placed(figures: Figures) -> Figures:
    """The rank of each piece from 0 in each of the lists, (piece, list)."""
    return np.column_stack([
        _ranks(figures[:, [FIELDS.index(name) for name in counting]] @ [*counting.values()])
        for _, counting in LISTS
    ])  # fmt: skip


def reasons(figures: Figures, rows: Sequence[int]) -> list[str]:
    """For some of all pieces what the list says in which each has the best place."""
    return [LISTS[at][0] for at in placed(figures)[rows].argmin(axis=1).tolist()]


def _ranks(worths: Figures) -> Figures:
    """The rank of each from 0, the best first; those that are equal share the middle of their
    ranks.
    """
    ordered = np.sort(-worths)
    before, upto = (ordered.searchsorted(-worths, side) for side in ("left", "right"))
    ranks: Figures = (before + upto - 1) / 2
    return ranks
