"""How good a ranking is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple


class Quality(NamedTuple):
    """Means over questions, from 0 to 1."""

    reciprocal_rank: float  # of the first answer among the hits
    recall: float  # the share of the answers that are among the hits


def quality(ranked: Iterable[tuple[Sequence[str], Collection[str]]]) -> Quality:
    """Of (hits, answers) for each question."""
    reciprocal, recalls = [], []
    for hits, answers in ranked:
        ranks = [rank for rank, hit in enumerate(hits, 1) if hit in answers]
        reciprocal.append(1 / ranks[0] if ranks else 0.0)
        recalls.append(len(ranks) / len(answers))
    return Quality(_mean(reciprocal), _mean(recalls))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
