"""The parts of a change, and their source as the change leaves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tersely.code.engine import Engine
from tersely.code.index.history.history import history
from tersely.code.symbols import Import, Kind, Symbol, SymbolsOf
from tersely.context.lenses.candidate import View
from tersely.context.lenses.diff.change import Change, ChangeSources, in_tree
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange, Side
from tersely.context.lenses.neighbours import Neighbours
from tersely.context.pack.excerpt import Line, lines_of
from tersely.context.pack.texts import Texts, cut_to_parts
from tersely.foundation.types import replace


class ChangeView(NamedTuple):
    """A view of a change, and what reads the source of that view or of one that holds more."""

    view: View
    texts_of: Callable[[View], Texts]


def around_change(
    engine: Engine,
    root: Path,
    change: Change,
    changed: Sequence[ChangedSymbol],
    budget: int,
    *,
    with_docs: bool,
    fills: bool = True,
) -> ChangeView:
    """The candidates of a pack about a change; with `fills` as many as a budget in tokens may have
    room for.
    """
    from tersely.context.lenses.diff.rank import view_of

    sources = sources_of(engine, root, change)
    view = view_of(change.files, changed, sources, budget, fills=fills)
    view = replace(view, base=change.base, head=change.head)
    return ChangeView(
        view,
        lambda seen: _texts(
            seen, change.files, sources.text_of, sources.symbols_of, with_docs=with_docs
        ),
    )


def sources_of(engine: Engine, root: Path, change: Change) -> ChangeSources:
    """The answers to what the lens asks about a repository, with a change in it."""
    asked = _Changed(engine, root, change)
    store, graph = engine.store, engine.graph
    paths = {file.id: file.path for file in store.files()}
    committed = sorted(
        {file.diff.old_path for file in change.files if file.diff.old_path and file.before}
    )
    return ChangeSources(
        asked.symbols_of,
        asked.text_of,
        lambda name: [paths[one] for one in store.files_mentioning(name) if one in paths],
        graph.passings,
        graph.members_of,
        graph.nearby.callers,
        graph.nearby.callees,
        cache(lambda: engine.search.searcher().lexicon),
        cache(lambda: history(root, change.tip, committed, store.directory)),
        set(paths.values()),
        cache(asked.imports_of),
        lambda name: {one.path for one in store.symbols_named(name) if one.kind is not Kind.MODULE},
        asked.locals_of,
        asked.aliases_of,
        asked.imported,
        asked.imports_of_left,
    )


class _Changed:
    """A repository in which files have changed, as the change leaves them."""

    def __init__(self, engine: Engine, root: Path, change: Change) -> None:
        self._graph, self._store, self._root = engine.graph, engine.store, root
        left = {one.diff.old_path for one in change.files} - {one.diff.path for one in change.files}
        gone = {path: Side(path, b"", ()) for path in left}
        self._sides = gone | {one.after.path: one.after for one in change.files if one.after}
        self._neighbours = Neighbours(engine.graph, engine.store, self.text_of)

    def text_of(self, path: str) -> bytes:
        """The source of a file, nothing of one that cannot be read."""
        side = self._sides.get(path)
        return side.text if side is not None else in_tree(self._root, path) or b""

    def symbols_of(self, path: str) -> Sequence[Symbol]:
        """The symbols of a file."""
        side = self._sides.get(path)
        return side.symbols if side is not None else self._store.symbols_of(path)

    def imports_of(self, path: str) -> set[str]:
        """The files that a file imports from."""
        is_known = path in self._graph.program.by_path
        return self._targets(path, self._store.imports(path) if is_known else ())

    def aliases_of(self, path: str) -> set[str]:
        """The names that a file imports."""
        return {item.alias for item in self._store.imports(path)}

    def imported(self, path: str, alias: str) -> set[str]:
        """The files that such a name is imported from."""
        items = [item for item in self._store.imports(path) if item.alias == alias]
        return self._targets(path, items)

    def locals_of(self, symbol: Symbol) -> frozenset[str]:
        """What a function and those around it name by themselves, its own imports aside."""
        lines = range(symbol.start_line, symbol.end_line + 1)
        imported = {one.alias for one in self._store.imports(symbol.path) if one.line in lines}
        return self._neighbours.locals(symbol) - imported

    def imports_of_left(self, path: str) -> list[tuple[str, int]]:
        """The imports that name a file which has left, by file and line."""
        # few changes need it
        from tersely.context.lenses.test_impact.importing import imports_of_gone

        found = imports_of_gone(path, self._store.every_import())
        return [(one, item.line) for one, item in found if not self._targets(one, [item])]

    def _targets(self, path: str, items: Iterable[Import]) -> set[str]:
        targets = self._graph.imports.targets
        return {target for item in items for target in targets(path, item)}


def _texts(
    view: View,
    files: Sequence[FileChange],
    text_of: Callable[[str], bytes],
    symbols_of: SymbolsOf,
    *,
    with_docs: bool,
) -> Texts:
    """The source of the candidates, cut down to their parts; of what is gone as it was."""
    before: Mapping[str, Side] = {
        file.before.path: file.before for file in files if file.before is not None
    }
    gone = {one.symbol.id for one in view.candidates if one.is_gone and one.parts}

    def body_of(symbol: Symbol) -> Sequence[Line] | None:
        if symbol.id not in gone:
            return None
        text = before[symbol.path].text
        return lines_of(text, 0, len(text), 1)[symbol.start_line - 1 : symbol.end_line]

    return cut_to_parts(Texts(text_of, symbols_of, body_of, with_docs), view)
