"""Reads SCIP indexes: what a compiler says each name in a repository means.

The format is protobuf, of which these few fields are read as the wire format lays them out:
https://github.com/sourcegraph/scip/blob/main/scip.proto
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = 2  # of an index
PATH, OCCURRENCES, SYMBOLS = 1, 2, 3  # of a document
RANGE, SYMBOL, ROLES = 1, 2, 3  # of an occurrence
NAME, RELATIONSHIPS = 1, 4  # of a symbol
RELATED, IS_IMPLEMENTATION = 1, 3  # of a relationship
IS_DEFINITION = 1  # bit of the roles
PARTS_BEFORE = 4  # of a symbol, before its descriptors: scheme, manager, package, version
ROOT = (
    # a folder that some indexers take for a part of a module's name where it is defined, not where
    # it is used
    "src."
)
LOCAL = "local "  # what symbols begin with that are known in their document alone

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
SIZES = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in a document; line from 1, column from 0."""

    path: str
    line: int
    column: int
    # by its descriptors alone, since indexers name the package now by the repository, now as
    # installed
    symbol: str
    is_definition: bool


@dataclass(frozen=True, slots=True)
class Index:
    """Every occurrence, and for each symbol the symbols that it implements."""

    occurrences: tuple[Occurrence, ...]
    implements: dict[str, set[str]]


def read(path: Path) -> Index:
    """The index in a file; ValueError if it is none."""
    occurrences: list[Occurrence] = []
    implements: dict[str, set[str]] = {}
    for number, document in _messages(path.read_bytes()):
        if number != DOCUMENTS:
            continue
        fields = list(_messages(document))
        name = next((_text(value) for field, value in fields if field == PATH), "")
        occurrences += [_occurrence(name, value) for field, value in fields if field == OCCURRENCES]
        for field, value in fields:
            if field == SYMBOLS:
                symbol, above = _implemented(value)
                implements.setdefault(symbol, set()).update(above)
    return Index(tuple(occurrences), implements)


def _occurrence(path: str, message: bytes) -> Occurrence:
    symbol, place, roles = "", [0, 0], 0
    for field, value in _fields(message):
        if field == RANGE and isinstance(value, bytes):
            place = _packed(value)
        elif field == SYMBOL and isinstance(value, bytes):
            symbol = _descriptors(value)
        elif field == ROLES and isinstance(value, int):
            roles = value
    return Occurrence(path, place[0] + 1, place[1], symbol, bool(roles & IS_DEFINITION))


def _implemented(message: bytes) -> tuple[str, set[str]]:
    """A symbol and what it implements."""
    symbol, above = "", set[str]()
    for field, value in _messages(message):
        if field == NAME:
            symbol = _descriptors(value)
        elif field == RELATIONSHIPS:
            related = dict(_fields(value))
            name = related.get(RELATED)
            if related.get(IS_IMPLEMENTATION) and isinstance(name, bytes):
                above.add(_descriptors(name))
    return symbol, above


def _descriptors(symbol: bytes) -> str:
    """What a symbol is called within its package."""
    text = _text(symbol)
    if text.startswith(LOCAL):
        return text
    name = text.split(" ", PARTS_BEFORE)[-1]
    return name[0] + name[1:].removeprefix(ROOT) if name[:1] == "`" else name.removeprefix(ROOT)


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that hold bytes."""
    for field, value in _fields(data):
        if isinstance(value, bytes):
            yield field, value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of every field of a message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == VARINT:
            number, at = _varint(data, at)
            yield key >> 3, number
            continue
        if wire == BYTES:
            size, at = _varint(data, at)
        elif wire in SIZES:
            size = SIZES[wire]
        else:
            raise ValueError(f"no SCIP index: wire type {wire}")
        yield key >> 3, data[at : at + size]
        at += size


def _packed(data: bytes) -> list[int]:
    """The numbers of a packed field."""
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(number)
    return numbers


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of any length, and where it ends."""
    number = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at
    raise ValueError("no SCIP index: it ends within a number")
