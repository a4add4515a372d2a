"""What the tests of languages share: a small repository in, its facts out.

`check` compares only what it is given. Definitions are spelled `path:qualified.name kind line`,
imports `path: module name alias`, edges `caller -> callee grade`, docs by symbol id.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from tersely.code.engine import Engine
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol
from tersely.code.syntax.extract import extract

SPLINTERS = (
    b"(",
    b")",
    b"{",
    b"}",
    b"end",
    b"\xff",
    b"'",
    b'"',
    b"\n",
    b"::",
    b",",
    b"=",
    b"do",
    b"#{",
    b"@",
    b"|>",
)


def check(
    root: Path,
    files: Mapping[str, str],
    *,
    definitions: Sequence[str] = (),
    imports: Sequence[str] | None = None,
    edges: Sequence[str] = (),
    absent: Sequence[str] = (),
    docs: Mapping[str, str] | None = None,
    signatures: Mapping[str, str] | None = None,
) -> None:
    """Index the files and compare; everything listed must be there, everything in `absent` (edges)
    must not.
    """
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    with Engine.open(root) as engine:
        engine.refresh()
        found = {
            f"{symbol.id} {symbol.kind.value} {symbol.name_line}" for symbol in _symbols(engine)
        }
        assert sorted(set(definitions) - found) == [], sorted(found)
        if imports is not None:
            assert sorted(imports) == sorted(_imports(engine))
        known = {
            f"{edge.caller} -> {edge.callee} {edge.grade.value}" for edge in engine.graph.edges()
        }
        assert sorted(set(edges) - known) == [], sorted(known)
        assert [edge for edge in absent if any(one.startswith(edge) for one in known)] == []
        _agree_both_ways(engine)
        for symbol in _symbols(engine):
            text = engine.source(symbol.path)
            if docs and symbol.id in docs:
                assert text[symbol.doc_start_byte : symbol.doc_end_byte].decode() == docs[symbol.id]
            if signatures and symbol.id in signatures:
                assert (
                    text[symbol.start_byte : symbol.signature_end_byte].decode().strip()
                    == signatures[symbol.id]
                )


def _symbols(engine: Engine) -> list[Symbol]:
    return [
        symbol for file in engine.store.files() for symbol in engine.store.symbols_of(file.path)
    ]


def _imports(engine: Engine) -> list[str]:
    return [
        f"{file.path}: {item.module} {item.name} {item.alias}".rstrip()
        for file in engine.store.files()
        for item in engine.store.imports(file.path)
    ]


def _agree_both_ways(engine: Engine) -> None:
    """Who calls is named as a caller, and who is named as a caller does call, a method without a
    body by calling one that implements it.
    """
    graph = engine.graph
    for edge in graph.edges(guesses=False):
        callee = engine.store.symbol(edge.callee)
        if callee is not None and callee.kind not in CLASS_KINDS:
            callers = {known.caller for known in graph.callers(edge.callee, guesses=False)}
            assert edge.caller in callers, edge
    for symbol in _symbols(engine):
        if symbol.kind in (Kind.FUNCTION, Kind.METHOD, Kind.MACRO) and symbol.name[:1] != "<":
            for edge in graph.callers(symbol.id, guesses=False):
                callees = {known.callee for known in graph.callees(edge.caller, guesses=False)}
                assert symbol.id in callees or symbol.name in {
                    _last_name(callee) for callee in callees
                }, edge


def _last_name(symbol_id: str) -> str:
    """The name that a definition is written with: without what is around it, without its number."""
    return symbol_id.rpartition(".")[2].partition("#")[0]


def splinter(text: bytes, seed: int) -> bytes:
    """Source that somebody has broken: pieces cut out, doubled, or strewn with brackets."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(len(text) + 1), chance.randrange(40)
        text = chance.choice(
            [
                text[:at] + text[at + length :],
                text[:at] + chance.choice(SPLINTERS) + text[at:],
                text[:at] + text[at : at + length] * 2 + text[at + length :],
                text[:at],
            ]
        )
    return text


def read(text: bytes, language: str) -> None:
    """Extraction of any text gives facts that are consistent, and never fails."""
    facts = extract(text, LANGUAGES[language])
    assert len(facts.definitions) == len(facts.scopes)
    for position, definition in enumerate(facts.definitions):
        assert definition.parent < position
        assert 0 <= definition.start_byte <= definition.end_byte <= len(text)
        assert definition.start_line <= definition.name_line
