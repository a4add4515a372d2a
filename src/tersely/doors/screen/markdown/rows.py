"""A piece of Markdown as rows of a given width, laid out by Rich.

Only what a model writes is read, never as markup of the terminal or of Textual: a link shows where
it leads and cannot be followed, HTML is shown as it is written, and control characters have been
made visible before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.box import MINIMAL
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from textual.content import Content

Row = Content

MAX_DEPTH_BLOCKS = 40  # quotations and lists inside each other
_LEAST_CELLS = 8  # what a text is never narrower than
_STYLES = {
    "markdown.a": "underline",
    "markdown.code": "yellow",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.h5": "bold",
    "markdown.h6": "bold",
    "markdown.block_quote": "italic",
    "markdown.item.bullet": "cyan",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}


def laid_out(text: str, width: int, *, is_light: bool = False) -> list[Row]:
    """The rows of Markdown; `is_light`: the ground is, so that code is dark."""
    shown = _Markdown("", code_theme="ansi_light" if is_light else "ansi_dark")
    shown.parsed = _parsed(text)
    console = _console()
    options = console.options.update(width=max(width, _LEAST_CELLS))
    lines = console.render_lines(shown, options, pad=False)
    parts = [[(part.text, part.style or "") for part in line] for line in lines]
    rows = [Content.from_rich_text(Text.assemble(*line), console).rstrip() for line in parts]
    filled = [at for at, row in enumerate(rows) if row.plain]
    # code that has not come yet, or what is nested too deep
    return rows[filled[0] : filled[-1] + 1] if filled else [Content("…")]


class _Heading(Heading):
    """On the left, as text is."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Code(CodeBlock):
    """As far indented as it is written, a cell further right than text."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Syntax(
            str(self.text).rstrip("\n"), self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1)
        )  # fmt: skip


class _Item(ListItem):
    """With a period behind its number."""

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        for at, part in enumerate(super().render_number(console, options, number, last_number)):
            if at == 0 and isinstance(part, Segment):
                yield Segment(f"{number}. ".rjust(len(part.text)), part.style)
            else:
                yield part


class _MarkdownTable(TableElement):
    """Without a row above and below."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                table.box, table.show_edge, table.collapse_padding = MINIMAL, False, False
            yield table


class _Markdown(Markdown):
    inlines = Markdown.inlines | {"a"}
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "list_item_open": _Item,
        "table_open": _MarkdownTable,
    }


def _parsed(text: str) -> list[Token]:
    """The tokens of a text: lines are broken where they were written, places stand beside their
    words.
    """
    tokens = _parser().parse(text)
    for token in tokens:
        token.children = token.children and list(_plain(token.children))
    return tokens


def _plain(tokens: Sequence[Token]) -> Iterator[Token]:
    place = ""
    for token in tokens:
        match token.type:
            case "link_open":
                place = "" if token.info == "auto" else f" ({token.attrs['href']})"
                yield Token("a_open", "a", 1)
            case "link_close":
                yield Token("a_close", "a", -1)
                yield _said(place)
            case "image":
                yield _said(f"{token.content} ({token.attrs['src']})")
            case "softbreak":
                yield Token("hardbreak", "br", 0)
            case _:
                yield token


def _said(text: str) -> Token:
    return Token("text", "", 0, content=text)


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": MAX_DEPTH_BLOCKS}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


@cache
def _console() -> Console:
    return Console(force_terminal=True, color_system="truecolor", theme=Theme(_STYLES), emoji=False)
