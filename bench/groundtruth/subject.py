"""The engine as the suites see it: a case copied to a scratch folder, indexed there and asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench import scratch
from tersely.code.engine import Engine
from tersely.code.symbols import CLASS_KINDS, Edge, Symbol

EXTERNAL = "external:"


@dataclass(slots=True)
class Subject:
    """One indexed case."""

    root: Path
    engine: Engine
    symbols: dict[str, Symbol] = field(default_factory=dict)  # by id

    def paths(self) -> list[str]:
        """Every indexed file."""
        return sorted({symbol.path for symbol in self.symbols.values()})

    def edges(self, *, fold_anonymous: bool = False) -> list[Edge]:
        """Call edges inside the case; folded, anonymous functions call as what encloses them.

        Who calls a decorated function calls what the decorator made of it, in all truths, and that
        calls the function.
        """
        every = self.engine.graph.edges(fold_anonymous=fold_anonymous, behind_decorators=False)
        return [edge for edge in every if not edge.callee.startswith(EXTERNAL)]

    def definition_lines(self, path: str, line: int, column: int) -> set[tuple[str, int]]:
        """Where the name at a position is defined, as (path, line); line from 1, column from 0."""
        return {(place.path, place.line) for place in self.engine.definition(path, line, column)}

    def text(self, path: str) -> str:
        """Source text of one file of the case."""
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def children(self, symbol_id: str) -> list[Symbol]:
        """Symbols directly inside another, in order of appearance."""
        inside = [symbol for symbol in self.symbols.values() if symbol.parent == symbol_id]
        return sorted(inside, key=lambda symbol: symbol.start_byte)

    def constructor(self, symbol_id: str, names: tuple[str, ...]) -> str:
        """What calling a class means: its own constructor, "" if it has none. Other symbols mean
        themselves.
        """
        symbol = self.symbols.get(symbol_id)
        if symbol is None or symbol.kind not in CLASS_KINDS:
            return symbol_id
        return next((child.id for child in self.children(symbol_id) if child.name in names), "")


@contextmanager
def copied(folder: Path) -> Iterator[Subject]:
    """A folder of the data set, copied so that nothing is written beside the data. No truth speaks of
    notebooks: those of one suite say once more what its modules do.
    """
    with scratch.copied(folder, ".git", "*.ipynb") as root, Engine.open(root) as engine:
        yield _indexed(root, engine)


@contextmanager
def written(files: Mapping[str, str]) -> Iterator[Subject]:
    """Files given as text, by path."""
    with tempfile.TemporaryDirectory(prefix="tersely-case-") as folder:
        root = Path(folder) / "case"
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        with Engine.open(root) as engine:
            yield _indexed(root, engine)


def _indexed(root: Path, engine: Engine) -> Subject:
    engine.refresh()
    return Subject(root, engine, {symbol.id: symbol for symbol in engine.store.symbols()})
