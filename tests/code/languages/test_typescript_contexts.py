"""What a function is given follows from where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check

from tersely.code.languages.typescript import readable_elements, readable_types

LIBRARY = """\
export class Context { text(s: string) { return s } }
export class Lock { release() {} }
export class Item { run() {} }
export type Handler<E = any> = (c: Context, next: () => void) => string
export type H<E> = Handler<E> | ((c: Context) => Promise<string>)
export interface Get<E> {
  <P extends string>(handler: H<E>): App
  // with a path
  <P extends string>(path: P, ...handlers: [H<E>, H<E>]): App
}
export class App { get!: Get<string>; use(handler: Handler) {} }
export interface Options {
  onItem: (item: Item) => void
  inner?: { done(lock: Lock): void }
  all: ((i: Item) => void)[]
}
export async function withLock(run: (lock: Lock) => Promise<void>) {}
export function configure(options: Options) {}
export const items: Item[] = []
"""
START = "import { App, Context, Item, Lock, Handler, Options, configure, items, withLock } from './lib'\n"
TEXT, RELEASE, RUN = "lib.ts:Context.text", "lib.ts:Lock.release", "lib.ts:Item.run"


@pytest.mark.parametrize(
    ("caller", "program", "callee"),
    [
        ("f", "function f() { new App().get('/', (c) => c.text('')) }", TEXT),
        (
            "f",
            "function f() { new App().get((c) => c.text('')).get('/', (c) => c, async c => c.text('')) }",
            TEXT,
        ),
        ("f", "function f() { new App().use(function (c) { return c.text('') }) }", TEXT),
        ("f", "async function f() { await withLock(async (lock) => lock.release()) }", RELEASE),
        ("f", "function f() { items.forEach((x) => x.run()) }", RUN),
        ("f.h", "function f() { const h: Handler = (c) => c.text('') }", TEXT),
        ("f", "function f(): Handler { return (c) => c.text('') }", TEXT),
        ("", "function f(h: Handler = (c) => c.text('')) {}", TEXT),
        ("f.onItem", "function f() { configure({ onItem: (item) => item.run(), all: [] }) }", RUN),
        ("f", "function f() { configure({ onItem() {}, all: [(item) => item.run()] }) }", RUN),
        ("f.onItem", "function f() { configure({ onItem(item) { item.run() }, all: [] }) }", RUN),
        (
            "f.o.inner.done",
            "function f() { const o: Options = { inner: { done(lock) { lock.release() } } } }",
            RELEASE,
        ),
        (
            "f.inner.done",
            "function f() { const o = { inner: { done: (lock) => lock.release() } } satisfies Options }",
            RELEASE,
        ),
        ("K.f.h", "class K { private h: (i: Item) => void; f() { this.h = (i) => i.run() } }", RUN),
        (
            "f.o.on",
            "function f() { const o: { on: (p: { item: Item }) => void } = { on: ({ item }) => item.run() } }",
            RUN,
        ),
    ],
)
def test_a_parameter_without_a_type_has_that_of_its_place(
    tmp_path: Path, caller: str, program: str, callee: str
) -> None:
    check(
        tmp_path,
        {"lib.ts": LIBRARY, "a.ts": START + program},
        edges=[f"{':'.join(filter(None, ('a.ts', caller)))} -> {callee} inferred"],
    )


def test_a_type_of_its_own_and_other_arguments_decide_otherwise(tmp_path: Path) -> None:
    program = """\
function f() { withLock(async (lock: Item) => { lock.release(); lock.run() }) }
function g() { configure({ onItem: (item, other) => { other.release() }, all: [] }) }
"""
    check(
        tmp_path,
        {"lib.ts": LIBRARY, "a.ts": START + program},
        edges=[f"a.ts:f -> {RUN} inferred"],
        absent=[f"a.ts:f -> {RELEASE} inferred", f"a.ts:g -> {RELEASE} inferred"],
    )


def test_signatures_with_type_parameters_need_no_separator(tmp_path: Path) -> None:
    source = "interface A {\n  <T>(a: T): B\n  <T extends X>(\n    b: T\n  ): B\n}\nfunction after() {}\n"
    check(tmp_path, {"a.ts": source}, definitions=["a.ts:A interface 1", "a.ts:after function 7"])


@given(
    st.lists(
        st.sampled_from(
            [
                "interface A {",
                "x: B",
                "  <T extends B>(a: T): C",
                "// <T>",
                "  <p>",
                "}",
                "a >",
                "*/",
            ]
        )
    )
)
def test_what_is_read_has_its_length_and_its_lines(lines: list[str]) -> None:
    source = "\n".join(lines).encode()
    for readable in (readable_types, readable_elements):
        made = readable(source)
        assert len(made) == len(source)
        assert [place for place, byte in enumerate(made) if byte == 10] == [
            place for place, byte in enumerate(source) if byte == 10
        ]
        assert b";<p" not in made
