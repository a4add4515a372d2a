"""`code.structure`: what is defined in a directory or file, file by file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.files.places import files_below, normal
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.text import Style, aligned, counted
from tersely.capabilities.values import lines_text
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol

if TYPE_CHECKING:
    from tersely.workspace import Workspace

# What opens a scope of its own whose members belong to the outline; the insides of functions do not.
_HOLDERS = CLASS_KINDS | {Kind.MODULE, Kind.NAMESPACE, Kind.EXTENSION}
_SHOWN = (CLASS_KINDS | CALLABLE_KINDS | {Kind.NAMESPACE, Kind.EXTENSION}) - {Kind.LAMBDA}


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where to look, and at what."""

    path: str = positional("a directory or file; without it the whole repository", default="", role=Role.PATH)
    all: bool = option(False, "list fields, variables and constants too, and what is defined inside functions")
    limit: int = limit_option(300, "symbols")
    offset: int = offset_option("symbols")


@dataclass(frozen=True, slots=True)
class Outlined:
    """One definition; `level` says how many others of the list it is inside of."""

    id: str
    path: str
    kind: Kind
    name: str
    line: int
    end_line: int
    level: int


@dataclass(frozen=True, slots=True)
class Structure:
    """Definitions by file and place."""

    path: str
    files: int
    symbols: Page[Outlined]


def run(workspace: Workspace, parameters: Parameters) -> Structure:
    """The outline of all files, cut to one page."""
    files = files_below(workspace, parameters.path)
    found: list[Outlined] = []
    for file in files:
        found += _outline(workspace.engine.store.symbols_of(file.path), parameters.all)
    return Structure(normal(parameters.path), len(files), page_of(found, parameters.limit, parameters.offset))


def _outline(symbols: list[Symbol], everything: bool) -> list[Outlined]:
    levels = {symbol.id: -1 for symbol in symbols if symbol.kind is Kind.MODULE}
    outline: list[Outlined] = []
    for symbol in sorted(symbols, key=lambda symbol: (symbol.start_byte, -symbol.end_byte)):
        if symbol.parent not in levels or (symbol.kind not in _SHOWN and not everything):
            continue
        level = levels[symbol.parent] + 1
        if symbol.kind in _HOLDERS or everything:
            levels[symbol.id] = level
        outline.append(
            Outlined(symbol.id, symbol.path, symbol.kind, symbol.name, symbol.start_line, symbol.end_line, level)
        )
    return outline


def text(structure: Structure, style: Style) -> str:
    """A heading a file, then a line a definition, indented by what it is inside of."""
    blocks = []
    for path, symbols in groupby(structure.symbols.items, key=lambda symbol: symbol.path):
        rows = [
            (lines_text(symbol.line, symbol.end_line), f"{'  ' * symbol.level}{symbol.kind.value} {symbol.name}")
            for symbol in symbols
        ]
        blocks += [style.heading(path), *(f"  {line}" for line in aligned(rows, [style.faint], right=(0,)))]
    if not structure.symbols.total:
        blocks.append(f"nothing is defined in {counted(structure.files, 'file')}")
    return "\n".join([*blocks, *rest_line(structure.symbols, "symbol", style)])


CAPABILITY = Capability(
    name="code.structure",
    summary="What is defined where: classes, functions, methods with their lines",
    description="Without bodies and signatures; extract shows one file with its signatures.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("structure src", "structure src/app.py --all"),
)
