"""What a compiler's index says of call sites, against what we say."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.groundtruth import compiler, scip

SOURCE = """\
class Base:
    def step(self): ...


class Child(Base):
    def __init__(self): ...
    def step(self): ...


def use(thing: Base, call):
    thing.step()
    call()
    Child()
    alias()


alias = use
"""

DEFINITIONS = {  # symbol -> line and column, from 0
    "Base#": (0, 6), "Base#step().": (1, 8), "Child#": (4, 6), "Child#step().": (6, 8), "use().": (9, 4),
}  # fmt: skip
USES = [("Child#step().", 10, 10), ("use().(call)", 11, 4), ("Child#", 12, 4), ("use().", 13, 4)]


def field(number: int, value: bytes | int) -> bytes:
    """One field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    found = b""
    while number > 0x7F:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def name(symbol: str) -> bytes:
    """A symbol with all that an index puts before it."""
    return f"scip-python python shop 1 `src.m`/{symbol}".encode()


def occurrence(symbol: str, line: int, column: int, roles: int) -> bytes:
    """A name at a place."""
    place = varint(line) + varint(column) + varint(column + 1)
    return field(2, field(1, place) + field(2, name(symbol)) + field(3, roles))


def index() -> bytes:
    """The index of the source."""
    document = field(1, b"m.py")
    for symbol, (line, column) in DEFINITIONS.items():
        document += occurrence(symbol, line, column, 1)
    for symbol, line, column in USES:
        document += occurrence(symbol, line, column, 8)
    related = field(1, name("Base#step().")) + field(3, 1)
    return field(2, document + field(3, field(1, name("Child#step().")) + field(4, related)))


def test_call_sites_are_compared(tmp_path: Path) -> None:
    sources = tmp_path / "owner+shop"
    sources.mkdir()
    (sources / "m.py").write_text(SOURCE)
    truths = tmp_path / "scip"
    (truths / "owner+shop").mkdir(parents=True)
    (truths / "owner+shop" / compiler.INDEX).write_bytes(index())
    (case,) = compiler.run(("python",), truths)
    assert (case.name, case.error, case.extra) == ("owner+shop", "", ())
    # the base's method, the constructor, and the function by its other name
    assert case.agreed == 3
    assert case.missing == ()


def test_a_file_that_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(b"\x0f\x0f\x0f")
    with pytest.raises(ValueError, match="no SCIP index"):
        scip.read(tmp_path / "index.scip")
