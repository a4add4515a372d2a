"""A piece of Markdown as rows of a given width.

Only what a model writes is read, never as markup of the terminal or of Textual: a link shows where
it leads and cannot be followed, HTML is shown as it is written, and control characters have been
made visible before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from textual.content import Content, Span
from textual.highlight import ANSIDarkHighlightTheme, HighlightTheme, highlight

Row = Content

CODE = "$text on $boost"
MAX_DEPTH_BLOCKS = 12  # quotations and lists inside each other
_MUTED = "dim"
_LEAST_CELLS = 8  # what a column of text is never narrower than
_GUTTER = " │ "
_INLINE = {
    "strong": "bold",
    "em": "italic",
    "s": "strike",
    "code_inline": "$text-warning",
    "link": "underline",
    "image": "italic",
    "html_inline": _MUTED,
}
_HEADINGS = {"h1": "bold underline $text-primary", "h2": "bold $text-primary"}
_OTHER_HEADING = "bold"


def laid_out(text: str, width: int, *, ansi: bool = False) -> list[Row]:
    """The rows of Markdown; `ansi` takes the terminal's own colours for code."""
    return _blocks(
        SyntaxTreeNode(_parser().parse(text)).children, max(width, _LEAST_CELLS), ansi, 0
    )


def code_rows(code: str, language: str, width: int, *, ansi: bool = False) -> list[Row]:
    """Source text, indented and on a ground of its own; long lines go on in the next row."""
    inner = max(width - 2, _LEAST_CELLS)
    rows: list[Row] = []
    for line in _highlighted(code, language, ansi).split("\n", allow_blank=True):
        for part in _broken_at_words(line.expand_tabs(4), inner):
            rows.append(
                part.pad_left(1)
                .pad_right(max(0, inner - part.cell_length) + 1)
                .stylize_before(CODE)
            )
    return rows


def _broken_at_words(line: Content, width: int) -> list[Row]:
    """A line of code as rows; a word is cut only where it is longer than a row, and what it is
    indented by gives way to it.
    """
    rows: list[Row] = []
    while line.cell_length > width:
        first = line.fold(width)[0]
        end = len(first.plain)
        blank = first.plain.rstrip().rfind(" ") + 1
        is_within_word = not (first.plain[-1:] + line.plain[end : end + 1]).count(" ")
        is_first_word = not first.plain[:blank].strip()
        if is_within_word and not is_first_word:
            end = blank
        elif is_within_word and blank and len(line.plain.split(maxsplit=1)[0]) <= width:
            line = line[1:]
            continue
        rows.append(line[:end].rstrip())
        line = line[end:]
    return [*rows, line]


def _highlighted(code: str, language: str, ansi: bool) -> Content:
    if not language:
        return Content(code)
    return highlight(
        code, language=language, theme=ANSIDarkHighlightTheme if ansi else HighlightTheme
    )


def _blocks(nodes: Sequence[SyntaxTreeNode], width: int, ansi: bool, depth: int) -> list[Row]:
    """Blocks below each other with a blank row between them."""
    rows: list[Row] = []
    for node in nodes:
        if rows:
            rows.append(Content(""))
        rows += _block(node, width, ansi, depth)
    return rows


def _block(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    if depth > MAX_DEPTH_BLOCKS:
        return Content("…").wrap(width)
    if node.type in {"fence", "code_block"}:
        language = node.info.split()[0] if node.type == "fence" and node.info.split() else ""
        return code_rows(node.content.removesuffix("\n"), language, width, ansi=ansi)
    layout = _LAYOUTS.get(node.type)
    return (
        layout(node, width, ansi, depth)
        if layout
        else Content(node.content.rstrip("\n")).wrap(width)
    )


def _paragraph(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    return _text(node.children).wrap(width)


def _heading(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    return _text(node.children).stylize(_HEADINGS.get(node.tag, _OTHER_HEADING)).wrap(width)


def _rule(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    return [Content.styled("─" * width, _MUTED)]


def _quotation(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    rows = _blocks(node.children, max(width - 2, _LEAST_CELLS), ansi, depth + 1)
    return [Content.styled("│ ", _MUTED) + row.stylize_before("italic") for row in rows]


def _list(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    rows: list[Row] = []
    for at, item in enumerate(node.children):
        before = node.children[at - 1] if at else None
        if before is not None and before.map and item.map and before.map[1] < item.map[0]:
            rows.append(Content(""))
        mark = f"{item.info}{item.markup} " if node.type == "ordered_list" else "• "
        inner = _item(item, max(width - len(mark), _LEAST_CELLS), ansi, depth + 1) or [Content("")]
        rows.append(Content.styled(mark, "$text-primary") + inner[0])
        rows += [row.pad_left(len(mark)) for row in inner[1:]]
    return rows


def _item(item: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    """The rows of an item; a list in it follows its words at once, as it is written."""
    rows: list[Row] = []
    end = 0
    for child in item.children:
        if rows and child.map and child.map[0] > end:
            rows.append(Content(""))
        rows += _block(child, width, ansi, depth)
        end = child.map[1] if child.map else end
    return rows


def _table(node: SyntaxTreeNode, width: int, ansi: bool, depth: int) -> list[Row]:
    grid = [
        [_text(cell.children) for cell in line.children]
        for part in node.children
        for line in part.children
    ]
    columns = _column_widths(grid, width)
    heads = node.children[0].children[0].children if grid else []
    pads = [
        _PADS.get(str(head.attrs.get("style", "")).partition(":")[2], _pad_left_aligned)
        for head in heads
    ]
    rows: list[Row] = []
    for number, cells in enumerate(grid):
        rows += _table_row(
            [cell.stylize("bold") for cell in cells] if number == 0 else cells, columns, pads
        )
        if number == 0:
            rows.append(
                Content.styled("─┼─".join("─" * column for column in columns), _MUTED).truncate(
                    width
                )
            )
    return rows


def _pad_left_aligned(row: Row, width: int) -> Row:
    return row.pad_right(max(0, width - row.cell_length))


def _pad_right_aligned(row: Row, width: int) -> Row:
    return row.pad_left(max(0, width - row.cell_length))


def _pad_centred(row: Row, width: int) -> Row:
    room = max(0, width - row.cell_length)
    return row.pad_left(room // 2).pad_right(room - room // 2)


_Pad = Callable[[Row, int], Row]
_PADS: dict[str, _Pad] = {"right": _pad_right_aligned, "center": _pad_centred}


def _table_row(cells: Sequence[Content], columns: Sequence[int], pads: Sequence[_Pad]) -> list[Row]:
    wrapped = [cell.wrap(column) for cell, column in zip(cells, columns, strict=False)]
    rows = []
    for at in range(max(map(len, wrapped), default=0)):
        parts = [lines[at] if at < len(lines) else Content("") for lines in wrapped]
        padded = [
            pad(part, column) for part, column, pad in zip(parts, columns, pads, strict=False)
        ]
        rows.append(Content.styled(_GUTTER, _MUTED).join(padded))
    return rows


def _column_widths(grid: Sequence[Sequence[Content]], width: int) -> list[int]:
    """As wide as the cells are, the widest made narrower until the table fits."""
    count = max(map(len, grid), default=0)
    columns = [
        max((cell.cell_length for line in grid for cell in line[at : at + 1]), default=0) or 1
        for at in range(count)
    ]
    spare = width - len(_GUTTER) * (count - 1)
    while sum(columns) > spare and max(columns) > _LEAST_CELLS:
        widest = columns.index(max(columns))
        others = sum(columns) - columns[widest]
        second = max([column for at, column in enumerate(columns) if at != widest], default=0)
        columns[widest] = max(_LEAST_CELLS, min(columns[widest] - 1, max(spare - others, second)))
    return columns


def _text(nodes: Sequence[SyntaxTreeNode]) -> Content:
    """Text with its emphasis; line breaks stay where they were written."""
    parts: list[str] = []
    spans: list[Span] = []
    _collect(nodes, parts, spans, 0)
    return Content("".join(parts), spans)


def _collect(nodes: Sequence[SyntaxTreeNode], parts: list[str], spans: list[Span], at: int) -> int:
    for node in nodes:
        start = at
        if node.type in {"softbreak", "hardbreak"}:
            at = _put("\n", parts, at)
        elif node.children:
            at = _collect(node.children, parts, spans, at)
        elif node.type in {"text", "code_inline", "html_inline", "text_special"}:
            at = _put(node.content, parts, at)
        if at > start and node.type in _INLINE:
            spans.append(Span(start, at, _INLINE[node.type]))
        target = (
            str(node.attrs.get("href") or node.attrs.get("src") or "")
            if node.type in {"link", "image"}
            else ""
        )
        if target and target != "".join(parts)[start:at]:
            at = _put(f" ({target})", parts, at)
    return at


def _put(text: str, parts: list[str], at: int) -> int:
    parts.append(text)
    return at + len(text)


_Layout = Callable[[SyntaxTreeNode, int, bool, int], list[Row]]
_LAYOUTS: dict[str, _Layout] = {
    "paragraph": _paragraph,
    "inline": lambda node, width, ansi, depth: _text(node.children).wrap(width),
    "heading": _heading,
    "hr": _rule,
    "blockquote": _quotation,
    "bullet_list": _list,
    "ordered_list": _list,
    "table": _table,
}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])
