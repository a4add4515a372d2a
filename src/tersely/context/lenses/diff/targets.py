"""Changed symbols as candidates: their hunks, with as much around them as leaves room for what else
is needed.

All lines that were put in or taken out are shown where they fit into the budget; what stands around
them is not worth a line of another hunk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from tersely.code.symbols import CLASS_KINDS, Kind, Ranges, Symbol
from tersely.context.lenses.candidate import CHANGED, DELETED, TARGET_SCORE, Candidate, merged
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange, Side
from tersely.context.lenses.diff.notes import without_text
from tersely.context.lenses.diff.selection import SYMBOL_TOKENS, tokens_of
from tersely.foundation.limits import MAX_TARGET_SYMBOLS
from tersely.foundation.types import replace

TOKENS_A_TARGET = 40  # of the budget, that a changed symbol is sure to be named
BEYOND_TARGETS_SCORE = 0.98  # of changed symbols for which there is no room among the targets
MOST_GONE_LINES = 12  # shown of a symbol that is gone


class Surroundings(NamedTuple):
    """The room that changed symbols have, if they take no more than a part of the budget."""

    budget_part: float
    whole_lines: int  # of a changed symbol that is shown whole
    around_lines: int  # shown around changed lines of a longer one
    removed_lines: int | None = None  # told of one symbol; None for all


# The widest first. The last is for changes that do not fit.
WIDEST_FIRST = (
    Surroundings(0.4, 24, 3),
    Surroundings(0.6, 0, 3),
    Surroundings(0.8, 0, 1),
    Surroundings(1.0, 0, 0),
    Surroundings(float("inf"), 0, 0, 16),
)


class Targets(NamedTuple):
    """The changed symbols of a pack, and about how many tokens they take."""

    candidates: list[Candidate]
    beyond: list[Candidate]  # for which there is no room among them
    tokens: float


def targets_of(
    changes: Sequence[FileChange],
    changed: Sequence[ChangedSymbol],
    text_of: Callable[[str], bytes],
    budget: int,
) -> Targets:
    """The changed symbols with as much around their lines as the budget has room for."""
    removed = {
        change.before.path: change.before
        for change in changes
        if change.before and not change.diff.path
    }
    files = [_removed_file(side) for side in removed.values()]
    shown = [one for one in changed if not (one.is_gone and one.symbol.path in removed)]
    holding = {one.symbol.parent for one in changed if not one.is_gone}
    texts = {
        path: text_of(path).decode("utf-8", "replace").split("\n")
        for path in {one.symbol.path for one in shown}
    }
    for surroundings in WIDEST_FIRST:
        candidates = [
            *files,
            *(_target(one, one.symbol.id in holding, surroundings) for one in shown),
        ]
        tokens = sum(_tokens(one, texts.get(one.symbol.path, ())) for one in candidates)
        if tokens <= surroundings.budget_part * budget:
            break
    most = max(1, min(MAX_TARGET_SYMBOLS, budget // TOKENS_A_TARGET))
    beyond = [replace(one, score=BEYOND_TARGETS_SCORE) for one in candidates[most:]]
    return Targets(candidates[:most], beyond, tokens)


def _removed_file(side: Side) -> Candidate:
    """A file that is gone costs a line, whatever was in it."""
    symbol = without_text(side.symbols[0])
    return Candidate(symbol, TARGET_SCORE, DELETED, is_gone=True)


def _target(one: ChangedSymbol, holds_others: bool, surroundings: Surroundings) -> Candidate:
    reason = DELETED if one.is_gone else CHANGED
    parts = _beginning(one.symbol) if one.is_gone else _parts(one, holds_others, surroundings)
    symbol = without_text(one.symbol) if one.is_gone else one.symbol
    change = one.change(surroundings.removed_lines)
    return Candidate(
        symbol, TARGET_SCORE, one.note or reason, change=change, is_gone=one.is_gone, parts=parts
    )


def _beginning(symbol: Symbol) -> Ranges:
    """The first lines of a symbol; none of a file without text, such as an image."""
    if not symbol.end_byte:
        return ()
    return ((symbol.start_line, min(symbol.end_line, symbol.start_line + MOST_GONE_LINES - 1)),)


def _parts(one: ChangedSymbol, holds_others: bool, surroundings: Surroundings) -> Ranges:
    """The changed lines with some around them, of a symbol that is long, or holds others that
    changed as well.
    """
    symbol = one.symbol
    if one.is_renamed:  # it is what it was
        return merged((at, at) for at in sorted({*one.lines, *one.gaps}))
    size = symbol.end_line - symbol.start_line + 1
    is_holder = holds_others or symbol.kind in {*CLASS_KINDS, Kind.MODULE}
    if size <= surroundings.whole_lines and not is_holder:
        return ()
    around = surroundings.around_lines
    lines = sorted({*one.lines, *one.gaps})
    return merged(
        (max(symbol.start_line, at - around), min(symbol.end_line, at + around)) for at in lines
    )


def _tokens(target: Candidate, lines: Sequence[str]) -> float:
    """About what a changed symbol takes, with its removed lines."""
    symbol = target.symbol
    parts = target.parts or ((symbol.start_line, symbol.end_line),)
    shown = [row for first, last in parts for row in lines[first - 1 : last]]
    removed = [text for _, text in target.change.removed] if target.change else []
    return SYMBOL_TOKENS + tokens_of(shown) + tokens_of(removed)


def is_silent(changes: Iterable[FileChange], comment_of: Callable[[str], str]) -> bool:
    """True if a change is in comments and documentation alone, so that no other code has to follow
    it.

    `comment_of` gives what begins a comment that ends with its line, by path.
    """
    return all(_is_silent(change, comment_of(change.diff.name)) for change in changes)


def is_renaming(changed: Iterable[ChangedSymbol], changes: Iterable[FileChange]) -> bool:
    """True if all that a change does is to give symbols other names."""
    names = {one.was.name: one.symbol.name for one in changed if one.was and one.is_renamed}
    if not names:
        return False
    word = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))

    def after(row: bytes) -> str:
        return word.sub(lambda found: names[found[0]], row.decode("utf-8", "replace"))

    return all(
        [after(row) for row in hunk.removed]
        == [row.decode("utf-8", "replace") for row in hunk.added]
        for change in changes
        for hunk in change.diff.hunks
    )


def _is_silent(change: FileChange, comment: str) -> bool:
    if not comment or not change.diff.hunks:
        return False
    return all(
        _are_silent(hunk.removed, hunk.old_first, _documented(change.before), comment)
        and _are_silent(hunk.added, hunk.new_first, _documented(change.after), comment)
        for hunk in change.diff.hunks
    )


def _are_silent(
    rows: Sequence[bytes], first: int, documented: Collection[int], comment: str
) -> bool:
    texts = (row.decode("utf-8", "replace").strip() for row in rows)
    return all(
        number in documented or not text or text.startswith(comment)
        for number, text in enumerate(texts, first)
    )


def _documented(side: Side | None) -> set[int]:
    """The lines of a file that are documentation of its symbols."""
    found: set[int] = set()
    for symbol in side.symbols if side is not None else ():
        if symbol.doc_end_byte:
            assert side is not None
            first = side.text.count(b"\n", 0, symbol.doc_start_byte) + 1
            end = len(side.text[: symbol.doc_end_byte].rstrip())
            found.update(
                range(first, first + side.text.count(b"\n", symbol.doc_start_byte, end) + 1)
            )
    return found
