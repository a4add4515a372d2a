"""Files as units: what is searched for is a symbol, and its text lies in fields.

Each word of a file belongs to the innermost symbol around it, so the text of a class is what is
written in none of its members. Functions inside of functions are an exception: their text counts
for the outer one too, since a decorator or a factory is nothing without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from tersely.code.search.words import MAX_WORD_BYTES, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS, Kind, Symbol
from tersely.foundation.arrays import Ints, NDArray, np

# Bytes of identifiers stand for themselves, all others for a space; bytes of other scripts are
# letters.
_IDENTIFIER_BYTES = bytes(
    byte if chr(byte).isalnum() or byte == 0x5F or byte > 0x7F else 0x20 for byte in range(256)
)
_OPENING_PARENTHESIS = 0x28
_BETWEEN = b"\n"  # files that are read together


class Field(IntEnum):
    """The fields of a unit in which a word may stand."""

    NAME = 0
    OWNER = 1  # the classes or modules around it
    PATH = 2
    SIGNATURE = 3
    BODY = 4
    CALLEE = 5  # a name before an opening parenthesis
    DOC = 6


FIELDS = len(Field)
_NAME, _OWNER = int(Field.NAME), int(Field.OWNER)


class Unit(NamedTuple):
    """One symbol that can be found: its position among the definitions of its file, and its text
    for models.
    """

    position: int
    symbol: Symbol


class SourceFile(NamedTuple):
    """A file with its units."""

    path: str
    source: bytes
    units: Sequence[Unit]


class Words(NamedTuple):
    """The words of a text in order, and where each begins, in bytes."""

    words: list[bytes]
    starts: Ints
    ends: Ints


class Occurrences(NamedTuple):
    """The places where words occur: parallel arrays of units (counted from the first file's first),
    fields, and ids of words.
    """

    unit: Ints
    field: Ints
    word: Ints


def units_of(symbols: Sequence[Symbol]) -> list[Unit]:
    """The symbols of a file that are units: all but anonymous functions and what is local to a
    function.
    """
    kinds = {symbol.id: symbol.kind for symbol in symbols}
    return [
        Unit(position, symbol)
        for position, symbol in enumerate(symbols)
        if symbol.kind is not Kind.LAMBDA
        and not (symbol.kind in VALUE_KINDS and kinds.get(symbol.parent) in CALLABLE_KINDS)
    ]


def words_of(source: bytes) -> Words:
    """All words of a source text."""
    spaced = source.translate(_IDENTIFIER_BYTES)
    is_word = np.zeros(len(spaced) + 2, np.int8)
    is_word[1:-1] = np.frombuffer(spaced, np.uint8) != 0x20
    edges = np.diff(is_word)
    return Words(spaced.split(), np.flatnonzero(edges == 1), np.flatnonzero(edges == -1))


def occurrences_of(files: Sequence[SourceFile], vocabulary: dict[bytes, int]) -> Occurrences:
    """Every word of some files with its unit and field; the vocabulary numbers what it has not."""
    source = _BETWEEN.join(file.source for file in files)
    words = words_of(source)
    ids = np.fromiter(map(vocabulary.__getitem__, words.words), np.int64, len(words.words))
    unit, field = _places(files, len(source))
    fits = words.ends - words.starts <= MAX_WORD_BYTES
    starts = words.starts[fits]
    found = Occurrences(unit[starts].astype(np.int64), field[starts].astype(np.int64), ids[fits])
    is_called = np.frombuffer(source + b" ", np.uint8)[words.ends[fits]] == _OPENING_PARENTHESIS
    found.field[(found.field == Field.BODY) & is_called] = Field.CALLEE
    parts = [found, *_inner_again(files, found, starts), *_headings(files, vocabulary)]
    return Occurrences(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _numbered(files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, int, int]]:
    """Files with the numbers of their first units, and where they begin when they are joined."""
    number = start = 0
    for file in files:
        yield file, number, start
        number += len(file.units)
        start += len(file.source) + len(_BETWEEN)


def _places(files: Iterable[SourceFile], size: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """For each byte of joined files its unit and field, those of the innermost symbol."""
    unit = np.zeros(size, np.int32)
    field = np.full(size, Field.BODY, np.uint8)
    for file, first, start in _numbered(files):
        unit[start : start + len(file.source)] = first
        # an object comes after the methods that are written in it
        outer_first = sorted(enumerate(file.units, first), key=lambda one: one[1].symbol.start_byte)
        for number, (_, symbol) in outer_first:
            places = slice(start + symbol.start_byte, start + symbol.end_byte)
            unit[places], field[places] = number, Field.BODY
            if symbol.kind is not Kind.MODULE:
                field[places.start : start + symbol.signature_end_byte] = Field.SIGNATURE
        for number, (_, symbol) in outer_first:
            places = slice(start + symbol.doc_start_byte, start + symbol.doc_end_byte)
            unit[places], field[places] = number, Field.DOC
    return unit, field


def _inner_again(
    files: Iterable[SourceFile], found: Occurrences, starts: Ints
) -> Iterator[Occurrences]:
    """What stands in a function inside of a function, for the outer one, outward through all of
    them.
    """
    for file, first, start in _numbered(files):
        own = slice(*np.searchsorted(starts, (start, start + len(file.source))))
        functions = {
            symbol.id: (number, symbol.parent)
            for number, (_, symbol) in enumerate(file.units, first)
            if symbol.kind in CALLABLE_KINDS
        }
        nested = [function for function in functions.values() if function[1] in functions]
        for number, parent in nested:
            words = found.word[own][found.unit[own] == number]
            while parent in functions:
                outer, parent = functions[parent]
                body = np.full_like(words, Field.BODY)
                yield Occurrences(np.full_like(words, outer), body, words)


def _headings(files: Iterable[SourceFile], vocabulary: dict[bytes, int]) -> Iterator[Occurrences]:
    """The words of names, of what is around them, and of the path."""
    ids_of = cache(lambda text: [vocabulary[word.encode()] for word in words_of_text(text)])
    rows: list[int] = []
    for file, first, _ in _numbered(files):
        for number, (_, symbol) in enumerate(file.units, first):
            for word in ids_of(symbol.name):
                rows += (number, _NAME, word)
            for word in ids_of(symbol.qualname.removesuffix(symbol.name)):
                rows += (number, _OWNER, word)
        path_ids = ids_of(file.path.rpartition(".")[0] or file.path)
        units = np.repeat(np.arange(first, first + len(file.units)), len(path_ids))
        words = np.tile(np.array(path_ids, np.int64), len(file.units))
        yield Occurrences(units, np.full_like(words, Field.PATH), words)
    yield Occurrences(*np.array(rows, np.int64).reshape(-1, 3).T)
