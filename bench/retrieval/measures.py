"""How good a ranking is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import log2
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


def ndcg(paths: Sequence[str], answers: Sequence[str], hits: int) -> float:
    """Normalised discounted cumulative gain of the first hit in each file that is an answer."""
    gains = [1 / log2(paths.index(answer) + 2) for answer in answers if answer in paths[:hits]]
    ideal = sum(1 / log2(rank + 2) for rank in range(min(hits, len(answers))))
    return sum(gains) / ideal if ideal else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
