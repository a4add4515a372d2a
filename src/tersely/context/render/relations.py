"""The words about items beside their code: why they are there, and the neighbours of a target that
have only a name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from tersely.code.symbols import Symbol
from tersely.context.lenses.candidate import (
    BY_NAME,
    CALLEE,
    CALLER,
    TEST,
    Candidate,
    Twin,
    ranged_lines,
)
from tersely.context.pack.model import Delta, Detail, Extract, Item, Pack
from tersely.context.render.hunks import has_hunks, hunks_of
from tersely.context.render.reasons import WEAK_REASONS, plural, reason_words
from tersely.foundation.types import frozen

# The lines of a target, in this order; those of edges by name come last.
_LABELS = {CALLEE: "calls", CALLER: "callers", TEST: "tests"}
_ORDER = [label + suffix for suffix in ("", BY_NAME) for label in _LABELS.values()]
# After a name: the reader has its signature or more, and that is still so; or it is not.
MAX_CHANGED_RANGES = 12  # of lines, that the words on a change list
_NUMBER = re.compile(r"#\d+$")  # of an overload or redefinition
UNCHANGED_NAME = "="
CHANGED_NAME = "≠"
WHOLE_HINT = "whole: symbol get NAME"


@frozen
class Relations:
    """The neighbours of each target by label, in print order, and the ids whose reason they say."""

    of_target: dict[str, dict[str, list[Symbol]]]
    said: frozenset[str]


def relations_of(pack: Pack, *, lists_all: bool = False) -> Relations:
    """The relations that the lines of the targets name which are shown by themselves: neighbours
    that have no line of their own.

    With `lists_all` also those that have one, which then need not say why they are there.
    """
    shown_targets = {item.symbol.id for item in pack.items if item.symbol.id in pack.targets}
    of_target: dict[str, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
    said = set()
    folded = (
        twin
        for item in pack.items
        for twin in item.twins
        if twin.reason != item.reason or twin.of != item.of
    )
    names = (item for item in pack.items if lists_all or item.detail is Detail.NAME)
    neighbours: tuple[Item | Candidate | Twin, ...] = (*names, *pack.within, *folded)
    for neighbour in neighbours:
        label = relation_label(neighbour.reason)
        if label and neighbour.of in shown_targets:
            of_target[neighbour.of][label].append(neighbour.symbol)
            said.add(neighbour.symbol.id)
    ordered = {
        target: {label: _each_once(labels[label]) for label in _ORDER if label in labels}
        for target, labels in of_target.items()
    }
    return Relations(ordered, frozenset(said))


def _each_once(symbols: Iterable[Symbol]) -> list[Symbol]:
    """The symbols, one of those that a file defines under one name: overloads are called together."""
    found: dict[tuple[str, str], Symbol] = {}
    for symbol in symbols:
        name = symbol.path, _NUMBER.sub("", symbol.qualname)
        if name not in found or "#" not in symbol.qualname:
            found[name] = symbol
    return list(found.values())


def relation_label(reason: str) -> str:
    """The line that names symbols with this reason, "" if they have none."""
    base = reason.removesuffix(BY_NAME)
    label = _LABELS.get(base, "")
    return label + reason[len(base) :] if label else ""


def delta_marks(pack: Pack) -> dict[str, str]:
    """By id what follows the names of symbols of which only the name is sent because the reader has
    more, or had.
    """
    marks = {Delta.UNCHANGED: UNCHANGED_NAME, Delta.CHANGED: CHANGED_NAME}
    return {
        item.symbol.id: marks[item.delta]
        for item in pack.items
        if item.detail is Detail.NAME and item.delta in marks
    }


def delta_phrase(item: Item | Extract) -> str:
    """The words on a text that is not sent whole: `unchanged TAG`, `diff from TAG to TAG`; "" of
    one that is.
    """
    if isinstance(item, Extract):
        return item.delta.value
    if item.delta is Delta.DIFF:
        return f"{item.delta.value} from {item.base} to {item.etag}"
    return f"{item.delta.value} {item.etag}".rstrip()


def twin_phrase(twin: Twin, path: str = "") -> str:
    """`≈ post @12-18: "get" → "post"`: what is said of a symbol whose code is nearly that of one in
    the file `path`.
    """
    symbol = twin.symbol
    name = symbol.qualname if symbol.path == path else symbol.id
    lines = (
        str(symbol.start_line)
        if symbol.start_line == symbol.end_line
        else f"{symbol.start_line}-{symbol.end_line}"
    )
    return f"≈ {name} @{lines}" + (f": {twin.differences}" if twin.differences else "")


def reason_phrase(item: Item | Candidate) -> str:
    """The reason for which an item is there, in words."""
    return reason_words(item.reason, related_name(item))


def related_name(item: Item | Candidate) -> str:
    """The name of the symbol that the reason of an item relates it to, "" for none."""
    return _short(item.of) if item.of else ""


def changed_phrase(item: Item) -> str:
    """` 14-15,20`: the lines that a change put in, where no hunks say so, at most
    `MAX_CHANGED_RANGES` of them; "" for what has not changed.
    """
    lines = item.change.lines if item.change and not (has_hunks(item) and item.lines) else ()
    return f" {ranged_lines(lines, most=MAX_CHANGED_RANGES)}" if lines else ""


def code_text(item: Item) -> str:
    """The printed code of an item: a changed symbol as hunks."""
    return hunks_of(item) if has_hunks(item) else item.code


def evidence_phrase(item: Item) -> str:
    """The words beside a reason, "" for nothing."""
    return f" ({item.evidence})" if item.evidence else ""


def printed_items(pack: Pack, relations: Relations) -> list[Item]:
    """The items but for those that a relation line names and of which nothing else is shown."""
    return [
        item
        for item in pack.items
        if item.detail is not Detail.NAME or item.symbol.id not in relations.said
    ]


def unique_names(items: Iterable[Item]) -> frozenset[str]:
    """The qualified names that mean only one symbol of those printed."""
    names = Counter(symbol.qualname for item in items for symbol in item.symbols)
    return frozenset(name for name, times in names.items() if times == 1 and name)


def note_phrase(pack: Pack, *, has_hint: bool = True) -> str:
    """`17 as before, +12 more callers, whole: symbol get NAME`, "" where everything is there."""
    nothing = nothing_phrase(pack)
    if nothing:
        return nothing
    known = [f"{len(pack.as_before)} as before"] if pack.as_before else []
    lost: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in pack.gone:
        lost[one.reason, one.of].append(one.id)
    gone = [
        f"no {reason} of {_short(of)} any more: {' '.join(map(_short, ids))}"
        for (reason, of), ids in lost.items()
    ]
    omitted: Counter[str] = Counter()
    for reason, times in pack.omitted:
        omitted["" if reason in WEAK_REASONS else reason.partition(" from ")[0]] += times
    others = omitted.pop("", 0)
    more = [f"+{times} more {plural(reason, times)}" for reason, times in omitted.items()]
    more += [f"+{others} weaker matches"] if others else []
    hint = [WHOLE_HINT] if has_hint and _leaves_out(pack) else []
    return ", ".join([*known, *gone, *more, *hint])


def _leaves_out(pack: Pack) -> bool:
    """True if something is shown in part, or its reader is told that it has it."""
    if pack.as_before or any(extract.delta for extract in pack.extracts):
        return True
    return any(
        item.detail is not Detail.BODY or item.is_cut or item.parts or item.delta
        for item in pack.items
    )


def nothing_phrase(pack: Pack) -> str:
    """That a change is empty; "" for any other pack."""
    said = (pack.items, pack.extracts, pack.omitted, pack.as_before, pack.gone, pack.whole_files)
    if not pack.head or any(said):
        return ""
    if not pack.base:  # a patch
        return "nothing differs"
    return f"nothing differs between {pack.base} and {pack.head}"


def _short(symbol_id: str) -> str:
    return symbol_id.partition(":")[2] or symbol_id
