"""An indexed case without an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bench.groundtruth.subject import Subject

from tersely.code.symbols import CallSite, Edge, Grade, Kind, Symbol


@dataclass
class FixedGraph:
    """A graph that knows its edges beforehand."""

    found: list[Edge]

    def edges(self, *, fold_anonymous: bool, behind_decorators: bool = True) -> Iterator[Edge]:
        return iter(self.found)


@dataclass
class FixedEngine:
    graph: FixedGraph


def symbol(symbol_id: str, kind: Kind, line: int = 1, end_line: int = 0) -> Symbol:
    """A symbol of which only the name, the kind and the place matter."""
    path, _, qualname = symbol_id.partition(":")
    outer = qualname.rpartition(".")[0]
    parent = f"{path}:{outer}" if outer else path if qualname else ""
    name = qualname.rpartition(".")[2] or path
    start = line * 100
    return Symbol(
        symbol_id,
        path,
        "",
        kind,
        name,
        qualname,
        parent,
        line,
        end_line or line,
        line,
        start,
        start + 1,
        start + 1,
        0,
        0,
    )


def subject(root: Path, symbols: list[Symbol], edges: list[tuple[str, str, int]]) -> Subject:
    """A case of hand-made symbols and (caller, callee, line of the call)."""
    for path in {each.path for each in symbols}:
        target = root / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n" * 50)
    found = [
        Edge(caller, callee, Grade.EXACT, (CallSite(caller.partition(":")[0], line),))
        for caller, callee, line in edges
    ]
    return Subject(
        root, cast("Any", FixedEngine(FixedGraph(found))), {each.id: each for each in symbols}
    )
