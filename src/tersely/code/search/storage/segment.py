"""A segment: some files' units with their postings and vectors. Once written it never changes.

Nothing in a segment depends on other files: it has counts, and whatever needs to know all units
(how rare a term is, how long a field is on average) is computed from the segments that a question
reads. So a question has the same answer however the files are spread over segments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

from tersely.code.search.embedding.table import FIELD_WEIGHTS, Bags, WordTable
from tersely.code.search.embedding.vectors import quantized, signs_of
from tersely.code.search.storage.collection import ranges
from tersely.code.search.units import FIELDS, SourceFile, occurrences_of
from tersely.code.search.words import WHOLE, parts_of, stem
from tersely.code.symbols import Kind
from tersely.foundation.arrays import Array, Floats, Ints, np
from tersely.foundation.types import frozen

KINDS = tuple(Kind)
MAX_COUNT = 255  # of a term in one field of a unit: more say no more
_WORD_BITS = 63  # of a whole number that is not negative
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


@frozen
class UnitText:
    """A unit as a model reads it."""

    heading: str  # path and qualified name
    doc: str
    code: str


class UnitBatch(NamedTuple):
    """The units of some files, for whoever makes vectors of them."""

    pieces: Callable[[WordTable], Bags]
    texts: Callable[[], list[UnitText]]
    units: int


Embed = Callable[[UnitBatch], Floats]


class Triples(NamedTuple):
    """The counts of what occurs in a field of a unit: parallel arrays, each (unit, field, item)
    once and in order.
    """

    unit: Ints
    field: Ints
    item: Ints
    times: Ints


class CountedParts(NamedTuple):
    """Files as counted parts of words."""

    units: int
    counted: Triples  # whose items number `parts`
    parts: list[str]


def build_segment(files: Sequence[SourceFile], embed: Embed) -> dict[str, Array]:
    """The arrays of a segment with all units of these files, in their order."""
    read = counted_parts(files)
    vectors = quantized(
        embed(UnitBatch(lambda table: bags_of(read, table), lambda: _texts(files), read.units))
    )
    units = [unit for file in files for unit in file.units]
    return {
        **_postings(read),
        "position": np.array([unit.position for unit in units], np.uint32),
        "kind": np.array([_KIND_NUMBER[unit.symbol.kind] for unit in units], np.uint8),
        "signs": signs_of(vectors.rows),
        "vectors": vectors.rows,
        "factors": vectors.factors,
    }


def counted_parts(files: Sequence[SourceFile]) -> CountedParts:
    """The parts of all words of some files, counted by unit and field."""
    vocabulary = defaultdict[bytes, int](count().__next__)
    found = occurrences_of(files, vocabulary)
    words = _count_equal(*found, np.ones_like(found.unit), len(vocabulary))
    parts: dict[str, int] = {}
    members = [
        [parts.setdefault(part, len(parts)) for part in parts_of(word.decode("utf-8", "replace"))]
        for word in vocabulary
    ]
    expanded, _ = _expanded(words, members)
    units = sum(len(file.units) for file in files)
    return CountedParts(units, _count_equal(*expanded, len(parts)), list(parts))


def merge_segments(parts: Sequence[tuple[Any, Ints]]) -> dict[str, Array]:
    """One segment of the units (chosen by number, in the order wanted) of several."""
    terms: dict[bytes, int] = {}
    found: list[Triples] = []
    first = 0
    for segment, chosen in parts:
        new_number = np.full(len(segment["kind"]), -1, np.int64)
        new_number[chosen] = np.arange(first, first + len(chosen))
        first += len(chosen)
        listed = terms_of(segment)
        numbers = np.array([terms.setdefault(term, len(terms)) for term in listed], np.int64)
        unit = new_number[segment["posting_unit"]]
        item = np.repeat(numbers, np.diff(segment["posting_starts"].astype(np.int64)))
        kept = unit >= 0
        columns = (
            unit,
            segment["posting_field"].astype(np.int64),
            item,
            segment["posting_count"].astype(np.int64),
        )
        found.append(Triples(*(column[kept] for column in columns)))
    triples = Triples(*(np.concatenate(column) for column in zip(*found, strict=True)))
    per_unit = ("lengths", "position", "kind", "signs", "vectors", "factors")
    rows = {
        name: np.concatenate([segment[name][chosen] for segment, chosen in parts])
        for name in per_unit
    }
    return {**_by_term(triples, list(terms)), **rows}


def terms_of(segment: Any) -> list[bytes]:
    """All terms of a segment in order."""
    text = segment["terms"].tobytes()
    return text.split(b"\n") if text else []


def _count_equal(unit: Ints, field: Ints, item: Ints, count: Ints, items: int) -> Triples:
    """Equal (unit, field, item) taken together, by unit, field and item."""
    kept, totals = _summed((unit * FIELDS + field) * max(items, 1) + item, count)
    return Triples(unit[kept], field[kept], item[kept], totals)


def _summed(keys: Ints, amounts: Array) -> tuple[Ints, Array]:
    """The first place of each key, by key, and the sum of its amounts."""
    order = _order(keys)
    ordered = keys[order]
    starts = np.flatnonzero(ordered != np.r_[-1, ordered[:-1]])  # no key is negative
    totals = np.add.reduceat(amounts[order], starts) if len(starts) else amounts[:0]
    return order[starts], totals


def _order(keys: Ints) -> Ints:
    """The places of keys, none of them negative, in ascending order; equal ones as they stand."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _WORD_BITS:
        return np.argsort(keys, kind="stable")
    # numbers are sorted many times faster than places by their numbers
    return np.sort(keys << bits | np.arange(len(keys))) & ((1 << bits) - 1)


def _expanded(counted: Triples, members: Sequence[Sequence[int]]) -> tuple[Triples, Ints]:
    """Each triple once for every member of its item; with which triple each came from."""
    sizes = np.array([len(member) for member in members], np.int64)
    flat = np.fromiter(chain.from_iterable(members), np.int64, int(sizes.sum()))
    offsets = np.r_[0, np.cumsum(sizes)]
    repeats = sizes[counted.item]
    origin = np.repeat(np.arange(len(counted.item)), repeats)
    item = flat[ranges(offsets[counted.item], repeats)]
    return Triples(counted.unit[origin], counted.field[origin], item, counted.times[origin]), origin


def _postings(read: CountedParts) -> dict[str, Array]:
    terms: dict[str, int] = {}
    numbers = np.array([terms.setdefault(stem(part), len(terms)) for part in read.parts], np.int64)
    unit, field, part, times = read.counted
    triples = _count_equal(unit, field, numbers[part], times, len(terms))
    places = triples.unit * FIELDS + triples.field
    lengths = np.bincount(places, triples.times, read.units * FIELDS).reshape(-1, FIELDS)
    by_term = _by_term(triples, [term.encode() for term in terms])
    return {**by_term, "lengths": lengths.astype(np.uint32)}


def _by_term(triples: Triples, terms: Sequence[bytes]) -> dict[str, Array]:
    """Postings by term, unit and field; terms that nothing has are left out."""
    used = np.zeros(len(terms), bool)
    used[triples.item] = True
    kept = sorted((terms[number], number) for number in np.flatnonzero(used).tolist())
    rank = np.zeros(len(terms), np.int64)
    rank[[number for _, number in kept]] = np.arange(len(kept))
    item = rank[triples.item] if kept else triples.item
    places = triples.unit * FIELDS + triples.field
    order = _order(item * (int(places.max(initial=0)) + 1) + places)
    blob = b"\n".join(term for term, _ in kept)
    ends = np.cumsum([len(term) + 1 for term, _ in kept]) if kept else np.zeros(0, np.int64)
    return {
        "terms": np.frombuffer(blob, np.uint8),
        "term_starts": np.r_[0, ends].astype(np.uint32),
        "posting_starts": np.r_[0, np.cumsum(np.bincount(item, minlength=len(kept)))].astype(
            np.uint32
        ),
        "posting_unit": triples.unit[order].astype(np.uint32),
        "posting_field": triples.field[order].astype(np.uint8),
        "posting_count": np.minimum(triples.times[order], MAX_COUNT).astype(np.uint8),
    }


def bags_of(read: CountedParts, table: WordTable) -> Bags:
    """Units as weighed rows of a word table."""
    pieces = read.counted
    weights = FIELD_WEIGHTS[pieces.field] * (1 + np.log(pieces.times)).astype(np.float32)
    parts = [() if part[0] == WHOLE else table.parts_of(part) for part in read.parts]
    rows, origin = _expanded(pieces, [[row for row, _ in part] for part in parts])
    share = np.array([part[0][1] if part else 0.0 for part in parts], np.float32)
    weighed = weights[origin] * share[pieces.item[origin]]
    kept, totals = _summed(rows.unit * len(table.rows) + rows.item, weighed)
    starts = np.searchsorted(rows.unit[kept], np.arange(read.units + 1))
    return Bags(starts, rows.item[kept], totals.astype(np.float32))


def _texts(files: Iterable[SourceFile]) -> list[UnitText]:
    texts = []
    for file in files:
        for _, symbol in file.units:
            doc = file.source[symbol.doc_start_byte : symbol.doc_end_byte]
            code = file.source[symbol.start_byte : symbol.end_byte]
            heading = f"{file.path} {symbol.qualname}".rstrip()
            texts.append(
                UnitText(heading, doc.decode("utf-8", "replace"), code.decode("utf-8", "replace"))
            )
    return texts
