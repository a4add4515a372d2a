"""Symbols that a change gave another name: what has no counterpart by name on the other side, and
nearly the same lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tersely.code.symbols import Symbol

MAX_COMPARED_PAIRS = 2_000  # of symbols of a file that are gone and that are new
# of the lines of both, names aside, that are to be the same
LEAST_SHARE = 0.6


def renamed(
    before: Sequence[Symbol], old_text: bytes, after: Sequence[Symbol], new_text: bytes
) -> Mapping[str, Symbol]:
    """By the qualified names of symbols that are gone the symbols that they have become.

    What is in a class or namespace that has another name has one too.
    """
    kept = {one.qualname: one for one in after} if before else {}
    known = {one.qualname for one in before}
    new = [one for one in after if one.qualname not in known]
    found: dict[str, Symbol] = {}
    compared = 0
    for one in sorted(before, key=lambda one: (one.start_byte, -one.end_byte)):
        if one.qualname in kept or not new:
            continue
        owner = _owner(one)
        around = found[owner].qualname if owner in found else owner
        same = kept.get(f"{around}.{one.name}".removeprefix("."))
        if same is not None and owner in found:
            found[one.qualname] = same
            continue
        taken = {other.qualname for other in found.values()}
        alike = [
            other
            for other in new
            if other.kind is one.kind and _owner(other) == around and other.qualname not in taken
        ]
        compared += len(alike)
        if compared > MAX_COMPARED_PAIRS:
            break
        shares = [(_share(one, old_text, other, new_text), other.id, other) for other in alike]
        best = max(shares, default=None, key=lambda share: share[:2])
        if best is not None and best[0] >= LEAST_SHARE:
            found[one.qualname] = best[2]
    return found


def _owner(symbol: Symbol) -> str:
    return symbol.qualname.rpartition(".")[0]


def _share(one: Symbol, old_text: bytes, other: Symbol, new_text: bytes) -> float:
    """The part of the lines of two symbols that both have."""
    first, second = (Counter(_lines(*side)) for side in ((one, old_text), (other, new_text)))
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def _lines(symbol: Symbol, text: bytes) -> Iterator[bytes]:
    """The lines of a symbol that have anything in them, with a hole for its name."""
    name = re.compile(rb"(?<!\w)" + re.escape(symbol.name.encode()) + rb"(?!\w)")
    own = name.sub(b"\0", text[symbol.start_byte : symbol.end_byte])
    return (line for row in own.split(b"\n") if (line := row.strip()))
