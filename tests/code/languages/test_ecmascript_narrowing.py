"""What tests of members tell of objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

CLASSES = """\
class A { run() {}; a = 1 }
class B { run() {}; b = 1 }
"""
INTERFACES = """\
enum Kind { A, B }
interface A { kind: 'a'; tag: Kind.A; ok: true; run(): void }
interface B { kind: 'b'; tag: Kind.B; ok: false; run(): void }
interface C { kind: 'c'; tag: 7; ok: false; run(): void }
type Any = A | B | C
"""


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        ("if ('a' in x) x.run()", "A"),
        ("if ('a' in x) {} else { x.run() }", "B"),
        ("if (!('a' in x)) return; x.run()", "A"),
        ("if ('a' in x) { x = new B(); x.run() }", "AB"),
        ("if ('run' in x) x.run()", "AB"),
        ("if ('other' in x) x.run()", "AB"),
        ("return 'b' in x && x.run()", "B"),
        ("return 'b' in x || x.run()", "A"),
    ],
)
def test_a_member_that_is_there_tells_classes_apart(
    tmp_path: Path, body: str, reached: str
) -> None:
    program = f"{CLASSES}function f(x: A | B) {{ {body} }}"
    _check(tmp_path, program, reached, "AB")


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        ("if (x.kind === 'a') x.run()", "A"),
        ("if ('a' == x.kind) x.run()", "A"),
        ("if (x?.kind === 'a') x.run()", "A"),
        ("if (x.kind !== 'a') x.run()", "BC"),
        ("if (x.kind === 'a') {} else x.run()", "BC"),
        ("if (x.kind === 'a') { return } x.run()", "BC"),
        ("if (x.kind !== 'a' && x.kind !== 'b') { throw 1 } x.run()", "ABC"),
        ("if (!(x.kind === 'a') || x.run()) {}", "A"),
        ("return x.kind === 'a' ? 1 : x.run()", "BC"),
        ("if (x.ok) x.run()", "A"),
        ("if (!x.ok) x.run()", "BC"),
        ("if (x.ok === false) x.run()", "BC"),
        ("if (x.tag === Kind.B) x.run()", "B"),
        ("if (x.tag === 7) x.run()", "C"),
        ("if (x.kind === g()) x.run()", "ABC"),
        ("if (x.kind === 'a') { x = g(); x.run() }", "ABC"),
        ("switch (x.kind) { case 'a': x.run(); break; case 'b': }", "A"),
        ("switch (x.kind) { case 'a': case 'b': { x.run() } }", "AB"),
        ("switch (x.kind) { case 'a': g(); case 'b': x.run() }", "AB"),
        ("switch (x.kind) { case 'a': { break } case 'b': x.run() }", "B"),
        ("switch (x.kind) { case 'a': return; default: x.run(); case 'b': }", "C"),
        ("switch (x.kind) { default: case 'b': x.run() }", "ABC"),
        ("switch (x.tag) { case Kind.A: return; default: x.run() }", "BC"),
        ("switch (x.kind) { case g(): return; case 'a': x.run() }", "A"),
        ("switch (g()) { case 'a': x.run() }", "ABC"),
    ],
)
def test_a_member_of_one_value_tells_types_apart(tmp_path: Path, body: str, reached: str) -> None:
    program = f"{INTERFACES}function g(): any {{}}\nfunction f(x: Any) {{ {body} }}"
    _check(tmp_path, program, reached, "ABC")


def _check(tmp_path: Path, program: str, reached: str, every: str) -> None:
    """`f` calls the method `run` of the types that are reached, and of no other."""
    others = [name for name in every if name not in reached]
    check(
        tmp_path,
        {"a.ts": program},
        edges=[f"a.ts:f -> a.ts:{name}.run inferred" for name in reached],
        absent=[f"a.ts:f -> a.ts:{name}.run" for name in others],
    )


def test_what_objects_are_written_with_tells_them_apart(tmp_path: Path) -> None:
    program = """\
const a = { kind: "a", run() {} };
const b = { kind: "b", run() {} };
function g(x) { if (x.kind === "a") x.run(); }
function h(x) { switch (x.kind) { case "b": x.run(); } }
function f(one) { g(one ? a : b); h(one ? a : b); }
"""
    check(
        tmp_path,
        {"a.js": program},
        edges=["a.js:g -> a.js:a.run inferred", "a.js:h -> a.js:b.run inferred"],
        absent=["a.js:g -> a.js:b.run", "a.js:h -> a.js:a.run"],
    )
