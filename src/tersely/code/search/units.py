"""Files as units: what is searched for is a symbol, and its text lies in fields.

Each word of a file belongs to the innermost symbol around it, so the text of a class is what is
written in none of its members. Functions inside of functions are an exception: their text counts
for the outer one too, since a decorator or a factory is nothing without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.search.words import MAX_WORD_BYTES, Words, words_of, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, VALUE_KINDS, Kind, Symbol

_OPENING_PARENTHESIS = 0x28


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


class Occurrences(NamedTuple):
    """The places where words occur: parallel arrays of units (counted from the file's first),
    fields, and ids of words.
    """

    unit: NDArray[np.int64]
    field: NDArray[np.int64]
    word: NDArray[np.int64]


class Vocabulary(dict[bytes, int]):
    """Words by number, in the order in which they were met."""

    def __missing__(self, word: bytes) -> int:
        """Give a new word its number."""
        number = self[word] = len(self)
        return number


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


def occurrences_of(units: Sequence[Unit], source: bytes, vocabulary: Vocabulary) -> Occurrences:
    """Every word of a file with its unit and field."""
    words = words_of(source)
    ids = np.fromiter(map(vocabulary.__getitem__, words.words), np.int64, len(words.words))
    unit, field = _places(units, len(source))
    unit_at, field_at = unit[words.starts].astype(np.int64), field[words.starts].astype(np.int64)
    is_callee = (field_at == Field.BODY) & _is_called(source, words)
    field_at = np.where(is_callee, Field.CALLEE, field_at)
    fits = words.ends - words.starts <= MAX_WORD_BYTES
    found = Occurrences(unit_at[fits], field_at[fits], ids[fits])
    parts = [found, *_inner_again(units, found), _headings(units, vocabulary)]
    return Occurrences(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _is_called(source: bytes, words: Words) -> NDArray[np.bool_]:
    after = np.frombuffer(source + b" ", np.uint8)[words.ends]
    is_called: NDArray[np.bool_] = after == _OPENING_PARENTHESIS
    return is_called


def _places(units: Sequence[Unit], size: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """For each byte of a file its unit and field; outer symbols come before those in them."""
    unit = np.zeros(size, np.int32)
    field = np.full(size, Field.BODY, np.uint8)
    docs: list[tuple[int, Symbol]] = []
    for number, (_, symbol) in enumerate(units):
        start, header_end, end = symbol.start_byte, symbol.signature_end_byte, symbol.end_byte
        unit[start:end] = number
        field[start:end] = Field.BODY
        if symbol.kind is not Kind.MODULE:
            field[start:header_end] = Field.SIGNATURE
        if symbol.doc_end_byte:
            docs.append((number, symbol))
    for number, symbol in docs:
        unit[symbol.doc_start_byte : symbol.doc_end_byte] = number
        field[symbol.doc_start_byte : symbol.doc_end_byte] = Field.DOC
    return unit, field


def _inner_again(units: Sequence[Unit], found: Occurrences) -> Iterable[Occurrences]:
    """What stands in a function inside of a function, for the outer one, outward through all of
    them.
    """
    numbers = {unit.symbol.id: number for number, unit in enumerate(units)}
    for number, (_, symbol) in enumerate(units):
        outer = numbers.get(symbol.parent)
        if (
            symbol.kind not in CALLABLE_KINDS
            or outer is None
            or units[outer].symbol.kind not in CALLABLE_KINDS
        ):
            continue
        is_inner = found.unit == number
        words = found.word[is_inner]
        while outer is not None and units[outer].symbol.kind in CALLABLE_KINDS:
            yield Occurrences(
                np.full(len(words), outer), np.full(len(words), int(Field.BODY)), words
            )
            outer = numbers.get(units[outer].symbol.parent)


def _headings(units: Sequence[Unit], vocabulary: Vocabulary) -> Occurrences:
    """The words of names, of what is around them, and of the path."""
    rows: list[int] = []
    path = units[0].symbol.path if units else ""
    path_ids = [
        vocabulary[word.encode()] for word in words_of_text(path.rpartition(".")[0] or path)
    ]
    for number, (_, symbol) in enumerate(units):
        owner = symbol.qualname.removesuffix(symbol.name)
        for field, text in ((_NAME, symbol.name), (_OWNER, owner)):
            for word in words_of_text(text) if text else ():
                rows += (number, field, vocabulary[word.encode()])
    columns = np.array(rows, np.int64).reshape(-1, 3)
    of_path = np.repeat(np.arange(len(units)), len(path_ids))
    return Occurrences(
        np.concatenate([columns[:, 0], of_path]),
        np.concatenate([columns[:, 1], np.full(len(of_path), int(Field.PATH))]),
        np.concatenate([columns[:, 2], np.tile(np.array(path_ids, np.int64), len(units))]),
    )
