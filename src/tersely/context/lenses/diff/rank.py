"""The diff lens: the symbols that changed, and what the rest of the change is likely to need.

The evidence for each piece of code (`evidence.py`), a few lines of a symbol, becomes the chance
that whoever makes this change has to write there as well (`chances.py`). Within the budget those
pieces are chosen that cover the most (`choice.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from tersely.code.languages.registry import language_of_path, line_comment_of
from tersely.code.places import is_test
from tersely.context.lenses.candidate import (
    CALLEE,
    CALLER,
    COCHANGE,
    MENTION,
    NEIGHBOUR,
    TEST,
    WORDING,
    Candidate,
    View,
    merged,
    ranked,
)
from tersely.context.lenses.diff.change import ChangeSources
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange
from tersely.context.lenses.diff.evidence import FIELDS, Evidence, gather
from tersely.context.lenses.diff.relevance import chances
from tersely.context.lenses.diff.selection import chosen
from tersely.context.lenses.diff.stale import STALE_TOKENS, stale_candidates, stale_uses
from tersely.context.lenses.diff.targets import Targets, is_renaming, is_silent, targets_of
from tersely.context.lenses.diff.trees import shipped
from tersely.foundation.arrays import Figures, np
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS

# The chance that a piece of code is needed, times the budget in tokens, below which it is left out:
# what little a pack has to say is not filled up with guesses.
LEAST_CHANCE_TOKENS = 5
HEADING_TOKENS = 40  # of a pack
LIKELY_CHANCE = 0.05  # below which a piece is left out of a budget that need not be filled
SURE_CHANCE = 0.3  # below which a piece is left out if only comments changed
# of the room that is chosen for: guesses are rather too high, and what does not fit is left out
SPARE = 1.25
STALE_SHARE = (
    0.1  # of the budget, for what still uses what is gone; one symbol has room in any case
)
BEST_SCORE = 0.9  # of the likeliest symbol; others in proportion
LEAST_SCORE = 1e-6

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
        "same_file", "order", "near", "around_share", *_LINES[NEIGHBOUR],
        *(f"symbol_{name}" for name in _LINES[NEIGHBOUR]),
    ),
    WORDING: (
        "path_words", "words", "words_rank", "body_words", "body_rank", "name_words", "file_words",
        "file_rank",
    ),
}  # fmt: skip
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
    least = max(LEAST_CHANCE_TOKENS / budget, 0.0 if fills else LIKELY_CHANCE)
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
    reasons = _reasons(likely, evidence)
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
            Candidate(symbol, score, *reasons[symbol_id], whole_only=not is_called, parts=parts)
        )
    return candidates, Counter(reasons[symbol_id][0] for symbol_id in reasons.keys() - sums.keys())


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
    """The best reason for each symbol of some pieces: a call first, then the evidence that adds
    most to the odds.

    That something is missing may add to the odds as well, but is no reason to give.
    """
    trees = shipped()
    figures = evidence.figures[rows][:, trees.columns(FIELDS)]
    told = trees.told(figures)
    columns = {
        reason: [trees.fields.index(name) for name in names] for reason, names in EVIDENCE.items()
    }
    found: dict[str, tuple[str, str]] = {}
    for row, known, at in zip(told, figures, rows, strict=True):
        symbol = evidence.regions[at].symbol
        if symbol.id in evidence.edges["caller"]:
            found[symbol.id] = (
                (TEST if is_test(symbol.path) else CALLER),
                evidence.edges["caller"][symbol.id][1],
            )
        elif symbol.id in evidence.edges["callee"]:
            found[symbol.id] = CALLEE, evidence.edges["callee"][symbol.id][1]
        else:
            there = {reason: of for reason, of in columns.items() if known[of].any()} or columns
            found[symbol.id] = max(there, key=lambda reason: float(row[columns[reason]].sum())), ""
    return found
