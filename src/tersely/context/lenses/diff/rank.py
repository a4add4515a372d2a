"""The diff lens: the symbols that changed, and what the rest of the change is likely to need.

The evidence for each piece of code (`evidence.py`), a few lines of a symbol, becomes the chance
that whoever makes this change has to write there as well (`relevance.py`). Within the budget those
pieces are chosen that cover the most (`selection.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from tersely.code.languages.registry import language_of_path, line_comment_of
from tersely.code.places import is_test
from tersely.context.lenses.candidate import (
    CALLEE,
    CALLER,
    TEST,
    Candidate,
    View,
    merged,
    ranked,
)
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange
from tersely.context.lenses.diff.evidence import ChangeSources, Evidence, Figures, gather
from tersely.context.lenses.diff.relevance import chances, reasons
from tersely.context.lenses.diff.selection import chosen
from tersely.context.lenses.diff.stale import STALE_TOKENS, stale_candidates, stale_uses
from tersely.context.lenses.diff.targets import Targets, is_renaming, is_silent, targets_of
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS

# The chance that a piece of code is needed, times the budget in tokens, below which it is left out:
# what little a pack has to say is not filled up with guesses.
LEAST_CHANCE_TOKENS = 5
HEADING_TOKENS = 40  # of a pack
LIKELY_CHANCE = 0.08  # below which a piece is left out of a budget that need not be filled
SURE_CHANCE = 0.3  # below which a piece is left out if only comments changed
# of the room that is chosen for: guesses are rather too high, and what does not fit is left out
SPARE = 1.25
STALE_SHARE = (
    0.1  # of the budget, for what still uses what is gone; one symbol has room in any case
)
BEST_SCORE = 0.9  # of the likeliest symbol; others in proportion
LEAST_SCORE = 1e-6

CALLS = frozenset({CALLER, CALLEE, TEST})  # the names of these say something by themselves


def view_of(
    changes: Sequence[FileChange],
    changed: Sequence[ChangedSymbol],
    sources: ChangeSources,
    budget: int,
    *,
    fills: bool = True,
) -> View:
    """Candidates for a pack of a budget. Of very many changed symbols it may show less than their
    names.

    The budget is filled up with what may be needed; unless it `fills`, only with what is likely to
    be.
    """
    targets = targets_of(changes, changed, sources.text_of, budget)
    least = (
        LEAST_CHANCE_TOKENS / budget if fills else max(LEAST_CHANCE_TOKENS / budget, LIKELY_CHANCE)
    )
    if not fills and is_renaming(changed, changes):
        least = max(least, SURE_CHANCE)
    if is_silent(changes, lambda path: line_comment_of(language_of_path(path) or "")):
        least = SURE_CHANCE
    uses = stale_uses(changes, changed, sources)
    most = max(1, int(budget * STALE_SHARE / STALE_TOKENS))
    room = budget - STALE_TOKENS * min(most, len(uses))
    others, unlikely = list[Candidate](), Counter[str]()
    if not targets.beyond:  # what has not changed takes no room of what has
        evidence = gather(changes, changed, sources)
        others, unlikely = _others(evidence, targets, room, least)
    known = [*targets.candidates, *targets.beyond, *others]
    found = stale_candidates(uses, known)
    stale = found[:most]
    first = {one.symbol.id for one in stale}
    rest = [one for one in known if one.is_gone or one.symbol.id not in first]
    candidates = (*stale, *ranked(rest))
    beyond = (*found[most:], *candidates[MAX_CANDIDATES_SYMBOLS:])
    left = unlikely + Counter(one.reason for one in beyond)
    apart = frozenset(one.symbol.path for one in (*stale, *targets.candidates, *targets.beyond))
    return View(candidates[:MAX_CANDIDATES_SYMBOLS], dict(sorted(left.items())), apart=apart)


def _others(
    evidence: Evidence, targets: Targets, budget: int, least: float
) -> tuple[list[Candidate], Counter[str]]:
    """Candidates for all symbols that have a chosen piece or are called, and by reason how many
    others are likely.
    """
    if not evidence.regions:
        return [], Counter()
    found = chances(evidence)
    # the last stays
    best = {evidence.regions[at].symbol.id: at for at in np.argsort(found, kind="stable").tolist()}
    pieces = _pieces(evidence, found, targets, budget, least)
    calls = (
        evidence.edges["caller"].keys() | evidence.edges["callee"].keys()
        if least < SURE_CHANCE
        else set[str]()
    )
    shown = [symbol_id for symbol_id in best if symbol_id in pieces or symbol_id in calls]
    likely = [at for symbol_id, at in best.items() if found[at] >= least or symbol_id in calls]
    told = _reasons(likely, evidence)
    sums = {
        symbol_id: float(sum(found[pieces.get(symbol_id, [best[symbol_id]])]))
        for symbol_id in shown
    }
    # where nothing tells of any, all are as little likely
    top = max(sums.values(), default=0.0) or 1.0
    candidates = []
    for symbol_id in shown:
        symbol = evidence.regions[best[symbol_id]].symbol
        chosen_regions = [evidence.regions[at] for at in pieces.get(symbol_id, ())]
        parts = merged([(one.first, one.last) for one in chosen_regions])
        score = max(LEAST_SCORE, BEST_SCORE * sums[symbol_id] / top)
        is_called = symbol_id in calls  # and worth its name if its body has no room
        if not is_called and parts == ((symbol.start_line, symbol.end_line),):
            parts = ()  # all of it
        candidates.append(
            Candidate(symbol, score, *told[symbol_id], whole_only=not is_called, parts=parts)
        )
    return candidates, Counter(told[symbol_id][0] for symbol_id in told.keys() - sums.keys())


def _pieces(
    evidence: Evidence, found: Figures, targets: Targets, budget: int, least: float
) -> Mapping[str, Sequence[int]]:
    """By symbol the positions of its pieces that are chosen for what the targets leave of the
    budget.
    """
    room = SPARE * (budget - HEADING_TOKENS - targets.tokens)
    known = {one.symbol.path for one in targets.candidates}
    pieces: dict[str, list[int]] = defaultdict(list)
    for at in chosen(evidence.regions, found, evidence.lines, room, least, known):
        pieces[evidence.regions[at].symbol.id].append(at)
    return dict(pieces)


def _reasons(rows: Sequence[int], evidence: Evidence) -> dict[str, tuple[str, str]]:
    """The best reason for each symbol of some pieces: a call first, then what has most of its sort."""
    found: dict[str, tuple[str, str]] = {}
    for reason, at in zip(reasons(evidence.figures, rows), rows, strict=True):
        symbol = evidence.regions[at].symbol
        if symbol.id in evidence.edges["caller"]:
            found[symbol.id] = (
                (TEST if is_test(symbol.path) else CALLER),
                evidence.edges["caller"][symbol.id][1],
            )
        elif symbol.id in evidence.edges["callee"]:
            found[symbol.id] = CALLEE, evidence.edges["callee"][symbol.id][1]
        else:
            found[symbol.id] = reason, ""
    return found
