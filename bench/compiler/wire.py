"""The wire format of Protocol Buffers, as far as an index of SCIP needs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # what follows the number of a field
WIDTHS = {FIXED64: 8, FIXED32: 4}


def fields(message: bytes) -> dict[int, list[Any]]:
    """The values of a message by the numbers of its fields: whole numbers, or bytes. Raises `ValueError`."""
    found: dict[int, list[Any]] = defaultdict(list)
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind, size = key & 7, 0
        if kind == VARINT:
            value, place = _number(message, place)
            found[key >> 3].append(value)
            continue
        if kind == BYTES:
            size, place = _number(message, place)
        elif kind in WIDTHS:
            size = WIDTHS[kind]
        else:
            raise ValueError(f"no Protocol Buffers message: {kind} is no kind of field")
        found[key >> 3].append(message[place : place + size])
        place += size
    return found


def text(message: dict[int, list[Any]], field: int) -> str:
    """A field that holds text, "" without it."""
    return bytes(message[field][-1]).decode() if field in message else ""


def number(message: dict[int, list[Any]], field: int) -> int:
    """A field that holds a whole number, 0 without it."""
    return int(message[field][-1]) if field in message else 0


def packed(raw: bytes) -> Iterator[int]:
    """Whole numbers that stand one after the other."""
    place = 0
    while place < len(raw):
        value, place = _number(raw, place)
        yield value


def _number(raw: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while place < len(raw):
        byte = raw[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place
    raise ValueError("no Protocol Buffers message: it ends in the middle of a number")
