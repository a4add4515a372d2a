"""What the symbol lens asks, answered from the call graph and the index of one revision."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from laconic.code.graph.callgraph import CallGraph
from laconic.code.graph.values import CLASS
from laconic.code.index.store import Store
from laconic.code.lenses.mentions import Used, mentioned, visible_in
from laconic.code.symbols import Edge, Import, Symbol


class Neighbours:
    """Callers, callees and compile-time dependencies of symbols; each question is answered once."""

    def __init__(self, graph: CallGraph, store: Store, source_of: Callable[[str], bytes]) -> None:
        self._graph = graph
        self._store = store
        self._source_of = source_of
        self.callers: Callable[[str], list[Edge]] = cache(graph.callers)
        self.callees: Callable[[str], list[Edge]] = cache(graph.callees)
        self.symbol: Callable[[str], Symbol | None] = cache(store.symbol)
        self._visible: Callable[[str], dict[str, Symbol]] = cache(self._visible_in)

    def uses(self, symbol: Symbol) -> list[Used]:
        """The classes and values whose names the text of a symbol mentions, imported ones included."""
        source = self._source_of(symbol.path)
        signature = source[symbol.start_byte : symbol.signature_end_byte].decode("utf-8", "replace")
        body = source[symbol.signature_end_byte : symbol.end_byte].decode("utf-8", "replace")
        return mentioned(symbol, signature, body, self._visible(symbol.path))

    def _visible_in(self, path: str) -> dict[str, Symbol]:
        imported = {item.alias or item.name: self._imported(path, item) for item in self._store.imports(path)}
        known = {name: symbol for name, symbol in imported.items() if symbol is not None}
        return known | visible_in(self._store.symbols_of(path))

    def _imported(self, path: str, item: Import) -> Symbol | None:
        """The class or value that an import binds, None for all else."""
        if not item.name or item.name == "*":
            return None
        program = self._graph.program
        file = program.file(program.by_path[path])
        values = self._graph.evaluator.imported(file, item.module, item.name)
        for value in sorted(values, key=repr):
            if value[0] == CLASS:
                return self.symbol(program.symbol_id(value[1], value[2]))
        places = [self.symbol(f"{program.rows[target].path}:{item.name}") for target in program.modules(file, item.module)]
        return next((place for place in places if place is not None), None)
