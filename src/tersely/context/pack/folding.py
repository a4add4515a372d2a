"""Near-copies in a pack: of functions that are nearly the same one is shown, and of each other one
what differs.

A function is folded only where one line says all that differs and takes fewer tokens than its code
does. A target, a changed symbol and what is shown in part keep a place of their own; the best of
several copies is the one that is shown.
"""

from __future__ import annotations

from collections import Counter

from tersely.code.search.duplicates.differences import (
    Difference,
    differences,
    line_of,
    says_all,
    words_of,
)
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.context.lenses.candidate import BY_NAME, CALLEE, CALLER, TEST, Twin, View
from tersely.context.pack.fitting.token_meter import TokenMeter
from tersely.context.pack.model import Detail, Item, Pack
from tersely.foundation.types import replace

MAX_FOLDING_BODIES = 100  # that are compared in one pack, the best first
MAX_COMPARISONS = 200  # of two bodies word by word, in one pack
# of the words of two bodies, that both have; below it too much differs for one line
COMMON_PART = 0.8

# What a line below the target names, wherever its code is.
_NAMED_BELOW_TARGET = frozenset({CALLEE, CALLER, TEST})


def folded(pack: Pack, meter: TokenMeter) -> Pack:
    """The pack with near-copies folded into the best of them; the same pack where none is."""
    bodies = [item for item in pack.items if _is_whole_function(item)]
    left = sorted(bodies, key=lambda item: -item.score)[:MAX_FOLDING_BODIES]
    words = {item.symbol.id: Counter(words_of(item.code)) for item in left}
    comparisons = 0
    while left and comparisons < MAX_COMPARISONS:
        exemplar, *others = left
        left = []
        for other in others:
            twin = None
            if _may_stand_for(exemplar, other, pack) and _resemble(
                words[exemplar.symbol.id], words[other.symbol.id]
            ):
                comparisons += 1
                twin = _twin(exemplar, other)
            shorter = _with_twin(pack, exemplar.symbol.id, twin) if twin is not None else pack
            if shorter is not pack and meter.weigh(shorter) < meter.weigh(pack):
                pack = shorter
            else:
                left.append(other)
    return pack


def without_folded(view: View, pack: Pack) -> View:
    """The view in which what a pack folds is known to its exemplar, and is no candidate by itself."""
    twins = {item.symbol.id: item.twins for item in pack.items if item.twins}
    gone = {twin.symbol.id for folds in twins.values() for twin in folds}
    kept = (one for one in view.candidates if one.symbol.id not in gone)
    return replace(
        view, candidates=tuple(replace(one, twins=twins.get(one.symbol.id, ())) for one in kept)
    )


def folded_ids(pack: Pack) -> set[str]:
    """The ids of the symbols that are folded into others."""
    return {twin.symbol.id for item in pack.items for twin in item.twins}


def _is_whole_function(item: Item) -> bool:
    is_whole = item.detail is Detail.BODY and not (item.is_cut or item.parts or item.delta)
    return is_whole and item.symbol.kind in CALLABLE_KINDS


def _may_stand_for(exemplar: Item, other: Item, pack: Pack) -> bool:
    """True if nothing but code is lost where one item stands for another."""
    is_asked_about = other.symbol.id in pack.targets or other.change is not None
    says_more = bool(other.evidence or other.twins) or other.imports != exemplar.imports
    return not (is_asked_about or says_more or _holds_others(other.symbol, pack)) and _has_reason(
        exemplar, other, pack
    )


def _has_reason(exemplar: Item, other: Item, pack: Pack) -> bool:
    """True if a reader still learns why the other is there."""
    if (other.reason, other.of) == (exemplar.reason, exemplar.of):
        return True
    return other.of in pack.targets and other.reason.removesuffix(BY_NAME) in _NAMED_BELOW_TARGET


def _holds_others(symbol: Symbol, pack: Pack) -> bool:
    """True if candidates are shown as part of a symbol."""
    inside = (one.symbol for one in pack.within if one.symbol.path == symbol.path)
    return any(symbol.start_byte <= one.start_byte < symbol.end_byte for one in inside)


def _resemble(one: Counter[str], other: Counter[str]) -> bool:
    return 2 * (one & other).total() >= COMMON_PART * (one.total() + other.total())


def _twin(exemplar: Item, other: Item) -> Twin | None:
    """The line that stands for a copy; None where a line does not say all that differs."""
    names = Difference(exemplar.symbol.name, other.symbol.name)
    found = [one for one in differences(exemplar.code, other.code) if one != names]
    return Twin(other.symbol, other.reason, other.of, line_of(found)) if says_all(found) else None


def _with_twin(pack: Pack, exemplar: str, twin: Twin) -> Pack:
    items: list[Item] = []
    for item in pack.items:
        if item.symbol.id == exemplar:
            items.append(replace(item, twins=(*item.twins, twin)))
        elif item.symbol.id != twin.symbol.id:
            items.append(item)
    return replace(pack, items=tuple(items))
