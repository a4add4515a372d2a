"""What of a symbol a text shows, judged alike for every tool, by the text alone.

A symbol is *covered* if its signature or its body is visible: if its header stands in the text,
blanks and the name of what it is in aside; if a line defines its name, as tools that write
signatures anew print it; or if at least half of the lines of its body that are long enough to be
told apart stand in the text. It is *shown* if these lines do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Symbol

MIN_LINE_CHARACTERS = 8  # of a line without blanks that says which line it is
HALF = 0.5
_DEFINING = r"\b(?:def|defp|fn|func|fun|function|class|struct|trait|interface|enum|type|impl|module|object|macro)\b"
_BLANKS = re.compile(r"\s+")
_OPENS = re.compile(r"[{:=]+$")
_OWNER = r"(?:[\w$]+(?:\.|::|#|:))*"


@dataclass(frozen=True, slots=True)
class Marks:
    """By what a symbol is recognised in a text."""

    symbol: Symbol
    header: re.Pattern[str] | None  # in text without blanks
    defining: re.Pattern[str]
    lines: tuple[str, ...]  # of its body, without blanks

    def is_covered(self, text: Text) -> bool:
        """Whether the signature or the body is visible."""
        header = self.header is not None and self.header.search(text.dense) is not None
        return header or self.defining.search(text.plain) is not None or self.is_shown(text)

    def is_shown(self, text: Text) -> bool:
        """Whether at least half of the body is visible."""
        return sum(line in text.lines for line in self.lines) >= max(1.0, HALF * len(self.lines))


@dataclass(frozen=True, slots=True)
class Text:
    """An answer, ready to be looked into."""

    plain: str
    dense: str  # without blanks
    lines: frozenset[str]  # without blanks and what tools put before a line

    @classmethod
    def of(cls, plain: str) -> Text:
        """Take an answer apart."""
        lines = frozenset(_dense(_MARGIN.sub("", line)) for line in plain.splitlines())
        return cls(plain, _dense(plain), lines)


# A path, a line number, a bar: what search tools and maps print before a line.
_MARGIN = re.compile(r"^(?:[\w./\\-]+[:-])?\s*(?:\d+[:|-]|[│⋮█|])?\s*")


def marks(symbol: Symbol, source: bytes) -> Marks:
    """How a symbol is recognised, from the file that it is in."""
    header = source[symbol.start_byte : symbol.signature_end_byte].decode("utf-8", "replace")
    body = source[symbol.signature_end_byte : symbol.end_byte].decode("utf-8", "replace")
    dense = _OPENS.sub(
        "", _dense(header.splitlines()[-1] if symbol.name_line > symbol.start_line else header)
    )
    lines = [_dense(line) for line in body.splitlines()]
    told = tuple(dict.fromkeys(line for line in lines if len(line) >= MIN_LINE_CHARACTERS))
    is_defined = symbol.kind in CALLABLE_KINDS | CLASS_KINDS
    defining = rf"{_DEFINING}[^\n(]*?\b{re.escape(symbol.name)}\b" if is_defined else r"(?!)"
    return Marks(
        symbol,
        _header(dense, symbol.name),
        re.compile(defining),
        told or tuple(filter(None, lines)),
    )


def _header(dense: str, name: str) -> re.Pattern[str] | None:
    """The header as a pattern in which the name may be qualified; None if it is the name and
    nothing else.
    """
    before, found, after = dense.partition(name)
    if not found or not before + after:
        return None
    return re.compile(re.escape(before) + _OWNER + re.escape(name) + re.escape(after))


def _dense(text: str) -> str:
    return _BLANKS.sub("", text).replace(",)", ")")


def share(found: Sequence[Marks], judge: Callable[[Marks], bool]) -> float:
    """The part of some symbols of which something is true, from 0 to 1; 0 of none."""
    return sum(map(judge, found)) / len(found) if found else 0.0
