"""Groups of functions that resemble each other: stars around an exemplar.

Single linkage would chain: a like b, b like c, and a nothing like c. Here each member resembles the
exemplar, so that the exemplar and the differences say everything. Exemplars are chosen greedily:
who has the most neighbours goes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from tersely.code.search.duplicates.collection import Functions
from tersely.code.search.duplicates.minhash import (
    ESTIMATE_MARGIN,
    agreement,
    candidate_pairs,
    jaccard,
)
from tersely.foundation.arrays import Ints, np


class Alike(NamedTuple):
    """A function and how much of its text another one has, from 0 to 1: the Jaccard similarity of
    their shingles.
    """

    function: int
    similarity: float


class Cluster(NamedTuple):
    """An exemplar and those that resemble it, the most similar first."""

    exemplar: int
    members: tuple[Alike, ...]


def similar(
    functions: Functions, index: int, least: float, is_within: Callable[[int, int], bool]
) -> list[Alike]:
    """The functions that resemble one, the most similar first, but for those that it holds or that
    hold it.
    """
    table = functions.table
    near = np.flatnonzero(
        agreement(table.signatures, table.signatures[index]) >= least - ESTIMATE_MARGIN
    )
    near = near[near != index]
    pairs = np.stack((np.full(len(near), index), near), axis=1)
    similarities = zip(near.tolist(), jaccard(table.sets, pairs).tolist(), strict=True)
    found = [Alike(*one) for one in similarities if one[1] >= least]
    own = functions.file_of[index]
    apart = (
        one
        for one in found
        if functions.file_of[one.function] != own or not is_within(index, one.function)
    )
    return sorted(apart, key=lambda one: (-one.similarity, one.function))


def clusters(
    functions: Functions,
    chosen: Ints,
    least: float,
    is_within: Callable[[int, int], bool],
) -> list[Cluster]:
    """The clusters among chosen functions. Of one that stands inside of another nothing new is
    learnt: `is_within`.
    """
    table = functions.table
    pairs = (
        chosen[candidate_pairs(table.signatures[chosen], least)]
        if len(chosen)
        else np.empty((0, 2), np.int64)
    )
    neighbours: dict[int, dict[int, float]] = defaultdict(dict)
    for (one, other), similarity in zip(
        pairs.tolist(), jaccard(table.sets, pairs).tolist(), strict=True
    ):
        if similarity >= least and not (
            functions.file_of[one] == functions.file_of[other] and is_within(one, other)
        ):
            neighbours[one][other] = neighbours[other][one] = similarity
    found = []
    order = sorted(
        neighbours, key=lambda one: (-len(neighbours[one]), -int(table.tokens[one]), one)
    )
    free = set(neighbours)
    for exemplar in order:
        members = [
            Alike(one, similarity)
            for one, similarity in neighbours[exemplar].items()
            if one in free
        ]
        if exemplar in free and members:
            members.sort(key=lambda one: (-one.similarity, one.function))
            found.append(Cluster(exemplar, tuple(members)))
            free -= {exemplar, *(one.function for one in members)}
    return found
