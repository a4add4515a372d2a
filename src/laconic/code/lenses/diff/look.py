"""The diff lens: the symbols that changed, and what the rest of the change is likely to need.

The evidence for each piece of code (`evidence.py`) is summed with the weights below: a conditional logit over all
pieces (McFadden 1974), so that a score is proportional to the chance that whoever makes this change has to look at the
piece as well. The weights were fitted to 194 commits of 14 public repositories, cut in two like the cases that
`bench/groundtruth/diff_context.py` judges by, and none of which is among these. Tests were no part of what was hidden.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from laconic.code.lenses.candidate import (
    CALLEE,
    CALLER,
    DELETED,
    NEAR_TARGET_SCORE,
    TARGET_SCORE,
    TEST,
    Candidate,
    View,
    merged,
    ranked,
)
from laconic.code.lenses.diff.evidence import FIELDS, Evidence, Figures, Sources, gather
from laconic.code.lenses.diff.notes import without_text
from laconic.code.lenses.diff.placed import ChangedSymbol, FileChange, Side
from laconic.code.lenses.diff.regions import Region
from laconic.code.places import is_test
from laconic.code.symbols import CLASS_KINDS, Kind, Symbol
from laconic.foundation.limits import MAX_CANDIDATES_SYMBOLS, MAX_TARGET_SYMBOLS

WEIGHTS = {
    "test": -2.79,
    "same_file": 0.42,
    "same_folder": 0.44,
    "path_words": 0.34,
    "words": 0.14,
    "file_words": 0.08,
    "body_words": 1.46,
    "alike_name": 0.91,
    "alike_line": 2.06,
    "gone_name": 0.02,
    "gone_words": 1.31,
    "brought_words": 0.94,
    "around_names": 0.13,
    "cochanged_lines": 0.10,
    "cochanged_file": 0.91,
    "churn": 1.76,
    "named": 0.17,
    "value": -2.08,
    "class": 0.13,
    "callee": 0.05,
    "caller": -0.13,
    "size": -0.07,
    "order": 2.95,
}
# The chance that a piece of code is needed, times the budget in tokens, below which it is left out: what little a pack
# has to say is not filled up with guesses.
LEAST_CHANCE_TOKENS = 18
TOKENS_A_TARGET = 40  # of the budget, that a changed symbol is sure to be named
BEST_SCORE = 0.9  # of the best piece; others in proportion
LEAST_SHARE = 0.3  # of the chance of its best piece that another piece of a long symbol has, to be shown with it
MOST_PIECES = 4  # of one symbol
AROUND_LINES = 3  # shown around changed lines of a long symbol
WHOLE_CHANGED_LINES = 24  # of a changed symbol that is shown whole
MOST_GONE_LINES = 12  # shown of a symbol that is gone
BEYOND_TARGETS_SCORE = 0.98  # of changed symbols for which there is no room among the targets

CHANGED = "contains_diff"
MENTION = "mention"  # it uses names that the change takes away or brings
COCHANGE = "co-change"  # commits that wrote the changed lines wrote some of it, too
NEIGHBOUR = "neighbour"  # of the same file, or close by
WORDING = "wording"  # it is about the same words
CALLS = frozenset({CALLER, CALLEE, TEST})  # the names of these say something by themselves


class _Piece(NamedTuple):
    chance: float
    region: Region
    reason: str
    of: str


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
    others, unlikely = _others(evidence, LEAST_CHANCE_TOKENS / budget)
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


def chances(figures: Figures) -> Figures:
    """The chance of each piece that it is the next to be needed; together they are 1."""
    if not len(figures):
        return np.zeros(0)
    sums = figures @ np.array([WEIGHTS[name] for name in FIELDS])
    found: Figures = np.exp(sums - sums.max())
    found /= found.sum()
    return found


def _others(evidence: Evidence, least_chance: float) -> tuple[list[Candidate], Counter[str]]:
    """Candidates for all symbols that are likely enough or called, and by reason the number of the others."""
    by_symbol: dict[str, list[_Piece]] = defaultdict(list)
    found = chances(evidence.figures)
    for region, chance, row in zip(evidence.regions, found.tolist(), evidence.figures, strict=True):
        reason, of = _reason(region, row, evidence.edges)
        by_symbol[region.symbol.id].append(_Piece(chance, region, reason, of))
    top = float(found.max(initial=0.0))
    candidates: list[Candidate] = []
    unlikely: Counter[str] = Counter()
    for pieces in by_symbol.values():
        best = max(pieces, key=lambda piece: piece.chance)
        if best.chance >= least_chance or best.reason in CALLS:
            candidates.append(_candidate(pieces, best, top))
        else:
            unlikely[best.reason] += 1
    return candidates, unlikely


def _candidate(pieces: list[_Piece], best: _Piece, top: float) -> Candidate:
    """One candidate for all pieces of a symbol: of a long one only those are shown that are nearly as likely."""
    symbol = best.region.symbol
    likely = [piece for piece in pieces if piece.chance >= LEAST_SHARE * best.chance]
    likely = sorted(likely, key=lambda piece: -piece.chance)[:MOST_PIECES]
    is_whole = len(pieces) == 1 and (best.region.first, best.region.last) == (symbol.start_line, symbol.end_line)
    parts = () if is_whole else merged([(piece.region.first, piece.region.last) for piece in likely])
    score = min(NEAR_TARGET_SCORE, BEST_SCORE * sum(piece.chance for piece in likely) / top)
    return Candidate(symbol, score, best.reason, best.of, whole_only=best.reason not in CALLS, parts=parts)


def _reason(region: Region, row: Figures, edges: Mapping[str, Mapping[str, tuple[float, str]]]) -> tuple[str, str]:
    """What says most for a piece: a call first, then what adds most to its score."""
    symbol_id = region.symbol.id
    if symbol_id in edges["caller"]:
        return (TEST if is_test(region.symbol.path) else CALLER), edges["caller"][symbol_id][1]
    if symbol_id in edges["callee"]:
        return CALLEE, edges["callee"][symbol_id][1]
    told = {name: WEIGHTS[name] * float(figure) for name, figure in zip(FIELDS, row, strict=True)}
    worth = {
        COCHANGE: told["cochanged_lines"] + told["cochanged_file"] + told["churn"],
        MENTION: told["gone_name"] + told["gone_words"] + told["brought_words"] + told["named"] + told["alike_line"],
        NEIGHBOUR: told["same_file"] + told["order"],
        WORDING: told["words"] + told["file_words"] + told["body_words"],
    }
    return max(worth, key=worth.__getitem__), ""
