from __future__ import annotations

from pathlib import Path

import pytest
from bench.compiler.__main__ import row
from bench.compiler.judge import Judge, Outcome, Verdict
from bench.compiler.scip import CompilerIndex, last_name
from bench.compiler.wire import fields, packed

from tersely.code.engine import Engine

SOURCE = """\
interface Shape { area(): number }
class Square implements Shape { area() { return 1 } }
function make() { return new Square() }
function other() { return 2 }
export function use(shape: Shape, call: () => void) {
    make().area();
    shape.area();
    call();
    other();
    parseInt("1");
}
"""
AREA, SQUARE, OF_SQUARE, MAKE = "t a.ts/Shape#area().", "t a.ts/Square#", "t a.ts/Square#area().", "t a.ts/make()."
DEFINED = {AREA: (0, 18), SQUARE: (1, 6), OF_SQUARE: (1, 32), MAKE: (2, 9), "local 1": (4, 34)}
SEEN = {
    (2, 29): SQUARE,
    (5, 4): MAKE,
    (5, 11): OF_SQUARE,
    (6, 10): AREA,
    (7, 4): "local 1",
    (8, 4): MAKE,
    (9, 4): "t lib.d.ts/parseInt().",
}


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def occurrence(place: tuple[int, int], symbol: str, roles: int) -> bytes:
    begin = b"".join(map(varint, (*place, place[1] + 1)))
    return field(2, field(1, begin) + field(2, symbol.encode()) + field(3, roles))


def index() -> bytes:
    tool = field(1, field(2, field(1, b"a compiler")))
    related = field(3, field(1, OF_SQUARE.encode()) + field(4, field(1, AREA.encode()) + field(3, 1)))
    defined = b"".join(occurrence(place, symbol, 1) for symbol, place in DEFINED.items())
    seen = b"".join(occurrence(place, symbol, 0) for place, symbol in SEEN.items())
    return tool + field(2, field(1, b"a.ts") + defined + seen + related)


@pytest.fixture
def verdicts(tmp_path: Path) -> list[Verdict]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.ts").write_text(SOURCE)
    (tmp_path / "index.scip").write_bytes(index())
    with Engine.open(root) as engine:
        engine.refresh()
        return list(Judge(engine, CompilerIndex(tmp_path / "index.scip")).verdicts())


def test_what_a_compiler_decides_is_compared(verdicts: list[Verdict]) -> None:
    assert {(verdict.site.line, verdict.site.name): verdict.outcome for verdict in verdicts} == {
        (3, "Square"): Outcome.RIGHT,
        (6, "make"): Outcome.RIGHT,
        (6, "area"): Outcome.RIGHT,
        (7, "area"): Outcome.RIGHT,
        (8, "call"): Outcome.ASIDE,
        (9, "other"): Outcome.WRONG,
        (10, "parseInt"): Outcome.OUTSIDE,
    }


def test_what_is_too_much_counts_against_precision_and_what_is_missing_against_recall(verdicts: list[Verdict]) -> None:
    found = row("a/b", "a compiler", verdicts)
    assert (found["sites"], found["precision"], found["recall"], found["set_aside"]) == (5, 0.8, 0.8, 1)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("scip-typescript npm a 1 src/`a.ts`/Foo#bar().", "bar"),
        ("scip-typescript npm a 1 src/`a.ts`/Foo#`<constructor>`().", "constructor"),
        ("scip-python python a 1 `a.b`/Foo#", "Foo"),
        ("scip-python python a 1 `a.b`/name.", "name"),
        ("scip-typescript npm a 1 src/`a.ts`/f().(parameter)", ""),
        ("local 3", ""),
    ],
)
def test_a_symbol_ends_with_its_name(symbol: str, name: str) -> None:
    assert last_name(symbol) == name


def test_bytes_that_are_no_message_are_refused() -> None:
    assert list(packed(varint(300) + varint(5))) == [300, 5]
    for raw in (b"\x80", b"\x0c"):
        with pytest.raises(ValueError, match="no Protocol Buffers message"):
            fields(raw)
