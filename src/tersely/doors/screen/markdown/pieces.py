"""Markdown that is still arriving, cut into pieces that will not change any more and a rest that
may.

CommonMark is read line by line, and a block that has been closed is never opened again: once a
whole line has begun the next block, everything before it is final
(https://spec.commonmark.org/0.31.2/#appendix-a-parsing-strategy). So each piece is laid out once,
and what is laid out again and again is never more than one block. Where the cuts are depends on the
text alone, not on the portions it came in.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

# of one block that is laid out again while it grows; a longer one is cut
MAX_PIECE_CHARACTERS = 4_000
_TABLE_HEAD_LINES = 2


class MarkdownPiece(NamedTuple):
    """Markdown of one block or one item of a list; `has_gap`: a blank row stands before it."""

    text: str
    has_gap: bool


class Growing:
    """A text that grows. `rest` is the piece that may still change."""

    def __init__(self) -> None:
        self._rest = ""
        self._has_gap = False

    @property
    def rest(self) -> MarkdownPiece:
        """The part that is not final, as far as it has come."""
        return MarkdownPiece(self._rest, self._has_gap)

    def add(self, text: str) -> list[MarkdownPiece]:
        """The pieces that became final by more text."""
        self._rest += text
        return [*self._closed(self._rest.rfind("\n") + 1), *self._overlong()]

    def end(self) -> list[MarkdownPiece]:
        """The pieces of all that was left."""
        found = [*self._closed(len(self._rest)), *self._overlong()]
        if self._rest.strip():
            found.append(self.rest)
        self._rest, self._has_gap = "", True
        return found

    def _closed(self, end: int) -> list[MarkdownPiece]:
        """Take off the blocks before the last one of those that are whole in the first `end`
        characters.
        """
        lines = self._rest[:end].splitlines(keepends=True)
        found: list[MarkdownPiece] = []
        first, has_gap = 0, self._has_gap
        for start, starts_block in _starts(self._rest[:end]):
            found += self._bounded("".join(lines[first:start]), has_gap)
            first, has_gap = start, starts_block or not lines[start - 1].strip()
        self._rest, self._has_gap = self._rest[sum(map(len, lines[:first])) :], has_gap
        return found

    def _overlong(self) -> list[MarkdownPiece]:
        *found, rest = self._bounded(self._rest, self._has_gap) or [self.rest]
        self._rest, self._has_gap = rest
        return found

    @staticmethod
    def _bounded(text: str, has_gap: bool) -> list[MarkdownPiece]:
        """One block as pieces of bounded size; the later ones begin like the first, be it a fence
        or a table.
        """
        pieces = []
        while len(text) > MAX_PIECE_CHARACTERS:
            piece, text = _cut(text)
            pieces.append(MarkdownPiece(piece, has_gap))
            has_gap = False
        return [*pieces, MarkdownPiece(text, has_gap)] if text.strip() else pieces


def _starts(text: str) -> list[tuple[int, bool]]:
    """The lines, but for the first, where a block or an item of a list begins; whether it is a
    block.
    """
    found = [
        (token.map[0], token.level == 0)
        for token in _parsed(text)
        if token.map and token.nesting >= 0 and (token.level == 0 or _is_item(token))
    ]
    blocks = {line for line, is_block in found if is_block}
    return sorted({(line, line in blocks) for line, _ in found[1:] if line > 0})


def _is_item(token: Token) -> bool:
    return token.level == 1 and token.type == "list_item_open"


def _cut(text: str) -> tuple[str, str]:
    """The beginning of one overlong block, and the rest so that it reads as the same kind of block."""
    lines = text.splitlines(keepends=True)
    kind = next((token for token in _parsed(text) if token.level == 0), None)
    if kind is not None and kind.type == "fence":
        head, close = lines[0], f"{kind.markup}\n"
    elif kind is not None and kind.type == "table_open":
        head, close = "".join(lines[:_TABLE_HEAD_LINES]), ""
    else:
        head = close = ""
    at = _break(text)
    if at <= len(head):  # the head alone is too long to be repeated
        head = close = ""
    ending = "" if text[:at].endswith("\n") else "\n"
    return text[:at] + ending + close, head + (text[at:] if head else text[at:].lstrip(" "))


def _break(text: str) -> int:
    """The place of a cut: after the last line that fits, else the last word, else anywhere."""
    for mark in ("\n", " "):
        if (at := text.rfind(mark, MAX_PIECE_CHARACTERS // 2, MAX_PIECE_CHARACTERS) + 1) > 0:
            return at
    return MAX_PIECE_CHARACTERS


def _parsed(text: str) -> list[Token]:
    """The blocks of a text; what stands inside lines is not looked at."""
    return _blocks_only().parse(text)


@cache
def _blocks_only() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
