"""`code.tree`, `code.structure` and `code.extract`: what is where, as directories and files or as
definitions.

One question at three levels of detail. The answer is a list of entries in the order of the outline,
each with its level of indentation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned, clipped, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.files.imports import Imported, imports_of
from tersely.capabilities.files.places import ANYWHERE, files_below, normal
from tersely.foundation.limits import MAX_PAGE_ENTRIES

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.symbols import Problem, Symbol
    from tersely.context.pack.kinds.outline import Node
    from tersely.context.pack.texts import Texts
    from tersely.workspace import Workspace

MAX_TREE_LEVELS = 64
DIRECTORY, FILE = "directory", "file"


@frozen
class OutlineEntry:
    """A part of an outline: `kind` is directory, file or that of a symbol; `level` says how many
    others it is in.
    """

    id: str  # a path, or the id of a symbol
    kind: str
    name: str
    level: int


@frozen
class SizedEntry(OutlineEntry):
    """A directory or file; `closed` where what is in the directory is not listed."""

    language: str  # empty for a directory
    files: int
    bytes: int
    closed: bool


@frozen
class SymbolEntry(OutlineEntry):
    """A symbol; `signature` and `doc` are empty unless the outline has them."""

    path: str
    line: int
    end_line: int
    signature: str
    doc: str


@frozen
class FileHeader:
    """The parts of a file beside its definitions."""

    path: str
    language: str
    lines: int
    doc: str
    imports: tuple[Imported, ...]
    problems: tuple[Problem, ...]  # lines that could not be parsed


@frozen
class FileOutline:
    """The entries of `path`; `sources` are the files of the listed definitions where signatures are
    shown.
    """

    path: str
    files: int
    entries: Page[OutlineEntry]
    sources: tuple[FileHeader, ...]


def _listed(
    workspace: Workspace,
    path: str,
    limit: int,
    offset: int,
    *,
    everything: bool,
    with_signatures: bool = False,
    with_docs: bool = False,
) -> FileOutline:
    """The definitions of all files below a path, cut to one page."""
    document = workspace.engine.document(normal(path))
    files = [document.file] if document is not None else files_below(workspace, path)
    texts = workspace.texts()
    workspace.engine.note_left_out(normal(path))
    definitions = [one for file in files for one in _definitions(workspace, file.path, everything)]
    page = page_of(definitions, limit, offset)
    shown = tuple(_definition(*one, texts, with_signatures, with_docs) for one in page.items)
    entries: Page[OutlineEntry] = Page(shown, page.total, page.offset, page.more)
    if document is not None or not with_signatures:
        return FileOutline(normal(path), len(files), entries, ())
    on_page = {one.path for one in shown}
    listed = [file for file in files if len(files) == 1 or file.path in on_page]
    sources = tuple(_source(workspace, file, texts, with_docs) for file in listed)
    whose = files[0].path if len(files) == 1 else normal(path)
    return FileOutline(whose, len(files), entries, sources)


def _definitions(workspace: Workspace, path: str, everything: bool) -> Iterator[tuple[Symbol, int]]:
    """The symbols of a file in the order of its lines, with their levels."""
    from tersely.context.pack.kinds.outline import file_tree, outermost, walk

    symbols = [symbol for symbol in workspace.engine.symbols_of(path) if symbol.id != path]
    for node, depth in walk(file_tree(path, symbols if everything else outermost(symbols))):
        if node.symbol is not None:
            yield node.symbol, depth - 1


def _definition(
    symbol: Symbol, level: int, texts: Texts, with_signature: bool, with_doc: bool
) -> SymbolEntry:
    return SymbolEntry(
        symbol.id,
        symbol.kind,
        symbol.name,
        level,
        symbol.path,
        symbol.start_line,
        symbol.end_line,
        texts.signature(symbol).plain if with_signature else "",
        _doc(symbol, texts) if with_doc else "",
    )


def _source(workspace: Workspace, file: IndexedFile, texts: Texts, with_doc: bool) -> FileHeader:
    store = workspace.engine.store
    module = store.symbols_of(file.path)[0]
    return FileHeader(
        file.path,
        file.language,
        module.end_line,
        _doc(module, texts) if with_doc else "",
        tuple(imports_of(workspace, file.path)),
        store.facts(file.id).problems,
    )


def _doc(symbol: Symbol, texts: Texts) -> str:
    raw = texts.source(symbol.path)[symbol.doc_start_byte : symbol.doc_end_byte].decode(
        "utf-8", "replace"
    )
    return "\n".join(line.strip() for line in raw.splitlines()).strip()


def _places(
    files: Sequence[IndexedFile], is_inside: bool, depth: int, limit: int
) -> tuple[SizedEntry, ...]:
    """Directories and files, the outer opened before the inner as long as all that are shown stay
    within the limit.
    """
    from tersely.context.pack.kinds.outline import tree, walk

    by_path = {file.path: file for file in files}
    root = tree(by_path, {}, lambda path: by_path[path].size)
    top = root.children[0] if is_inside else root
    opened = _open_directories(top, depth, limit)
    places = []
    pending = [(top, "", 0)]
    while pending:
        node, around, level = pending.pop()
        is_open = node.id in opened
        name = node.id.removeprefix(around) or "./"
        if node.is_directory:
            inside = sum(not inner.is_directory for inner, _ in walk(node))
            places.append(
                SizedEntry(
                    node.id, DIRECTORY, name, level, "", inside, int(node.weight), not is_open
                )
            )
        else:
            places.append(
                SizedEntry(
                    node.id,
                    FILE,
                    name,
                    level,
                    by_path[node.id].language,
                    1,
                    int(node.weight),
                    False,
                )
            )
        if is_open:
            pending += [(child, node.id, level + 1) for child in reversed(_by_name(node))]
    return tuple(places)


def _open_directories(top: Node, depth: int, limit: int) -> set[str]:
    """The ids of the directories whose entries are shown."""
    opened = {top.id}
    shown = len(top.children)
    waiting = deque((child, 2) for child in _by_name(top))
    while waiting:
        node, level = waiting.popleft()
        if node.is_directory and level <= depth and shown + len(node.children) <= limit:
            opened.add(node.id)
            shown += len(node.children)
            waiting.extend((child, level + 1) for child in _by_name(node))
    return opened


def _by_name(node: Node) -> list[Node]:
    """The content of a directory, directories first."""
    return sorted(node.children, key=lambda child: (not child.is_directory, child.id))


def text(outline: FileOutline, style: Style) -> str:
    """Directories and files with sizes; or file by file the definitions, indented by what they are
    inside of.
    """
    places = [entry for entry in outline.entries.items if isinstance(entry, SizedEntry)]
    if places:
        return "\n".join(_place_lines(places, style))
    sources = {source.path: source for source in outline.sources}
    definitions: dict[str, list[SymbolEntry]] = {path: [] for path in sources}
    for entry in outline.entries.items:
        if isinstance(entry, SymbolEntry):
            definitions.setdefault(entry.path, []).append(entry)
    blocks = []
    for path, group in definitions.items():
        blocks += _source_lines(sources[path], style) if path in sources else [style.heading(path)]
        if path in sources and group:
            blocks.append(style.heading("symbols"))
        blocks += _definition_lines(group, style)
    if not definitions:
        blocks.append(f"no definitions in {counted(outline.files, 'file')}")
    return "\n".join([*blocks, *rest_line(outline.entries, "symbol", style)])


def _place_lines(places: Sequence[SizedEntry], style: Style) -> list[str]:
    rows = []
    for place in places:
        label = f"{'  ' * place.level}{place.name}{' …' if place.closed else ''}"
        files = f"{place.files:,} {'file ' if place.files == 1 else 'files'}"
        rows.append((label, "" if place.kind == FILE else files, _size(place.bytes)))
    lines = aligned(rows, [None, style.faint, style.faint], right=(1, 2))
    if closed := sum(place.closed for place in places):
        what = counted(closed, "directory is", "directories are")
        lines.append(style.doubtful(f"… {what} closed: --limit N or tree PATH opens them"))
    return lines


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1000:,.1f} kB" if size_bytes >= 1000 else f"{size_bytes} B "


def _source_lines(source: FileHeader, style: Style) -> list[str]:
    about = f"{source.language}, {counted(source.lines, 'line')}"
    lines = [f"{style.heading(source.path)}  {style.faint(about)}", *_doc_lines(source.doc, "  ")]
    lines += [style.bad(f"line {problem.line}: {problem.message}") for problem in source.problems]
    if source.imports:
        lines.append(style.heading("imports"))
    for module, group in groupby(source.imports, key=lambda imported: imported.module):
        names = dict.fromkeys(imported.spelled for imported in group if imported.spelled)
        lines.append(f"  {module}: {', '.join(names)}" if names else f"  {module}")
    return lines


def _definition_lines(definitions: Sequence[SymbolEntry], style: Style) -> list[str]:
    rows = []
    for one in definitions:
        shown = clipped(one.signature) or f"{one.kind} {one.name}"
        rows.append((lines_text(one.line, one.end_line), "  " * one.level + shown))
    width = max((len(row[0]) for row in rows), default=0)
    lines = []
    for one, line in zip(definitions, aligned(rows, [style.faint], right=(0,)), strict=True):
        lines.append(f"  {line}")
        lines += _doc_lines(one.doc, " " * (4 + width + 2 * one.level))
    return lines


def _doc_lines(doc: str, indent: str) -> list[str]:
    return [f"{indent}{line}".rstrip() for line in doc.splitlines()]


@capability("code.tree", text, "tree", "tree src --depth 2")
def tree(
    workspace: Workspace,
    *,
    path: str = positional(
        "the directory to show; without it the whole repository", default="", role=Role.PATH
    ),
    depth: int = option(
        MAX_TREE_LEVELS,
        "how many levels to open at most",
        minimum=1,
        maximum=MAX_TREE_LEVELS,
        metavar="N",
    ),
    limit: int = option(
        100,
        "how many entries to show; a directory stays closed if opening it takes more",
        minimum=1,
        maximum=MAX_PAGE_ENTRIES,
        metavar="N",
    ),
) -> FileOutline:
    """Indexed files by directory.

    Directories are opened level by level until the limit is reached; what stays closed says how
    many files it holds. Files that are not source, or ignored, are not shown.
    """
    files, place = files_below(workspace, path), normal(path)
    workspace.engine.note_left_out(place)
    places = _places(files, bool(place), depth, limit)
    return FileOutline(place, len(files), Page(places, len(places), 0, 0), ())


@capability("code.structure", text, "structure src", "structure src/app.py --all")
def structure(
    workspace: Workspace,
    *,
    path: str = ANYWHERE,
    all: bool = option(
        False, "list fields, variables and constants too, and what is defined inside functions"
    ),
    limit: int = limit_option(300, "symbols"),
    offset: int = offset_option("symbols"),
) -> FileOutline:
    """Classes, functions and methods of a directory or file, with their lines.

    Without bodies and signatures; extract shows signatures.
    """
    return _listed(workspace, path, limit, offset, everything=all)


@capability("code.extract", text, "extract src/app.py", "extract src/app.py --docs")
def extract(
    workspace: Workspace,
    *,
    path: str = positional("the file", role=Role.PATH, metavar="FILE"),
    docs: bool = option(False, "show documentation"),
    limit: int = limit_option(500, "symbols"),
    offset: int = offset_option("symbols"),
) -> FileOutline:
    """One file in brief: imports, classes, functions with signatures and lines.

    FILE is a path from the root or the end of one, if only one file has it. Of a directory, all
    files.
    """
    return _listed(
        workspace, path, limit, offset, everything=True, with_signatures=True, with_docs=docs
    )
