"""The diff lens: the symbols that changed, and what the rest of the change is likely to need.

The evidence for each piece of code (`evidence.py`), a few lines of a symbol, becomes the chance that whoever makes this
change has to write there as well (`chances.py`). Within the budget those pieces are chosen that cover the most
(`choice.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tersely.code.lenses.candidate import (
    CALLEE,
    CALLER,
    CHANGED,
    COCHANGE,
    DELETED,
    MENTION,
    NEIGHBOUR,
    TARGET_SCORE,
    TEST,
    WORDING,
    Candidate,
    View,
    merged,
    ranked,
)
from tersely.code.lenses.diff.chances import chances
from tersely.code.lenses.diff.choice import SYMBOL_TOKENS, chosen, tokens_of
from tersely.code.lenses.diff.evidence import Evidence, Figures, Sources, gather
from tersely.code.lenses.diff.notes import without_text
from tersely.code.lenses.diff.placed import ChangedSymbol, FileChange, Side
from tersely.code.lenses.diff.regions import Region
from tersely.code.lenses.diff.trees import shipped
from tersely.code.places import is_test
from tersely.code.symbols import CLASS_KINDS, Kind, Symbol
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS, MAX_TARGET_SYMBOLS

# The chance that a piece of code is needed, times the budget in tokens, below which it is left out: what little a pack
# has to say is not filled up with guesses.
LEAST_CHANCE_TOKENS = 5
HEADING_TOKENS = 40  # of a pack
SPARE = 1.25  # of the room that is chosen for: guesses are rather too high, and what does not fit is left out
TOKENS_A_TARGET = 40  # of the budget, that a changed symbol is sure to be named
BEST_SCORE = 0.9  # of the likeliest symbol; others in proportion
LEAST_SCORE = 1e-6
AROUND_LINES = 3  # shown around changed lines of a long symbol
WHOLE_CHANGED_LINES = 24  # of a changed symbol that is shown whole
MOST_GONE_LINES = 12  # shown of a symbol that is gone
BEYOND_TARGETS_SCORE = 0.98  # of changed symbols for which there is no room among the targets

_LINES = {
    COCHANGE: ("churn", "together"),
    MENTION: (
        "alike_removed", "alike_added", "gone", "brought", "gone_words", "brought_words", "calls",
    ),
    NEIGHBOUR: ("alike_around", "kept", "around"),
}  # fmt: skip
# The figures that speak for each reason.
EVIDENCE = {
    COCHANGE: ("cochanged_file", *_LINES[COCHANGE], *(f"symbol_{name}" for name in _LINES[COCHANGE])),
    MENTION: ("named", "file_alike", "file_gone", *_LINES[MENTION], *(f"symbol_{name}" for name in _LINES[MENTION])),
    NEIGHBOUR: (
        "same_file", "same_folder", "same_owner", "order", "near", "around_share", *_LINES[NEIGHBOUR],
        *(f"symbol_{name}" for name in _LINES[NEIGHBOUR]),
    ),
    WORDING: (
        "path_words", "words", "words_rank", "body_words", "body_rank", "alike_name", "name_words", "file_words",
        "file_rank",
    ),
}  # fmt: skip
CALLS = frozenset({CALLER, CALLEE, TEST})  # the names of these say something by themselves


def look(changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: Sources, budget: int) -> View:
    """Candidates for a pack of a budget. Of very many changed symbols it may show less than their names."""
    most_targets = max(1, min(MAX_TARGET_SYMBOLS, budget // TOKENS_A_TARGET))
    evidence = gather(changes, changed, sources)
    holding = {one.symbol.parent for one in changed if not one.is_gone}
    removed = {change.before.path: change.before for change in changes if change.before and not change.diff.path}
    targets = [_removed_file(side) for side in removed.values()]
    targets += [
        _target(one, one.symbol.id in holding) for one in changed if not (one.is_gone and one.symbol.path in removed)
    ]
    beyond = [replace(one, score=BEYOND_TARGETS_SCORE) for one in targets[most_targets:]]
    others, unlikely = _others(evidence, targets, budget)
    candidates = ranked([*targets[:most_targets], *beyond, *others])
    left = unlikely + Counter(one.reason for one in candidates[MAX_CANDIDATES_SYMBOLS:])
    apart = frozenset(one.symbol.path for one in targets)
    return View(candidates[:MAX_CANDIDATES_SYMBOLS], dict(sorted(left.items())), apart=apart)


def _removed_file(side: Side) -> Candidate:
    """A file that is gone costs a line, whatever was in it."""
    symbol = without_text(side.symbols[0])
    return Candidate(symbol, TARGET_SCORE, DELETED, is_gone=True)


def _target(one: ChangedSymbol, holds_others: bool) -> Candidate:
    reason = DELETED if one.is_gone else CHANGED
    parts = _beginning(one.symbol) if one.is_gone else _parts_of_change(one, holds_others)
    symbol = without_text(one.symbol) if one.is_gone else one.symbol
    return Candidate(symbol, TARGET_SCORE, one.note or reason, change=one.change(), is_gone=one.is_gone, parts=parts)


def _beginning(symbol: Symbol) -> tuple[tuple[int, int], ...]:
    """The first lines of a symbol; none of a file without text, such as an image."""
    if not symbol.end_byte:
        return ()
    return ((symbol.start_line, min(symbol.end_line, symbol.start_line + MOST_GONE_LINES - 1)),)


def _parts_of_change(one: ChangedSymbol, holds_others: bool) -> tuple[tuple[int, int], ...]:
    """The changed lines with some around them, of a symbol that is long, or holds others that changed as well."""
    symbol = one.symbol
    size = symbol.end_line - symbol.start_line + 1
    if size <= WHOLE_CHANGED_LINES and not holds_others and symbol.kind not in {*CLASS_KINDS, Kind.MODULE}:
        return ()
    lines = sorted({*one.lines, *one.gaps})
    near = [(max(symbol.start_line, at - AROUND_LINES), min(symbol.end_line, at + AROUND_LINES)) for at in lines]
    return merged(near)


def _others(evidence: Evidence, targets: Sequence[Candidate], budget: int) -> tuple[list[Candidate], Counter[str]]:
    """Candidates for all symbols that have a chosen piece or are called, and by reason the number of the others."""
    if not evidence.regions:
        return [], Counter()
    found = chances(evidence)
    best = {evidence.regions[at].symbol.id: at for at in np.argsort(found, kind="stable").tolist()}  # the last stays
    reasons = _reasons(list(best.values()), evidence)
    pieces = _pieces(evidence, found, targets, budget)
    calls = evidence.edges["caller"].keys() | evidence.edges["callee"].keys()
    shown = [symbol_id for symbol_id in best if symbol_id in pieces or symbol_id in calls]
    sums = {symbol_id: float(sum(found[pieces.get(symbol_id, [best[symbol_id]])])) for symbol_id in shown}
    top = max(sums.values(), default=1.0)
    candidates = []
    for symbol_id in shown:
        symbol = evidence.regions[best[symbol_id]].symbol
        parts = _parts(symbol, [evidence.regions[at] for at in pieces.get(symbol_id, ())])
        score = max(LEAST_SCORE, BEST_SCORE * sums[symbol_id] / top)
        is_called = symbol_id in calls  # and worth its name if its body has no room
        candidates.append(Candidate(symbol, score, *reasons[symbol_id], whole_only=not is_called, parts=parts))
    return candidates, Counter(reasons[symbol_id][0] for symbol_id in best.keys() - sums.keys())


def _pieces(
    evidence: Evidence, found: Figures, targets: Sequence[Candidate], budget: int
) -> Mapping[str, Sequence[int]]:
    """By symbol the positions of its pieces that are chosen for what the targets leave of the budget."""
    room = SPARE * (budget - HEADING_TOKENS - sum(_tokens_of_target(one, evidence.lines) for one in targets))
    known = {one.symbol.path for one in targets}
    pieces: dict[str, list[int]] = defaultdict(list)
    for at in chosen(evidence.regions, found, evidence.lines, room, LEAST_CHANCE_TOKENS / budget, known):
        pieces[evidence.regions[at].symbol.id].append(at)
    return dict(pieces)


def _tokens_of_target(target: Candidate, lines: Mapping[str, Sequence[str]]) -> float:
    """About what a changed symbol takes, with what is told of its removed lines."""
    symbol = target.symbol
    parts = target.parts or ((symbol.start_line, symbol.end_line),)
    shown = [row for first, last in parts for row in lines.get(symbol.path, ())[first - 1 : last]]
    removed = [text for _, text in target.change.removed] if target.change else []
    return SYMBOL_TOKENS + tokens_of(shown) + tokens_of(removed)


def _parts(symbol: Symbol, pieces: Sequence[Region]) -> tuple[tuple[int, int], ...]:
    """The lines to show of a symbol; none for all of it."""
    parts = merged([(piece.first, piece.last) for piece in pieces])
    return () if parts == ((symbol.start_line, symbol.end_line),) else parts


def _reasons(rows: Sequence[int], evidence: Evidence) -> dict[str, tuple[str, str]]:
    """What says most for each symbol of some pieces: a call first, then the evidence that adds most to the odds."""
    trees = shipped()
    told = trees.told(evidence.figures[rows])
    columns = {reason: [trees.fields.index(name) for name in names] for reason, names in EVIDENCE.items()}
    found: dict[str, tuple[str, str]] = {}
    for row, at in zip(told, rows, strict=True):
        symbol = evidence.regions[at].symbol
        if symbol.id in evidence.edges["caller"]:
            found[symbol.id] = (TEST if is_test(symbol.path) else CALLER), evidence.edges["caller"][symbol.id][1]
        elif symbol.id in evidence.edges["callee"]:
            found[symbol.id] = CALLEE, evidence.edges["callee"][symbol.id][1]
        else:
            found[symbol.id] = max(columns, key=lambda reason: float(row[columns[reason]].sum())), ""
    return found
