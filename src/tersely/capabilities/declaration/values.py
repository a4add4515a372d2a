"""Values that several capabilities answer with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.declaration.declaration import frozen, option
from tersely.code.symbols import Kind, Symbol

if TYPE_CHECKING:
    from tersely.context.pack.texts import Texts

# Declares that an answer may be of symbols of one kind alone.
OF_KIND = option(None, "only symbols of this kind", metavar="KIND")


@frozen
class SymbolLine:
    """One symbol in a list. Lines count from 1 and are inclusive."""

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int
    signature: str  # on one line, empty for a module


def symbol_line(symbol: Symbol, texts: Texts | None) -> SymbolLine:
    """A symbol with its signature, where its source may be read for it."""
    signature = texts.signature(symbol).plain if texts else ""
    return SymbolLine(
        symbol.id, symbol.kind, symbol.path, symbol.start_line, symbol.end_line, signature
    )


def lines_text(line: int, end_line: int) -> str:
    """`12-40`, or `12` for a single line."""
    return str(line) if line == end_line else f"{line}-{end_line}"
