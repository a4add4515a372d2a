"""How neighbours are named under a target: its `calls:` and `callers:` lines, and which reasons these say."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tersely.code.lenses.candidate import BY_NAME, CALLEE, CALLER, DELETED, TEST, Candidate, Twin, ranged_lines
from tersely.code.pack.model import Delta, Detail, Extract, Item, Pack
from tersely.code.symbols import Symbol

# The lines of a target, in this order; those of edges by name come last.
_LABELS = {CALLEE: "calls", CALLER: "callers", TEST: "tests"}
_ORDER = [label + suffix for suffix in ("", BY_NAME) for label in _LABELS.values()]
# After a name: the reader has its signature or more, and that is still so; or it is not.
_NUMBER = re.compile(r"#\d+$")  # of an overload or redefinition
COMMIT_DIGITS = 10
UNCHANGED_NAME = "="
CHANGED_NAME = "≠"


@dataclass(frozen=True, slots=True)
class Relations:
    """The neighbours of each target by label, in print order, and the ids whose reason they say."""

    of_target: dict[str, dict[str, list[Symbol]]]
    said: frozenset[str]


def relations_of(pack: Pack) -> Relations:
    """What the relation lines of the targets that are shown by themselves will say."""
    shown_targets = {item.symbol.id for item in pack.items if item.symbol.id in pack.targets}
    of_target: dict[str, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
    said = set()
    folded = (twin for item in pack.items for twin in item.twins)
    neighbours: tuple[Item | Candidate | Twin, ...] = (*pack.items, *pack.within, *folded)
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
    """By id what follows the names of symbols of which only the name is sent because the reader has more, or had."""
    marks = {Delta.UNCHANGED: UNCHANGED_NAME, Delta.CHANGED: CHANGED_NAME}
    return {
        item.symbol.id: marks[item.delta] for item in pack.items if item.detail is Detail.NAME and item.delta in marks
    }


def delta_phrase(item: Item | Extract) -> str:
    """What is said of a text that is not sent whole: `unchanged TAG`, `diff from TAG to TAG`; "" of one that is."""
    if isinstance(item, Extract):
        return item.delta.value
    if item.delta is Delta.DIFF:
        return f"{item.delta.value} from {item.base} to {item.etag}"
    return f"{item.delta.value} {item.etag}".rstrip()


def twin_phrase(twin: Twin, path: str = "") -> str:
    """`≈ post @12-18: "get" → "post"`: what is said of a symbol whose code is nearly that of one in the file `path`."""
    symbol = twin.symbol
    name = symbol.qualname if symbol.path == path else symbol.id
    lines = str(symbol.start_line) if symbol.start_line == symbol.end_line else f"{symbol.start_line}-{symbol.end_line}"
    return f"≈ {name} @{lines}" + (f": {twin.differences}" if twin.differences else "")


def reason_phrase(item: Item | Candidate, pack: Pack) -> str:
    """Why an item is there: its reason, and to whom unless that is the only target."""
    if not item.of or pack.targets == (item.of,):
        return item.reason
    return f"{item.reason} of {_short(item.of)}"


def changed_phrase(item: Item) -> str:
    """` 14-15,20`: the lines that a change put in, "" for what has not changed or only lost lines."""
    lines = item.change.lines if item.change else ()
    return f" {ranged_lines(lines)}" if lines else ""


def evidence_phrase(item: Item) -> str:
    """What is said beside a reason, "" for nothing."""
    return f" ({item.evidence})" if item.evidence else ""


def removed_lines(item: Item) -> list[str]:
    """`-14 return old`: what a change took out, each line with that before which it stood."""
    if item.change is None or item.detail is not Detail.BODY:
        return []
    lines = [f"-{number} {text}" for number, text in item.change.removed]
    return lines + ([f"-… {item.change.removed_more} more"] if item.change.removed_more else [])


def printed_items(pack: Pack, relations: Relations) -> list[Item]:
    """The items but for those that a relation line names and of which nothing else is shown."""
    return [item for item in pack.items if item.detail is not Detail.NAME or item.symbol.id not in relations.said]


def unique_names(items: Iterable[Item]) -> frozenset[str]:
    """The qualified names that mean only one symbol of those printed."""
    symbols = [symbol for item in items for symbol in (item.symbol, *(twin.symbol for twin in item.twins))]
    names = Counter(symbol.qualname for symbol in symbols)
    return frozenset(name for name, times in names.items() if times == 1 and name)


def note_phrase(pack: Pack) -> str:
    """`17 as before, no caller of open any more: login, +12 more callers`, "" when everything is there."""
    nothing = nothing_phrase(pack)
    if nothing:
        return nothing
    known = [f"{len(pack.as_before)} as before"] if pack.as_before else []
    lost: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in pack.gone:
        lost[one.reason, one.of].append(one.id)
    gone = [f"no {reason} of {_short(of)} any more: {' '.join(map(_short, ids))}" for (reason, of), ids in lost.items()]
    omitted = [f"+{times} more {_plural(reason, times)}" for reason, times in pack.omitted]
    return ", ".join([*known, *gone, *omitted])


def nothing_phrase(pack: Pack) -> str:
    """That a change is empty; "" for any other pack."""
    said = (pack.items, pack.extracts, pack.omitted, pack.as_before, pack.gone, pack.whole_files)
    if not pack.head or any(said):
        return ""
    if not pack.base:  # a patch
        return "nothing differs"
    return f"nothing differs between {pack.base[:COMMIT_DIGITS]} and {pack.head[:COMMIT_DIGITS]}"


def _short(symbol_id: str) -> str:
    return symbol_id.partition(":")[2] or symbol_id


def _plural(reason: str, times: int) -> str:
    word = reason.removesuffix(BY_NAME)
    if times != 1 and word != DELETED:
        word += "es" if word.endswith("s") else "s"
    return word + (BY_NAME if reason.endswith(BY_NAME) else "")
