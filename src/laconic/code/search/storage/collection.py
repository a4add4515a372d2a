"""All units of a revision, numbered by path and position whatever segments they are in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.code.search.embedding.vectors import Floats, Quantized, estimated_similarities, similarities
from laconic.code.search.storage.arrays import DamagedFileError
from laconic.code.search.units import FIELDS

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """Where the units of a file are."""

    path: str
    language: str
    hash: bytes
    segment: str
    first: int  # among the units of the segment
    count: int


@dataclass(frozen=True, slots=True)
class Part:
    """A segment as a collection sees it: `global_of` gives each of its units its number, -1 if it is out of date."""

    segment: Any  # arrays by name
    global_of: Ints
    alive: Ints  # the units that have a number, by number
    numbers: Ints  # theirs, ascending

    def local_of(self, units: Ints) -> Ints:
        """Where units of the collection are in the segment, -1 for those of other segments."""
        if not len(self.numbers):
            return np.full(len(units), -1, np.int64)
        place = np.minimum(np.searchsorted(self.numbers, units), len(self.numbers) - 1)
        return np.where(self.numbers[place] == units, self.alive[place], -1)


@dataclass(slots=True)
class Collection:
    """Units that are searched together. Arrays have one entry a unit, by number."""

    files: Sequence[FileEntry]  # by path
    parts: Sequence[Part]
    file: Ints  # position in `files`
    position: Ints  # among the definitions of the file
    kind: NDArray[np.uint8]
    lengths: NDArray[np.int64]  # (unit, field)

    @classmethod
    def of(cls, files: Sequence[FileEntry], segments: dict[str, Any]) -> Collection:
        """Files by path and the segments that they are in; `DamagedFileError` where these do not fit together."""
        counts = np.array([file.count for file in files], np.int64)
        total = int(counts.sum())
        first_global = np.cumsum(counts) - counts
        parts = []
        position = np.zeros(total, np.int64)
        kind = np.zeros(total, np.uint8)
        lengths = np.zeros((total, FIELDS), np.int64)
        for name, segment in segments.items():
            own = np.array([number for number, file in enumerate(files) if file.segment == name], np.int64)
            size = len(segment["kind"])
            local = _ranges(np.array([files[number].first for number in own], np.int64), counts[own])
            if len(local) and local.max() >= size:
                raise DamagedFileError(name)
            numbers = _ranges(first_global[own], counts[own])
            global_of = np.full(size, -1, np.int64)
            global_of[local] = numbers
            parts.append(Part(segment, global_of, local, numbers))
            position[numbers] = segment["position"][local]
            kind[numbers] = segment["kind"][local]
            lengths[numbers] = segment["lengths"][local]
        return cls(files, parts, np.repeat(np.arange(len(files)), counts), position, kind, lengths)

    def __len__(self) -> int:
        return len(self.file)

    def numbers_at(self, path: str, positions: Sequence[int]) -> list[int]:
        """The units at some positions among the definitions of a file; those that are none are left out."""
        file = bisect_left(self.files, path, key=lambda entry: entry.path)
        if file == len(self.files) or self.files[file].path != path:
            return []
        first, last = np.searchsorted(self.file, [file, file + 1])
        here = self.position[first:last]
        return [int(first) + int(number) for number in np.flatnonzero(np.isin(here, np.array(positions, np.int64)))]

    def postings(self, term: str) -> tuple[Ints, Ints, Ints]:
        """(unit, field, count) of a term, by unit and field; units that are out of date are not among them."""
        found = [_postings_in(part, term.encode()) for part in self.parts]
        columns = (
            [np.concatenate(column) for column in zip(*found, strict=True)] if found else [np.zeros(0, np.int64)] * 3
        )
        order = np.argsort(columns[0], kind="stable")
        return columns[0][order], columns[1][order], columns[2][order]

    def has_term(self, term: str) -> bool:
        """Whether any unit has it."""
        return any(_slot(part, term.encode()) >= 0 for part in self.parts)

    def similarities(self, query: Floats, units: Ints) -> Floats:
        """The cosines of the vectors of some units with a query's."""
        cosines = np.zeros(len(units), np.float32)
        for part in self.parts:
            local = part.local_of(units)
            here = local >= 0
            rows = local[here]
            stored = Quantized(part.segment["vectors"][rows], part.segment["factors"][rows])
            cosines[here] = similarities(stored, query)
        return cosines

    def estimated_similarities(self, query: Floats) -> Floats:
        """A fast estimate of the cosine for every unit."""
        cosines = np.zeros(len(self), np.float32)
        for part in self.parts:
            cosines[part.numbers] = estimated_similarities(part.segment["signs"], query)[part.alive]
        return cosines


def _postings_in(part: Part, term: bytes) -> tuple[Ints, Ints, Ints]:
    slot = _slot(part, term)
    if slot < 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = part.segment["posting_starts"]
    places = slice(int(starts[slot]), int(starts[slot + 1]))
    units = part.global_of[part.segment["posting_unit"][places]]
    alive = units >= 0
    fields = part.segment["posting_field"][places][alive].astype(np.int64)
    return units[alive], fields, part.segment["posting_count"][places][alive].astype(np.int64)


def _slot(part: Part, term: bytes) -> int:
    """The place of a term in a segment, -1 if it is not there."""
    starts, terms = part.segment["term_starts"], part.segment["terms"]

    def term_at(slot: int) -> bytes:
        return bytes(terms[starts[slot] : starts[slot + 1] - 1])

    count = len(starts) - 1
    slot = bisect_left(range(count), term, key=term_at)
    return slot if slot < count and term_at(slot) == term else -1


def _ranges(first: Ints, count: Ints) -> Ints:
    """The numbers first[i], first[i] + 1, … (count[i] of them), one range after the other."""
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(int(count.sum()))
