"""All that the Tersely on the path knows of a repository: `python dump.py ROOT SYMBOLS` prints rows
of kind, key and value, by tabs.

Backward edges are asked of that many symbols, chosen by the hashes of their ids, 0 for all. This file
runs under other revisions too: it imports nothing but what all of them have.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from tersely.code.engine import Engine, Store  # type: ignore[attr-defined]  # wherever it lies
from tersely.code.symbols import CLASS_KINDS, Edge, Grade, Kind, Symbol

CALLED = CLASS_KINDS | {Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY}
CONSTRUCTORS = (".__init__", ".__new__")


class Row(NamedTuple):
    """Something that is known; the key is unique within a kind."""

    kind: str
    key: str
    value: str


def rows(root: Path, most_symbols: int) -> Iterator[Row]:
    """Everything, file by file, then edge by edge."""
    with Engine(root, Store.in_memory()) as engine:
        engine.refresh()
        store = engine.store
        for skipped in store.skipped():
            yield Row("skipped", skipped.path, skipped.reason.value)
        for file in store.files():
            symbols = store.symbols_of(file.path)
            yield Row("file", file.path, f"{file.language} {file.namespace}")
            yield from _facts(store, file.id, file.path, symbols)
        yield from _edges(engine, list(store.symbols()), most_symbols)


def _facts(store: Store, file_id: int, path: str, symbols: list[Symbol]) -> Iterator[Row]:
    facts = store.facts(file_id)
    for symbol, scope in zip(symbols, facts.scopes, strict=True):
        lines = f"{symbol.start_line}-{symbol.end_line}"
        yield Row("symbol", symbol.id, f"{symbol.kind} {lines} {symbol.signature_end_byte}")
        yield Row("scope", symbol.id, _digest(repr(scope)))
    for at, each in enumerate(facts.imports):
        yield Row("import", f"{path} #{at}", f"{each.line} {each.module} {each.name} {each.alias}")
    for name in facts.mentions:
        yield Row("mention", f"{path} {name}", "")
    for at, problem in enumerate(facts.problems):
        yield Row("problem", f"{path} #{at}", f"{problem.line} {problem.message}")


def _edges(engine: Engine, symbols: list[Symbol], most: int) -> Iterator[Row]:
    forward = list(engine.graph.edges())
    yield from _shown("forward edge", forward)
    asked = sorted(symbols, key=lambda symbol: sha256(symbol.id.encode()).digest())
    asked = asked[:most] if most else asked
    backward = [edge for symbol in asked for edge in engine.graph.callers(symbol.id)]
    yield from _shown("backward edge", backward)
    kinds = {symbol.id: symbol.kind for symbol in asked if symbol.kind in CALLED}
    yield from _one_way(_sure(forward, kinds), _sure(backward, kinds), kinds, forward)


def _one_way(
    forward: set[tuple[str, str]],
    backward: set[tuple[str, str]],
    kinds: dict[str, Kind],
    edges: Iterable[Edge],
) -> Iterator[Row]:
    """The edges that only one direction has; calling a class is calling its constructor."""
    constructing = {edge.caller for edge in edges if edge.callee.endswith(CONSTRUCTORS)}
    for caller, callee in sorted(forward ^ backward):
        if kinds[callee] not in CLASS_KINDS or caller not in constructing:
            way = "forward" if (caller, callee) in forward else "backward"
            yield Row("one way only", f"{caller} → {callee}", way)


def _sure(edges: Iterable[Edge], kinds: dict[str, Kind]) -> set[tuple[str, str]]:
    """Caller and callee of edges to some symbols that are found by more than a name."""
    return {
        (edge.caller, edge.callee)
        for edge in edges
        if edge.callee in kinds and edge.grade is not Grade.BY_NAME
    }


def _shown(kind: str, edges: Iterable[Edge]) -> Iterator[Row]:
    for edge in edges:
        sites = " ".join(f"{site.path}:{site.line}" for site in edge.sites)
        shown = sites if len(sites) < 200 else _digest(sites)
        yield Row(kind, f"{edge.caller} → {edge.callee}", f"{edge.grade.value} {edge.rule} {shown}")


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def main(words: list[str]) -> None:
    """Print all rows."""
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    for row in rows(Path(words[0]).resolve(), int(words[1])):
        print("\t".join(part.replace("\n", " ").replace("\t", " ") for part in row))


if __name__ == "__main__":
    main(sys.argv[1:])
