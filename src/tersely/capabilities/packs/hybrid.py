"""Hybrid packs: small pieces of code as they are, large ones as references to the relay, where the
door keeps them.

A reference is the hash of what it stands for, so that a pack is a function of its arguments and
knows no relay.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import counted
from tersely.capabilities.declaration.declaration import frozen
from tersely.capabilities.declaration.references import SCHEME
from tersely.foundation.types import replace

if TYPE_CHECKING:
    from tersely.context.pack.model import Item, Pack
    from tersely.context.pack.texts import Texts

LARGE_PIECE_SHARE = 8  # what takes more than 1 in so many tokens of the budget is large
LEAST_LARGE_TOKENS = 80  # a reference with what it stands for takes about a third of them
SHOWN_DIGITS = 12  # of a hash


@frozen
class Piece:
    """A text that a pack refers to instead of having it."""

    uri: str
    name: str  # the id of the symbol
    tokens: int
    text: str  # empty once a door keeps it


class Splitter:
    """Takes large pieces out of packs of one budget; `pieces` are those taken."""

    def __init__(self, texts: Texts, budget: int, count: Callable[[str], int]) -> None:
        self.pieces: list[Piece] = []
        self._texts = texts
        self._count = count
        self._most = max(LEAST_LARGE_TOKENS, budget // LARGE_PIECE_SHARE)

    def split(self, pack: Pack) -> Pack:
        """The pack with references in the place of large bodies."""
        return replace(pack, items=tuple(map(self._item, pack.items)))

    def _item(self, item: Item) -> Item:
        from tersely.context.pack.model import Detail

        if item.detail is not Detail.BODY or item.change or item.parts:
            return item
        code, last_line = self._texts.code(item.symbol)
        reference = self._reference(item.symbol.id, code)
        if not reference:
            return item
        head = f"{item.signature}\n" if item.signature else ""
        return replace(item, code=f"{head}    {reference}\n", last_line=last_line)

    def _reference(self, name: str, text: str) -> str:
        """The reference in the place of a large text; "" for a small one, which stays."""
        tokens = self._count(text)
        if tokens <= self._most:
            return ""
        uri = SCHEME + sha256(text.encode()).hexdigest()[:SHOWN_DIGITS]
        self.pieces.append(Piece(uri, name, tokens, text))
        return f"{uri}  ({counted(text.count(chr(10)), 'line')}, {tokens:,} tokens)"
