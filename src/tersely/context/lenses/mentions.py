"""The compile-time dependencies of a symbol: classes and values whose names its text mentions.

Calls are the call graph's business; what a body merely names (an annotation, a base, a constant, an
exception that it catches) is found here, from the text and the names that are visible in its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tersely.code.symbols import CLASS_KINDS, VALUE_KINDS, Kind, Symbol
from tersely.context.lenses.candidate import BASE, CONSTANT, TYPE

MAX_USED_SYMBOLS = 64  # types, bases and constants taken of one symbol
# but no member: its meaning depends on the object
_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*")
DEPENDENCY_KINDS = CLASS_KINDS | VALUE_KINDS | {Kind.MACRO}


class Used(NamedTuple):
    """One compile-time dependency; `reason` is `base`, `type` or `constant`."""

    symbol: Symbol
    reason: str


def declared_in(symbols: Iterable[Symbol]) -> dict[str, Symbol]:
    """The names that definitions at the top level of one file bind; the last definition of a name
    wins.
    """
    listed = list(symbols)
    modules = {symbol.id for symbol in listed if symbol.kind in {Kind.MODULE, Kind.NAMESPACE}}
    return {symbol.name: symbol for symbol in listed if symbol.parent in modules}


def mentioned(
    symbol: Symbol, signature: str, body: str, visible: Callable[[str], Symbol | None]
) -> list[Used]:
    """The visible classes and values that a symbol names, in order, without itself and what holds
    it.
    """
    declared = set(_IDENTIFIER.findall(signature))
    used = []
    for name in dict.fromkeys(_IDENTIFIER.findall(signature) + _IDENTIFIER.findall(body)):
        other = visible(name)
        if other is not None and other.kind in DEPENDENCY_KINDS and not holds(other, symbol):
            used.append(Used(other, _reason(symbol, other, name in declared)))
    return used[:MAX_USED_SYMBOLS]


def _reason(symbol: Symbol, other: Symbol, declared: bool) -> str:
    if other.kind not in CLASS_KINDS:
        return CONSTANT
    return BASE if declared and symbol.kind in CLASS_KINDS else TYPE


def holds(outer: Symbol, inner: Symbol) -> bool:
    """True if a definition lies within another, or is the same."""
    return (
        outer.path == inner.path
        and outer.start_byte <= inner.start_byte
        and inner.end_byte <= outer.end_byte
    )
