"""A small repository in memory: real symbols of Python text, and a call graph that the test draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tersely.code.languages.python import PYTHON
from tersely.code.symbols import CallSite, Edge, Grade, Kind, Symbol
from tersely.code.syntax.extract import extract
from tersely.context.lenses.candidate import TARGET, TARGET_SCORE, Candidate, View
from tersely.context.pack.texts import Texts

# it raises the recursion limit once, which hypothesis does not want inside an example
extract(b"", PYTHON)


@dataclass
class Planted:
    """Files and what they define. `edges` are (caller id, callee id, grade)."""

    sources: Mapping[str, bytes]
    edges: list[tuple[str, str, Grade]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_path = {path: symbols_in(path, source) for path, source in self.sources.items()}
        self.by_id = {symbol.id: symbol for symbols in self.by_path.values() for symbol in symbols}

    def __getitem__(self, symbol_id: str) -> Symbol:
        return self.by_id[symbol_id]

    def symbol(self, symbol_id: str) -> Symbol | None:
        return self.by_id.get(symbol_id)

    def callers(self, symbol_id: str) -> list[Edge]:
        return [edge for edge in self._edges() if edge.callee == symbol_id]

    def callees(self, symbol_id: str) -> list[Edge]:
        return [edge for edge in self._edges() if edge.caller == symbol_id]

    def calls(self, caller: str, *callees: str, grade: Grade = Grade.EXACT) -> None:
        self.edges += [(caller, callee, grade) for callee in callees]

    def texts(self, *, with_docs: bool = False) -> Texts:
        return Texts(self.sources.__getitem__, self.by_path.__getitem__, with_docs=with_docs)

    def candidate(
        self, symbol_id: str, score: float = TARGET_SCORE, reason: str = TARGET, of: str = ""
    ) -> Candidate:
        return Candidate(self.by_id[symbol_id], score, reason, of)

    def _edges(self) -> list[Edge]:
        return [
            Edge(caller, callee, grade, (CallSite("", 1),)) for caller, callee, grade in self.edges
        ]


def plant(files: Mapping[str, str | bytes]) -> Planted:
    """A repository of some files."""
    return Planted(
        {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    )


def view(candidates: Iterable[Candidate], **beyond: int) -> View:
    """Candidates in the order that a lens would give them."""
    order = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.symbol.id))
    return View(tuple(order), beyond)


def symbols_in(path: str, source: bytes) -> list[Symbol]:
    """The symbols of a Python file, with the ids that the index gives."""
    symbols: list[Symbol] = []
    for definition in extract(source, PYTHON).definitions:
        kind, name, _, parent, *place, _ = definition
        unique = definition.numbered_qualname
        symbol_id = f"{path}:{unique}" if unique else path
        parent_id = symbols[parent].id if symbols else ""
        symbols.append(
            Symbol(symbol_id, path, "python", Kind(kind), name, unique, parent_id, *place)
        )
    return symbols
