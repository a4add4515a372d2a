"""The static word table: a vector for each of some ten thousand words, and no model to run.

A unit's vector is the sum of the vectors of its pieces, each weighed by its field and by 1 + log of
how often it occurs there. A piece that has no row is cut into the longest parts that have one, as
WordPiece does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tersely.code.search.storage.arrays import ArrayFile, map_arrays
from tersely.code.search.units import FIELDS, Field
from tersely.foundation.arrays import Floats, Ints, NDArray, np
from tersely.foundation.types import field, record

CONTINUED = "##"  # before a row for the rest of a word
MAX_PARTS = 6  # of a piece
SHIPPED = "words.arrays"

# What the fields weigh in a unit's vector.
_WEIGHTS = {
    Field.NAME: 3.0,
    Field.OWNER: 1.5,
    Field.PATH: 1.0,
    Field.SIGNATURE: 1.0,
    Field.BODY: 1.0,
    Field.CALLEE: 1.5,
    Field.DOC: 2.0,
}
FIELD_WEIGHTS = np.array([_WEIGHTS[Field(number)] for number in range(FIELDS)], np.float32)

Part = tuple[int, float]  # a row of the table, and how much of it


class Bags(NamedTuple):
    """Units as weighed rows of a table: unit `i` has the entries from `starts[i]` to `starts[i +
    1]`, by row.
    """

    starts: Ints
    rows: Ints
    weights: Floats


@record
class WordTable:
    """Words and their vectors."""

    identity: str  # of what is in it: vectors of two identities are not to be compared
    rows: NDArray[np.int8]
    factors: Floats  # a row times its factor is the vector
    number_of: Mapping[str, int]
    _parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, file: ArrayFile) -> WordTable:
        """The table in a file."""
        words = file["words"].tobytes().decode().split("\n")
        return cls(
            str(file.about["identity"]),
            file["rows"],
            file["factors"],
            dict(zip(words, range(len(words)), strict=True)),
        )

    def vectors(self) -> Floats:
        """All rows as floats; a copy that may be changed."""
        return self.rows.astype(np.float32) * self.factors[:, None]

    def parts_of(self, piece: str) -> tuple[Part, ...]:
        """The rows that stand for a piece; those of one that was cut weigh as much together as in
        sum of squares.
        """
        parts = self._parts.get(piece)
        if parts is None:
            number = self.number_of.get(piece)
            rows = [number] if number is not None else self._cut(piece)
            weight = 1.0 / max(1, len(rows)) ** 0.5
            parts = self._parts[piece] = tuple((row, weight) for row in rows)
        return parts

    def _cut(self, piece: str) -> list[int]:
        rows: list[int] = []
        at = 0
        while at < len(piece) and len(rows) < MAX_PARTS:
            for end in range(len(piece), at, -1):
                row = self.number_of.get(f"{CONTINUED}{piece[at:end]}" if at else piece[:end])
                if row is not None:
                    rows.append(row)
                    at = end
                    break
            else:
                at += 1
        return rows

    def embed_pieces(self, pieces: Iterable[str]) -> Floats:
        """The vector of a question."""
        bag: dict[int, float] = {}
        for piece in pieces:
            for row, weight in self.parts_of(piece):
                bag[row] = bag.get(row, 0.0) + weight
        rows = sorted(bag)
        weights = np.array([bag[row] for row in rows], np.float32) * self.factors[rows]
        total: Floats = (self.rows[rows].astype(np.float32) * weights[:, None]).sum(
            axis=0, dtype=np.float32
        )
        return total

    def embed_bags(self, bags: Bags) -> Floats:
        """The vectors of units, not brought to any length."""
        return sums_of_rows(self.vectors(), bags)


def sums_of_rows(vectors: Floats, bags: Bags) -> Floats:
    """For each bag the weighed sum of its rows. Each is computed by itself, so that it depends on
    nothing else.
    """
    starts, rows, weights = bags
    sums = np.zeros((len(starts) - 1, vectors.shape[1]), np.float32)
    places = starts.tolist()
    for number, (first, last) in enumerate(pairwise(places)):
        if first < last:
            np.dot(weights[first:last], vectors[rows[first:last]], out=sums[number])
    return sums


@cache
def shipped_table() -> WordTable:
    """The table that comes with the program."""
    return WordTable.of(map_arrays(Path(__file__).with_name(SHIPPED)))
