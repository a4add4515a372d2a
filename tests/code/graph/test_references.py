"""References: every name that means a type, a constant, a field or a function, and what it is
written for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from tersely.code.engine import Engine
from tersely.code.graph import definition
from tersely.code.graph.definition import Definitions, SymbolsMeant
from tersely.code.graph.references import References
from tersely.code.languages.model import Language
from tersely.code.syntax.trace import Trace
from tersely.code.syntax.trace import trace as walk

WORD = re.compile(rb"\w+").finditer

PYTHON = {
    "store.py": """\
        LIMIT = 3

        class Store:
            size = 0
            def put(self, item): self.size = item

        def make() -> "Store": return Store()
        """,
    "shop.py": """\
        from store import LIMIT as MOST, Store
        import store

        class Shop(Store):
            owner: Store
            def fill(self, other: list[Store], what=None):
                # Store LIMIT
                for each in other: each.put(MOST)
                return store.LIMIT, what.put, what.store, "Store"
        """,
}
TYPESCRIPT = {
    "repo.ts": """\
        export interface Repo { find(id: number): Item; limit?: number }
        export class Item { price = 1 }
        export default function open(): Repo { return null as any }
        """,
    "app.ts": """\
        import start, { Repo, Item as Thing } from './repo'
        class Memory implements Repo {
          find(id: number): Thing { return new Thing() }
        }
        const repo: Repo = start()
        console.log(repo.find(1).price)
        const {limit} = repo
        const none: Repo = { find: () => null, limit: 1 }
        """,
}
JAVA = {
    "a/Owners.java": """\
        package a;
        public interface Owners { String find(int id); int MOST = 3; }
        """,
    "a/Page.java": """\
        package a;
        class Page implements Runnable {
            private final Owners owners;
            Page(Owners owners) { this.owners = owners; }
            public void run() { owners.find(Owners.MOST); }
        }
        """,
}
GO = {
    "shop/shop.go": """\
        package shop

        type Item struct { Price int }

        type byPrice []Item

        func (b byPrice) Len() int { return len(b) }

        const Most = 2

        func Make(price int) *Item { return &Item{Price: price + Most} }
        """,
    "main.go": """\
        package main

        import "example.com/x/shop"

        func main() { var it *shop.Item = shop.Make(shop.Most); println(it.Price) }
        """,
    "go.mod": "module example.com/x\n",
}
RUST = {
    "src/lib.rs": """\
        pub const MOST: u8 = 3;
        pub struct Item { pub price: u8 }
        pub trait Priced { fn price(&self) -> u8; }
        impl Priced for Item { fn price(&self) -> u8 { self.price.min(MOST) } }
        """,
    "src/cart.rs": """\
        use crate::Item;
        fn total(items: &[Item]) -> u8 { items[0].price }
        fn made(price: u8) -> Item { Item { price: price } }
        fn short(price: u8) -> Item { Item { price } }
        fn taken(item: Item) -> u8 { let Item { price } = item; price }
        fn named(item: Item) -> u8 { let Item { price: other } = item; other }
        """,
}
C = {
    "item.h": """\
        #define MOST 3
        struct item { int price; };
        int total(struct item *one);
        """,
    "item.c": """\
        #include "item.h"
        int total(struct item *one) { return one->price + MOST; }
        int twice(struct item *one) { return 2 * total(one); }
        struct item made(int price) { struct item one = { .price = price }; return one; }
        """,
}
CASES = [
    (PYTHON, "store.py:Store", ["shop.py:1 import", "shop.py:4 base", "shop.py:5 type", "shop.py:6 type",
                                "store.py:7 type", "store.py:7 call"]),
    (PYTHON, "store.py:LIMIT", ["shop.py:1 import", "shop.py:1 import", "shop.py:8 read", "shop.py:9 read"]),
    (PYTHON, "Store.put", ["shop.py:8 call inferred", "shop.py:9 read by_name"]),
    (PYTHON, "Store.size", ["store.py:5 write"]),
    (TYPESCRIPT, "repo.ts:Repo", ["app.ts:1 import", "app.ts:2 base", "app.ts:5 type", "app.ts:8 type",
                                  "repo.ts:3 type"]),
    (TYPESCRIPT, "Repo.limit", ["app.ts:7 write inferred", "app.ts:8 write"]),
    (TYPESCRIPT, "repo.ts:Item", ["app.ts:1 import", "app.ts:1 import", "app.ts:3 type", "app.ts:3 call",
                                  "repo.ts:1 type"]),
    (TYPESCRIPT, "repo.ts:open", ["app.ts:1 import", "app.ts:5 call"]),
    (TYPESCRIPT, "Item.price", ["app.ts:6 read inferred"]),
    (JAVA, "Owners", ["a/Page.java:3 type", "a/Page.java:4 type", "a/Page.java:5 read"]),
    (JAVA, "Owners.find", ["a/Page.java:5 call inferred"]),
    (JAVA, "Owners.MOST", ["a/Page.java:5 read"]),
    (JAVA, "Page.owners", ["a/Page.java:4 write", "a/Page.java:5 read"]),
    (GO, "shop.go:Item", ["main.go:5 type", "shop/shop.go:5 type", "shop/shop.go:11 type", "shop/shop.go:11 type"]),
    (GO, "Most", ["main.go:5 read", "shop/shop.go:11 read"]),
    (GO, "Item.Price", ["main.go:5 read inferred", "shop/shop.go:11 write inferred"]),
    (RUST, "src/lib.rs:Item", ["src/lib.rs:4 type", "src/cart.rs:1 import", "src/cart.rs:2 type",
                            "src/cart.rs:3 type", "src/cart.rs:3 type", "src/cart.rs:4 type", "src/cart.rs:4 type",
                            "src/cart.rs:5 type", "src/cart.rs:5 type", "src/cart.rs:6 type", "src/cart.rs:6 type"]),
    (RUST, "Item.price", ["src/lib.rs:4 read", "src/cart.rs:2 read inferred", "src/cart.rs:3 write inferred",
                          "src/cart.rs:4 read inferred", "src/cart.rs:5 write inferred",
                          "src/cart.rs:6 read inferred"]),
    (RUST, "MOST", ["src/lib.rs:4 read"]),
    (RUST, "Priced", ["src/lib.rs:4 base"]),
    (C, "item.h:item", ["item.c:2 type", "item.c:3 type", "item.c:4 type", "item.c:4 type", "item.h:3 type"]),
    (C, "item.price", ["item.c:2 read inferred", "item.c:4 write inferred"]),
    (C, "item.c:total", ["item.c:3 call"]),
    (C, "MOST", ["item.c:2 read"]),
]  # fmt: skip


@pytest.mark.parametrize("sources", [PYTHON, TYPESCRIPT, JAVA, GO, RUST, C])
def test_every_name_that_means_a_symbol(tmp_path: Path, sources: dict[str, str]) -> None:
    _write(tmp_path, sources)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        finder = References(engine.graph, engine.source)
        for wanted in (case for case in CASES if case[0] is sources):
            symbol = engine.symbol(wanted[1])
            said = [
                f"{one.path}:{one.line} {one.use} {one.grade}".removesuffix(" exact")
                for one in finder.of(symbol.id)
            ]
            assert sorted(said) == sorted(wanted[2]), wanted[1]


EVERYWHERE = {
    "shop/stock.py": """\
        from .units import *
        from . import units as measures

        class Stock(measures.Measured):
            size = weight = 0
            def put(self, item): self.size = weigh(item)
            def __len__(self): return super().__len__()
            take = put
        OTHER = Stock
        """,
    "shop/units.py": """\
        class Measured:
            size = 1
            def __len__(self): return self.size
        def weigh(item): return item.weight
        """,
    "shop/__init__.py": "from .stock import OTHER as Shelf, Stock",
    "main.py": """\
        import shop as market

        def run(given=market.Shelf()):
            from shop.units import weigh as measure
            market.Stock().put(given); given.take(measure); measure(market.Shelf)
            table = {"put": given}; table["put"].put(1); return len(given)
        """,
}


@pytest.mark.parametrize("sources", [PYTHON, EVERYWHERE, TYPESCRIPT, JAVA, GO, RUST, C])
def test_no_name_means_a_symbol_that_the_facts_of_its_file_rule_out(
    tmp_path: Path, sources: dict[str, str]
) -> None:
    _write(tmp_path, sources)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        program = engine.graph.program
        definitions, known = Definitions(engine.graph, engine.source), SymbolsMeant(engine.graph)
        for path in set(sources) & set(program.by_path):
            file, source = program.file(program.by_path[path]), engine.source(path)
            starts = [word.start() for word in WORD(source)]
            words = {start: 1 + source.count(b"\n", 0, start) for start in starts}
            for meaning in definitions.names(file, source, words):
                elsewhere = {
                    place.symbol
                    for place in meaning.places
                    if ":" in place.symbol and place.path != path
                }
                name, lines = meaning.token.name, set(words.values())
                assert elsewhere <= {*known.of(file, name, lines)}, (path, meaning)


def test_only_the_files_that_may_refer_to_it_are_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked: list[bytes] = []

    def trace(source: bytes, language: Language, offsets: Sequence[int] = ()) -> Trace:
        walked.append(source)
        return walk(source, language, offsets)

    monkeypatch.setattr(definition, "trace", trace)
    local = "def first():\n    def inner(): pass\ndef second():\n    inner = 1\n    return inner\n"
    _write(
        tmp_path,
        {"a.py": "def alone(): return 1\ndef called(): return called\n", "local.py": local},
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        finder = References(engine.graph, engine.source)
        assert finder.of("a.py:alone") == []
        assert finder.of("local.py:first.inner") == []
        assert walked == []
        assert [each.line for each in finder.of("a.py:called")] == [2]
        assert walked == [engine.source("a.py")]


def test_another_name_of_a_type_is_no_scope_that_names_are_looked_up_in(tmp_path: Path) -> None:
    user = '#include "item.hpp"\nint twice() { return 2 * made(); }\n'
    item = "typedef struct item_s item_t;\nint made();\n"
    _write(tmp_path, {"item.hpp": item, "user.cpp": f"typedef struct a_s a_t;\n{user}"})
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = engine.references.of("item.hpp:made")
        assert [(each.path, each.line) for each in found] == [("user.cpp", 3)]


def _write(root: Path, sources: dict[str, str]) -> Sequence[Path]:
    paths = [root / path for path in sources]
    for path, text in zip(paths, sources.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return paths
