"""Symbols as they stood in a longer text that a reader was shown: a file, or the class around them,
since changed.
"""

from __future__ import annotations

from tersely.code.symbols import Symbol
from tersely.context.lenses.diff.changed_symbols import side_of
from tersely.context.pack.delta.etag import etag_of, normalised
from tersely.context.pack.delta.sessions import SentTexts
from tersely.context.pack.texts import Texts
from tersely.foundation.types import replace

MIN_LINES = 2


def stands_in(inner: str, outer: str) -> bool:
    """True if the lines of `inner` stand one after the other in `outer`, all indented further by
    the same amount.

    Never so for a single line, which may belong to something else.
    """
    lines, around = inner.splitlines(), outer.splitlines()
    if len(lines) < MIN_LINES or not lines[0]:
        return False
    for start, first in enumerate(around[: len(around) - len(lines) + 1]):
        if first.endswith(lines[0]):
            indent = first[: len(first) - len(lines[0])]
            there = around[start : start + len(lines)]
            if not indent.strip() and there == [
                f"{indent}{line}" if line else line for line in lines
            ]:
                return True
    return False


class Older:
    """One such text, read as if it were the whole file: symbols whose owners it does not show are
    not found in it.
    """

    def __init__(self, path: str, text: str, texts: Texts) -> None:
        side = side_of(path, text.encode("utf-8", "surrogatepass"))
        self._source = side.text
        self._symbols = {symbol.id: symbol for symbol in side.symbols}
        self._texts = replace(
            texts, source_of=lambda _: side.text, symbols_of=lambda _: side.symbols
        )

    def shown(self, symbol: Symbol) -> SentTexts | None:
        """The texts of a symbol, None where there was none of that id and kind."""
        before = self._symbols.get(symbol.id)
        if before is None or before.kind is not symbol.kind:
            return None
        tag = etag_of(normalised(before, self._source))
        return SentTexts(tag, self._texts.signature(before).plain, body=self._texts.whole(before))
