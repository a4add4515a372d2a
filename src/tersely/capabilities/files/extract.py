"""`code.extract`: one file in brief: what it imports and defines, with signatures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.files.imports import Imported, imports_of
from tersely.capabilities.files.places import indexed_file
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.text import Style, aligned, clipped, counted
from tersely.capabilities.values import lines_text
from tersely.code.symbols import Kind, Symbol

if TYPE_CHECKING:
    from tersely.code.pack.texts import Texts
    from tersely.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which file, and how much of it."""

    file: str = positional("the file", role=Role.FILE)
    docs: bool = option(False, "show documentation")
    limit: int = limit_option(500, "symbols")
    offset: int = offset_option("symbols")


@dataclass(frozen=True, slots=True)
class Extracted:
    """One definition; `level` says how many others it is inside of, `doc` is empty unless asked for."""

    id: str
    kind: Kind
    name: str
    signature: str
    line: int
    end_line: int
    level: int
    doc: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A place that could not be read."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The file in brief."""

    path: str
    language: str
    lines: int
    doc: str
    imports: tuple[Imported, ...]
    symbols: Page[Extracted]
    problems: tuple[Trouble, ...]


def run(workspace: Workspace, parameters: Parameters) -> Extraction:
    """Everything the index knows of a file that a reader wants."""
    file = indexed_file(workspace, parameters.file)
    texts, store = workspace.texts(), workspace.engine.store
    module, *symbols = sorted(store.symbols_of(file.path), key=lambda symbol: (symbol.start_byte, -symbol.end_byte))
    levels = {module.id: -1}
    found = []
    for symbol in symbols:
        levels[symbol.id] = levels.get(symbol.parent, -1) + 1
        found.append((symbol, levels[symbol.id]))
    page = page_of(found, parameters.limit, parameters.offset)
    shown = tuple(_extracted(symbol, level, texts, parameters.docs) for symbol, level in page.items)
    return Extraction(
        file.path,
        file.language,
        module.end_line,
        _doc(module, texts) if parameters.docs else "",
        tuple(imports_of(workspace, file.path)),
        Page(shown, page.total, page.offset, page.more),
        tuple(Trouble(problem.line, problem.message) for problem in store.facts(file.id).problems),
    )


def _extracted(symbol: Symbol, level: int, texts: Texts, with_docs: bool) -> Extracted:
    return Extracted(
        symbol.id,
        symbol.kind,
        symbol.name,
        texts.signature(symbol).plain,
        symbol.start_line,
        symbol.end_line,
        level,
        _doc(symbol, texts) if with_docs else "",
    )


def _doc(symbol: Symbol, texts: Texts) -> str:
    raw = texts.source(symbol.path)[symbol.doc_start_byte : symbol.doc_end_byte].decode("utf-8", "replace")
    return "\n".join(line.strip() for line in raw.splitlines()).strip()


def text(extraction: Extraction, style: Style) -> str:
    """Imports by module, then definitions by place."""
    about = f"{extraction.language}, {counted(extraction.lines, 'line')}"
    blocks = [f"{style.heading(extraction.path)}  {style.faint(about)}"]
    blocks += _doc_lines(extraction.doc, "  ")
    if extraction.imports:
        blocks += [style.heading("imports"), *_import_lines(extraction.imports)]
    rows = [
        (lines_text(symbol.line, symbol.end_line), "  " * symbol.level + _shown(symbol))
        for symbol in extraction.symbols.items
    ]
    if rows:
        blocks.append(style.heading("symbols"))
    for symbol, line in zip(extraction.symbols.items, aligned(rows, [style.faint], right=(0,)), strict=True):
        blocks.append(f"  {line}")
        blocks += _doc_lines(symbol.doc, " " * (4 + len(max((row[0] for row in rows), key=len)) + 2 * symbol.level))
    blocks += rest_line(extraction.symbols, "symbol", style)
    blocks += [style.bad(f"line {trouble.line}: {trouble.message}") for trouble in extraction.problems]
    return "\n".join(blocks)


def _shown(symbol: Extracted) -> str:
    return clipped(symbol.signature) or f"{symbol.kind.value} {symbol.name}"


def _import_lines(imports: tuple[Imported, ...]) -> list[str]:
    lines = []
    for module, group in groupby(imports, key=lambda imported: imported.module):
        names = dict.fromkeys(imported.spelled for imported in group if imported.spelled)
        lines.append(f"  {module}: {', '.join(names)}" if names else f"  {module}")
    return lines


def _doc_lines(doc: str, indent: str) -> list[str]:
    return [f"{indent}{line}".rstrip() for line in doc.splitlines()]


CAPABILITY = Capability(
    name="code.extract",
    summary="One file in brief: imports, classes, functions with signatures and lines",
    description="FILE is a path from the root or the end of one, if only one file has it.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("extract src/app.py", "extract src/app.py --docs"),
)
