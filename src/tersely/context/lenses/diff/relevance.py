"""The chance of each piece that it is needed: the odds of boosted trees, and its rank among the
pieces of this change.

Trees judge each figure by what it is, and what is much in one repository is little in another. So
their odds are averaged with a plain ranking that knows no more than which piece has more of each
sort of evidence than the others: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).

The trees were grown from 183 commits of the 21 public repositories that `tools/build_diff_trees.py`
lists, on the pieces that are weighed; none of them is among those that
`bench/groundtruth/diff_context.py` judges by. Tests were no part of what was hidden.
"""

from __future__ import annotations

from tersely.code.places import is_test
from tersely.context.lenses.diff.evidence import FIELDS, Evidence
from tersely.context.lenses.diff.trees import shipped
from tersely.foundation.arrays import Figures, np

# by trees, the best by the plain ranking; needed ones were among the first 300
MAX_WEIGHED_PIECES = 500
TREES_WEIGHT = 0.7  # of the odds of the trees
FUSED_WEIGHT = 0.75  # of the logarithm of the fused ranks
FUSED_OFFSET = 10  # of a rank, by which the first of one list does not outdo good places in several
# of its chance that a piece of a test has, since a change is finished in the code first
TEST_SHARE = 0.06
SYMBOL_SHARE = 0.2  # that a line counts for the other pieces of its symbol
# What each list is sorted by: figures and what they count, summed.
LISTS = (
    {"words": 1.0, "name_words": 1.0},
    {"body_words": 1.0},
    {"gone": 1.0, "brought": 1.0, "symbol_gone": SYMBOL_SHARE},
    {
        "alike_removed": 1.0, "alike_added": 1.0,
        "symbol_alike_removed": SYMBOL_SHARE, "symbol_alike_added": SYMBOL_SHARE,
    },
    {"order": 1.0, "near": 1.0, "same_file": 1.0},
    {"churn": 1.0, "together": 1.0, "cochanged_file": 1.0},
)  # fmt: skip


def chances(evidence: Evidence) -> Figures:
    """The chance of each piece that it is needed; none of those that are far down in the plain
    ranking.
    """
    near = np.argsort(-fused(evidence.figures), kind="stable")[:MAX_WEIGHED_PIECES]
    odds = np.full(len(evidence.figures), -np.inf)
    trees = shipped()
    odds[near] = trees.odds(evidence.figures[near][:, trees.columns(FIELDS)])
    return weighed(evidence, odds)


def weighed(evidence: Evidence, odds: Figures) -> Figures:
    """The chances by the logarithms of the odds that trees give."""
    tests = np.array([is_test(region.symbol.path) for region in evidence.regions], bool)
    averaged = TREES_WEIGHT * odds + FUSED_WEIGHT * np.log(fused(evidence.figures))
    found: Figures = 1 / (1 + np.exp(-averaged))
    return np.where(tests, TEST_SHARE * found, found)


def fused(figures: Figures) -> Figures:
    """The nearness of each piece to the top of all lists, 1 for the best of all pieces."""
    found = np.zeros(len(figures))
    for weights in LISTS:
        of_list = figures[:, [FIELDS.index(name) for name in weights]] @ np.array(
            list(weights.values())
        )
        found += 1 / (FUSED_OFFSET + _ranks(of_list))
    best: Figures = found / found.max(initial=1e-9)
    return best


def _ranks(worths: Figures) -> Figures:
    """The rank of each from 0, the best first; those that are equal share the middle of their
    ranks.
    """
    ordered = np.sort(-worths)
    before, upto = (ordered.searchsorted(-worths, side) for side in ("left", "right"))
    ranks: Figures = (before + upto - 1) / 2
    return ranks
