"""Scores by words: BM25 over fields (BM25F, Robertson and Zaragoza 2009), on stems of split
identifiers.

A term's count in each field is divided by how long the field is beside the average, multiplied by
the field's weight and summed; the sum saturates, and a term that few units have counts more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tersely.code.search.storage.collection import Collection, Postings
from tersely.code.search.units import FIELDS, Field
from tersely.foundation.arrays import Figures, Ints, np

CACHED_TERMS = 256  # of a long task, each asked for several times
CACHED_RARITIES = 4_096
SATURATION = 1.2  # k1: from where on a further occurrence says little
_TINY = 1e-9
# How much a word in the field counts.
_WEIGHTS = {
    Field.NAME: 5.0,
    Field.OWNER: 3.0,
    Field.PATH: 10.0,
    Field.SIGNATURE: 2.0,
    Field.BODY: 0.5,
    Field.CALLEE: 1.5,
    Field.DOC: 2.5,
}
# How far a field that is longer than the average is held to say less with each word (b), from 0 to
# 1.
_LENGTH_SHARES = {
    Field.NAME: 0.75,
    Field.OWNER: 0.75,
    Field.PATH: 0.9,
    Field.SIGNATURE: 0.3,
    Field.BODY: 0.2,
    Field.CALLEE: 0.2,
    Field.DOC: 0.6,
}
_BY_WEIGHT = [-_WEIGHTS[Field(number)] for number in range(FIELDS)]
WEIGHTS = np.array([_WEIGHTS[Field(number)] for number in range(FIELDS)])
LENGTH_SHARES = np.array([_LENGTH_SHARES[Field(number)] for number in range(FIELDS)])

Scores = Figures


class Having(NamedTuple):
    """The units that have a term."""

    postings: Postings
    starts: Ints  # where the postings of each unit begin
    units: Ints  # each once, ascending


class Lexicon:
    """Scores the units of one collection."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        # one question asks several times for each
        self._having = lru_cache(CACHED_TERMS)(self._read)
        self.rarity_of = lru_cache(CACHED_RARITIES)(self._rarity_of)
        total = max(1, len(collection))
        average = np.maximum(collection.lengths.sum(axis=0) / total, 1e-9)
        relative = collection.lengths / average
        # What an occurrence in a field of a unit counts.
        self._worth = (
            (WEIGHTS / (1 - LENGTH_SHARES + LENGTH_SHARES * relative)).ravel().astype(np.float32)
        )

    def _read(self, term: str) -> Having:
        postings = self.collection.postings(term)
        unit = postings.unit
        is_first = np.ones(len(unit), bool)
        np.not_equal(unit[1:], unit[:-1], out=is_first[1:])
        starts = np.flatnonzero(is_first)
        return Having(postings, starts, unit[starts])

    def term_scores(self, term: str) -> tuple[Ints, Scores]:
        """The units that have a term, ascending, and what it adds to their scores."""
        (unit, field, count), starts, found = self._having(term)
        if not len(unit):
            return unit, np.zeros(0)
        frequency = np.add.reduceat(count * self._worth[unit * FIELDS + field], starts)
        saturated = frequency * (SATURATION + 1) / (SATURATION + frequency)
        return found, saturated * self.rarity(len(found))

    def rarity(self, having: int) -> float:
        """The inverse document frequency of a term that so many units have."""
        return float(np.log(1 + (len(self.collection) - having + 0.5) / (having + 0.5)))

    def _rarity_of(self, term: str) -> float:
        """The inverse document frequency of a term."""
        return self.rarity(len(self._having(term).units))

    def ceiling(self, terms: Sequence[str]) -> float:
        """The score of a unit that had all terms as often as can be; those that nothing has
        count as the rarest.
        """
        having = (self.units_with(term) for term in terms)
        return sum(self.rarity(max(1, number)) * (SATURATION + 1) for number in having)

    def fields_of(self, term: str, units: Ints) -> dict[int, list[Field]]:
        """In which fields those of some units that have a term have it, the weightiest first."""
        unit, field, _ = self._having(term).postings
        firsts, lasts = np.searchsorted(unit, units), np.searchsorted(unit, units, side="right")
        return {
            number: sorted(map(Field, field[first:last].tolist()), key=_BY_WEIGHT.__getitem__)
            for number, first, last in zip(
                units.tolist(), firsts.tolist(), lasts.tolist(), strict=True
            )
            if first < last
        }

    def scores(self, terms: Iterable[str]) -> Scores:
        """The score of every unit for some terms, each once."""
        scores = np.zeros(len(self.collection))
        for term in dict.fromkeys(terms):
            found, added = self.term_scores(term)
            scores[found] += added
        return scores

    def units_with(self, term: str) -> int:
        """The number of units that have a term."""
        return len(self._having(term).units)

    def covered(self, terms: Sequence[str], units: Ints) -> Scores:
        """The share of the terms, weighed by rarity, that each of some units has anywhere, from 0
        to 1.
        """
        shares = np.zeros(len(units))
        total = 0.0
        for term in terms:
            having = self._having(term).units
            rarity = self.rarity(max(1, len(having)))
            total += rarity
            shares[np.isin(units, having, assume_unique=True)] += rarity
        return shares / max(total, _TINY)
