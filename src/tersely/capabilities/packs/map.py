"""`code.map`: the repository in outline, what matters most opened, within a token budget."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import budget_of
from tersely.capabilities.answers.text import Style, clipped
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
)
from tersely.capabilities.files.places import ANYWHERE, files_below
from tersely.capabilities.packs.exchange import Delivery
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Session,
    Told,
    session_aside,
    told_outline,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.symbols import Symbol
    from tersely.context.lenses.ranking import Ranks
    from tersely.context.pack.kinds.outline import Node, Outline
    from tersely.workspace import Workspace

NO_FILES = "nothing found: there is no file in a language that Tersely reads"
MAX_OUTLINE_CHARACTERS = 100  # of a signature in a map


class Zoom(StrEnum):
    """The distances from which a map looks."""

    MODULES = "L0"
    SIGNATURES = "L1"


@frozen
class Entry:
    """One line of the map: a path with a slash at its end for a directory, a path, or the id of a
    symbol.
    """

    id: str
    weight: float  # the part of all rank that lies in it


@frozen
class Map:
    """The map as printed. `used` counts every token of `text`."""

    budget: int
    used: int
    text: str
    entries: tuple[Entry, ...]
    session: Told | None


def text(found: Map, style: Style) -> str:
    """The map as it was counted; of one that is empty, why."""
    return found.text or style.doubtful(NO_FILES)


@capability(
    "code.map",
    text,
    "map --budget 1000",
    "map src --focus Session.validate",
    found=lambda shown: bool(shown.text),
    aside=session_aside,
    remembering=REMEMBERING,
)
def run(
    workspace: Workspace,
    *,
    path: str = ANYWHERE,
    budget: int | None = budget_option(),
    focus: Strings = option(
        (), "a symbol or file that the map is for", role=Role.SYMBOL, metavar="SYMBOL"
    ),
    zoom: Zoom = option(
        Zoom.SIGNATURES, "L0: directories and files alone, L1: with what is in them"
    ),
    delivery: Delivery = group(Delivery),
    reader: Session = group(Session),
) -> Map:
    """Outline of the repository, its most important parts opened, within a token budget.

    Directories, files, classes and functions as an indented tree. How much a part matters is a
    PageRank over imports and the names that files mention; tests count little. The heaviest parts
    are opened first, and a line says how much below it is not shown. With --focus the ranking
    starts from these symbols or files.
    """
    most = budget_of(workspace, budget)
    outline, _ = outlined(workspace, most, path, focus, zoom)
    question = "\n".join(["<map>", zoom.value, path, *focus])
    told = told_outline(workspace, reader, question, outline)
    return Map(most, told.used, told.text, tuple(map(_entry, outline.nodes)), told.told)


def outlined(
    workspace: Workspace,
    budget: int,
    path: str = "",
    focus: Strings = (),
    zoom: Zoom = Zoom.SIGNATURES,
) -> tuple[Outline, Ranks]:
    """The outline that a budget pays for, and the ranks that chose it."""
    from tersely.context.pack.kinds.outline import fit, tree

    files = files_below(workspace, path)
    all_symbols = list(workspace.engine.store.symbols())
    ranks = _ranks(workspace, all_symbols, focus)
    shown = _outermost(all_symbols) if zoom is not Zoom.MODULES else {}
    root = tree(
        [file.path for file in files],
        shown,
        lambda one: ranks.symbols.get(one, ranks.files.get(one, 0.0)),
    )
    texts = workspace.texts()

    def label(symbol: Symbol) -> str:
        signature = texts.signature(symbol).plain
        return visible_line(clipped(signature or symbol.name, MAX_OUTLINE_CHARACTERS))

    return fit(root, label, budget, workspace.tokenizer.count), ranks


def _ranks(workspace: Workspace, symbols: list[Symbol], focus: Strings) -> Ranks:
    from tersely.context.lenses.ranking import rank

    engine = workspace.engine
    files = engine.store.files()
    number = {file.id: index for index, file in enumerate(files)}
    mentions = (
        (name, sorted(number[file_id] for file_id in ids if file_id in number))
        for name, ids in engine.store.mentions()
    )
    imports = engine.imports.edges(engine.store.every_import())
    focus_files, focus_symbols = _focus(workspace, focus)
    return rank(
        [file.path for file in files], symbols, mentions, imports, focus_files, focus_symbols
    )


def _focus(workspace: Workspace, words: Strings) -> tuple[set[str], set[str]]:
    """The files and symbols that somebody names."""
    files: set[str] = set()
    symbols: set[str] = set()
    for text in words:
        found = _files_named(workspace, text)
        if found:
            files.update(file.path for file in found)
        else:
            symbol = workspace.engine.symbol(text)
            files.add(symbol.path)
            symbols.add(symbol.id)
    return files, symbols


def _files_named(workspace: Workspace, text: str) -> list[IndexedFile]:
    try:
        return files_below(workspace, text)
    except TerselyError:
        return []  # then it is a symbol, or an error that speaks of symbols


def _outermost(symbols: list[Symbol]) -> dict[str, list[Symbol]]:
    """The symbols of each file that a map may show: what has a rank, and the namespaces around it."""
    from tersely.context.lenses.ranking import RANKED_KINDS
    from tersely.context.pack.kinds.outline import outermost

    parents = {symbol.parent for symbol in symbols}
    found: dict[str, list[Symbol]] = {}
    for symbol in outermost(symbols):
        if symbol.kind in RANKED_KINDS or symbol.id in parents:
            found.setdefault(symbol.path, []).append(symbol)
    return found


def _entry(node: Node) -> Entry:
    return Entry(node.id, round(node.weight, 6))
