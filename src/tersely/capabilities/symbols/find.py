"""`code.symbol.find`: symbols by name, the end of an id, or a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import OF_KIND, SymbolLine, lines_text, symbol_line
from tersely.code.symbols import Kind, Symbol
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.workspace import Workspace

MAX_FOUND_SYMBOLS = 1_000_000  # counted, not shown: a page says how many there are


@frozen
class Found:
    """Symbols by path and place, and the queries among several that nothing matches."""

    symbols: Page[SymbolLine]
    missing: Strings


def text(found: Found, style: Style) -> str:
    """One symbol a line."""
    symbols = found.symbols.items
    rows = [
        (symbol.id, symbol.kind.value, lines_text(symbol.line, symbol.end_line))
        for symbol in symbols
    ]
    lines = aligned(rows, [style.symbol, None, style.faint])
    lines += rest_line(found.symbols, "symbol", style)
    return "\n".join(
        [*lines, *(style.doubtful(f"no symbol matches {query!r}") for query in found.missing)]
    )


@capability(
    "code.symbol.find",
    text,
    'symbol find "validate*" --kind function',
    "symbol find Session.validate PaymentService",
)
def run(
    workspace: Workspace,
    *,
    queries: Strings = positional(
        "a name, the end of an id (Session.validate, auth.py:validate) or a pattern (validate*)",
        role=Role.SYMBOL,
        metavar="QUERY",
        minimum=1,
        maximum=50,
    ),
    kind: Kind | None = OF_KIND,
    signatures: bool = option(
        True, "have signatures in the JSON; without them no source file is read"
    ),
    limit: int = limit_option(50, "symbols"),
    offset: int = offset_option("symbols"),
) -> Found:
    """Symbols by name, end of an id, or pattern.

    A query names whole parts: date does not mean validate, *date does. Case counts.
    """
    found: dict[str, Symbol] = {}
    missing = []
    texts = workspace.texts() if signatures else None
    for query in queries:
        matching = workspace.engine.lookup(query, kind, MAX_FOUND_SYMBOLS)
        missing += [] if matching else [query]
        found |= {symbol.id: symbol for symbol in matching}
    if not found:
        raise workspace.engine.not_found(missing[0], kind)
    page = page_of(list(found.values()), limit, offset)
    return Found(page.each(lambda symbol: symbol_line(symbol, texts)), tuple(missing))
