"""All units of a revision, numbered by path and position whatever segments they are in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from tersely.code.search.embedding.vectors import Quantized, differing_signs, similarities
from tersely.code.search.storage.arrays import DamagedFileError
from tersely.code.search.units import FIELDS
from tersely.foundation.arrays import Floats, Ints, NDArray, np
from tersely.foundation.types import JsonObject, frozen, record

Bytes = NDArray[np.uint8]

SAMPLE_UNITS = 512  # between which cosines are taken
LEAST_SPREAD = 0.01
SPREAD_DIGITS = 4  # those that do not depend on the order of additions


class Postings(NamedTuple):
    """The places of a term, by unit and field: parallel arrays."""

    unit: Ints
    field: Bytes
    times: Bytes


_NOTHING = Postings(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


@frozen
class FileEntry:
    """The place of the units of a file."""

    path: str
    language: str
    hash: bytes
    segment: str
    first: int  # among the units of the segment
    count: int


@frozen
class Part:
    """A segment as a collection sees it: `global_of` gives each of its units its number, -1 if it
    is out of date.
    """

    segment: Any  # arrays by name
    global_of: Ints
    alive: Ints  # the units that have a number, by number
    numbers: Ints  # theirs, ascending

    @property
    def is_whole(self) -> bool:
        """True if no unit is out of date."""
        return len(self.alive) == len(self.global_of)

    def local_of(self, units: Ints) -> Ints:
        """The places of units of the collection in the segment, -1 for those of other segments."""
        if not len(self.numbers):
            return np.full(len(units), -1, np.int64)
        place = np.minimum(np.searchsorted(self.numbers, units), len(self.numbers) - 1)
        return np.where(self.numbers[place] == units, self.alive[place], -1)


@record
class Collection:
    """Units that are searched together. Arrays have one entry a unit, by number."""

    files: Sequence[FileEntry]  # by path
    parts: Sequence[Part]
    file: Ints  # position in `files`
    position: Ints  # among the definitions of the file
    kind: NDArray[np.uint8]
    lengths: Ints  # (unit, field)
    _spread: float | None = None

    @classmethod
    def of(cls, files: Sequence[FileEntry], segments: JsonObject) -> Collection:
        """Files by path and the segments that they are in; `DamagedFileError` where these do not
        fit together.
        """
        counts = np.array([file.count for file in files], np.int64)
        total = int(counts.sum())
        first_global = np.cumsum(counts) - counts
        parts = []
        position = np.zeros(total, np.int64)
        kind = np.zeros(total, np.uint8)
        lengths = np.zeros((total, FIELDS), np.int64)
        for name, segment in segments.items():
            own = np.array(
                [number for number, file in enumerate(files) if file.segment == name], np.int64
            )
            size = len(segment["kind"])
            local = ranges(np.array([files[number].first for number in own], np.int64), counts[own])
            if len(local) and local.max() >= size:
                raise DamagedFileError(name)
            numbers = ranges(first_global[own], counts[own])
            global_of = np.full(size, -1, np.int64)
            global_of[local] = numbers
            parts.append(Part(segment, global_of, local, numbers))
            position[numbers] = segment["position"][local]
            kind[numbers] = segment["kind"][local]
            lengths[numbers] = segment["lengths"][local]
        return cls(files, parts, np.repeat(np.arange(len(files)), counts), position, kind, lengths)

    def __len__(self) -> int:
        return len(self.file)

    def numbers_at(self, path: str, positions: Container[int]) -> list[int]:
        """The units at some positions among the definitions of a file; those that are none are left
        out.
        """
        file = bisect_left(self.files, path, key=lambda entry: entry.path)
        if file == len(self.files) or self.files[file].path != path:
            return []
        first, last = np.searchsorted(self.file, [file, file + 1])
        here = self.position[first:last].tolist()
        return [number for number, position in enumerate(here, int(first)) if position in positions]

    def postings(self, term: str) -> Postings:
        """Those of a term; units that are out of date are not among them."""
        found = [_postings_in(part, term.encode()) for part in self.parts]
        unit, field, count = (
            np.concatenate(column) for column in zip(_NOTHING, *found, strict=True)
        )
        if (unit[1:] >= unit[:-1]).all():
            return Postings(unit, field, count)
        order = np.argsort(unit, kind="stable")
        return Postings(unit[order], field[order], count[order])

    def similarities(self, query: Floats, units: Ints) -> Floats:
        """The cosines of the vectors of some units with a query's."""
        return similarities(self._vectors(units, len(query)), query)

    def nearness(self, units: Ints, others: Ints) -> Floats:
        """The cosine of each of some units with the nearest of others; 0 where there are none."""
        if not self.parts or not len(units):
            return np.zeros(len(units), np.float32)
        dimensions = self.parts[0].segment["vectors"].shape[1]
        stored, wanted = self._vectors(units, dimensions), self._vectors(others, dimensions)
        vectors = wanted.rows * wanted.factors[:, None]
        cosines = [similarities(stored, vector) for vector in vectors]
        return np.max(cosines, axis=0) if cosines else np.zeros(len(units), np.float32)

    def _vectors(self, units: Ints, dimensions: int) -> Quantized:
        found = Quantized(
            np.zeros((len(units), dimensions), np.int8), np.zeros(len(units), np.float32)
        )
        for part in self.parts:
            local = part.local_of(units)
            here = np.flatnonzero(local >= 0)
            rows = local[here]
            found.rows[here] = part.segment["vectors"][rows]
            found.factors[here] = part.segment["factors"][rows]
        return found

    def spread(self, dimensions: int) -> float:
        """The distance at which the vectors lie apart: the standard deviation of the cosines
        between units at equal distances.
        """
        if self._spread is None:
            step = -(-len(self) // SAMPLE_UNITS) or 1
            sample = self._vectors(np.arange(0, len(self), step), dimensions)
            vectors = sample.rows * sample.factors[:, None]
            cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
            self._spread = (
                max(LEAST_SPREAD, round(float(cosines.std()), SPREAD_DIGITS))
                if len(cosines)
                else 1.0
            )
        return self._spread

    def differing_signs(self, query: Floats) -> NDArray[np.uint16]:
        """For each unit, the number of its vector's numbers that have another sign than the
        query's: a fast estimate of the cosine.
        """
        differing = np.zeros(len(self), np.uint16)
        for part in self.parts:
            found = differing_signs(part.segment["signs"], query)
            differing[part.numbers] = found if part.is_whole else found[part.alive]
        return differing


def _postings_in(part: Part, term: bytes) -> Postings:
    slot = _slot(part, term)
    if slot < 0:
        return _NOTHING
    starts = part.segment["posting_starts"]
    places = slice(int(starts[slot]), int(starts[slot + 1]))
    units = part.global_of[part.segment["posting_unit"][places]]
    found = Postings(
        units, part.segment["posting_field"][places], part.segment["posting_count"][places]
    )
    if part.is_whole:
        return found
    alive = units >= 0
    return Postings(*(column[alive] for column in found))


def _slot(part: Part, term: bytes) -> int:
    """The place of a term in a segment, -1 if it is not there."""
    # single items of them are quicker
    starts, terms = part.segment["term_starts"].data, part.segment["terms"].data

    def term_at(slot: int) -> bytes:
        return bytes(terms[starts[slot] : starts[slot + 1] - 1])

    count = len(starts) - 1
    slot = bisect_left(range(count), term, key=term_at)
    return slot if slot < count and term_at(slot) == term else -1


def ranges(first: Ints, count: Ints) -> Ints:
    """The numbers first[i], first[i] + 1, … (count[i] of them), one range after the other."""
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(int(count.sum()))
