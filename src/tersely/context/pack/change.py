"""The parts of a change, and their source as the change leaves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tersely.code.engine import Engine
from tersely.code.index.history.history import history
from tersely.code.symbols import Symbol, SymbolsOf
from tersely.context.lenses.candidate import View
from tersely.context.lenses.diff.change import Change, in_tree
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange, Side
from tersely.context.lenses.diff.evidence import ChangeSources
from tersely.context.lenses.diff.rank import view_of
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
    sources = sources_of(engine, root, change)
    view = view_of(change.files, changed, sources, budget, fills=fills)
    view = replace(view, base=change.base, head=change.head)
    read = sources.text_of, sources.symbols_of
    return ChangeView(view, lambda seen: _texts(seen, change.files, *read, with_docs=with_docs))


def sources_of(engine: Engine, root: Path, change: Change) -> ChangeSources:
    """The answers to what the lens asks about a repository, with a change in it."""
    store = engine.store
    sides = {
        side.path: side
        for file in change.files
        for side in (file.before, file.after)
        if side is not None
    }

    def text_of(path: str) -> bytes:
        if path in sides:
            return sides[path].text
        return in_tree(root, path) or b""

    def symbols_of(path: str) -> Sequence[Symbol]:
        return sides[path].symbols if path in sides else store.symbols_of(path)

    paths = {file.id: file.path for file in store.files()}
    committed = sorted(
        {file.diff.old_path for file in change.files if file.diff.old_path and file.before}
    )
    graph = engine.graph

    def imports_of(path: str) -> set[str]:
        if path not in graph.program.by_path:
            return set()
        return {
            target for item in store.imports(path) for target in graph.imports.targets(path, item)
        }

    neighbours = Neighbours(graph, store, text_of)

    def aliases_of(path: str) -> set[str]:
        return {item.alias for item in store.imports(path)}

    def imported(path: str, alias: str) -> set[str]:
        items = (item for item in store.imports(path) if item.alias == alias)
        return {target for item in items for target in graph.imports.targets(path, item)}

    def locals_of(symbol: Symbol) -> frozenset[str]:
        return neighbours.locals(symbol).difference(aliases_of(symbol.path))

    def imports_of_left(path: str) -> list[tuple[str, int]]:
        from tersely.context.lenses.test_impact.importing import (
            imports_of_gone,
        )  # few changes need it

        found = imports_of_gone(path, store.every_import())
        return [(one, item.line) for one, item in found if not graph.imports.targets(one, item)]

    return ChangeSources(
        symbols_of,
        text_of,
        lambda name: [paths[one] for one in store.files_mentioning(name) if one in paths],
        graph.passings,
        graph.members_of,
        graph.nearby.callers,
        graph.nearby.callees,
        cache(lambda: engine.search.searcher().lexicon),
        cache(lambda: history(root, change.tip, committed, store.directory)),
        set(paths.values()),
        cache(imports_of),
        lambda name: {symbol.path for symbol in store.symbols_named(name)},
        locals_of,
        aliases_of,
        imported,
        imports_of_left,
    )


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
