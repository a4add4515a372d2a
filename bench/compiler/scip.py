"""An index in the SCIP format: where a compiler saw which symbol, and where each is defined.

The numbers of fields are those of `scip.proto` (github.com/sourcegraph/scip).
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from bench.compiler.wire import fields, number, packed, text

DEFINITION = 1  # the bit among the roles of an occurrence
LOCAL = "local "  # how symbols begin that one document alone knows
LAST_NAME = re.compile(r"(?:`([^`]+)`|([\w$+-]+))(?:\(\+?\d*\)\.|[#.])$")  # and what marks a method, type or term
UTF8, UTF16, UTF32 = 1, 2, 3  # what a document counts columns in; 0 stands for UTF-16
CODECS = {UTF8: "utf-8", UTF16: "utf-16-le", UTF32: "utf-32-le"}
UNITS = {UTF8: 1, UTF16: 2, UTF32: 4}  # bytes


class Place(NamedTuple):
    """Where a name begins: line and column from 0, the column in the units of the document."""

    path: str
    line: int
    column: int


class CompilerIndex:
    """The symbols of an index, by place and by definition."""

    def __init__(self, index: Path) -> None:
        self.symbols: dict[Place, set[str]] = defaultdict(set)
        self.definitions: dict[str, set[Place]] = defaultdict(set)
        self.encodings: dict[str, int] = {}
        self._kin: dict[str, set[str]] = defaultdict(set)  # what a symbol implements, and what implements it
        content = fields(index.read_bytes())
        metadata = fields(content[1][0])
        self.tool = text(fields(metadata[2][0]), 1) if 2 in metadata else ""  # who made the index
        for raw in content[2]:
            self._read_document(fields(raw))

    def _read_document(self, document: dict[int, list[Any]]) -> None:
        path = text(document, 1)
        self.encodings[path] = number(document, 6) or UTF16
        for raw in document[2]:
            occurrence = fields(raw)
            begin = list(packed(occurrence[1][0]))
            symbol, place = text(occurrence, 2), Place(path, begin[0], begin[1])
            self.symbols[place].add(symbol)
            if number(occurrence, 3) & DEFINITION:
                self.definitions[symbol].add(place)
        for raw in document[3]:
            self._read_relationships(fields(raw))

    def _read_relationships(self, symbol: dict[int, list[Any]]) -> None:
        name = text(symbol, 1)
        for related in map(fields, symbol[4]):
            if number(related, 3):
                self._kin[name].add(text(related, 1))
                self._kin[text(related, 1)].add(name)

    def column(self, path: str, line: bytes, byte: int) -> int:
        """The column at a byte of a line, as the compiler counts it."""
        encoding = self.encodings.get(path, UTF16)
        return len(line[:byte].decode("utf-8", "replace").encode(CODECS[encoding])) // UNITS[encoding]

    def family(self, symbol: str) -> set[str]:
        """A symbol with those that it implements or that implement it, over any number of steps."""
        found = {symbol}
        pending = [symbol]
        while pending:
            fresh = self._kin.get(pending.pop(), set()) - found
            found |= fresh
            pending += fresh
        return found


def last_name(symbol: str) -> str:
    """The name of a function, method, type or term by its symbol, "" for everything else; `<init>` gives `init`."""
    found = LAST_NAME.search(symbol) if not symbol.startswith(LOCAL) else None
    return (found[1] or found[2]).strip("<>") if found is not None else ""
