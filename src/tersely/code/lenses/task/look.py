"""The task lens: the chance of each symbol to be needed for a task, and which way of asking speaks for it.

The evidence (`evidence.py`) is weighed by a logistic model, so a score is a probability: what a pack gains by showing
the symbol is its score times what the level of detail is worth, and gains of different operators can be compared. The
weights were fitted to the symbols that commits touched, asked for by their subjects, and to those that fixes of
reported defects touched; repositories that benchmarks report are none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tersely.code.lenses.candidate import NEAR_TARGET_SCORE, Candidate, View
from tersely.code.lenses.task.evidence import ABSENT, FIELDS, Evidence, Figures
from tersely.code.symbols import Symbol
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS

WEIGHTS = {
    "hit": 0.11,
    "title_hit": 0.80,
    "share": 1.16,
    "named": 1.20,
    "placed": 0.58,
    "file_named": 0.45,
    "quoted": 2.09,
    "same_file": 0.06,
    "near": 0.20,
    "size": 0.43,
    "test": -2.91,
    "type": -0.47,
    "value": -2.37,
}
BIAS = -2.30
# A change that is under way is likely to be the beginning of the task if the task speaks of what has changed.
RELATED_DIFF = 0.9
UNRELATED_DIFF = 0.3
RELATED_RANK = 25  # of search, up to which a changed symbol is what the task speaks of
BESIDE_DIFF = 0.35  # the chance of the best candidate beside the changed symbols, and others in proportion

NAMED, PLACED, QUOTED, FOUND, NEIGHBOUR = "named symbol", "place", "quotation", "hit", "neighbour"


class Operator(StrEnum):
    """A way of finding what a task needs."""

    NAMES = "names"  # symbols that the task names
    PLACES = "places"  # symbols at lines that it names
    SLICE = "slice"  # of long functions at such lines only what the line depends on
    TEXT = "text"  # symbols that hold what it quotes
    DIFF = "diff"  # what has changed, and what belongs to that
    SEARCH = "search"  # symbols whose words or meaning are those of the task
    CONTEXT = "context"  # callers, callees, types around the best of all these
    FILES = "files"  # other symbols of the files in which most of them are
    MAP = "map"  # the repository in outline


# Which figures speak for which operator; what a symbol is as such speaks for none.
_SPEAKING = {
    Operator.NAMES: ("named",),
    Operator.PLACES: ("placed",),
    Operator.TEXT: ("quoted",),
    Operator.SEARCH: ("hit", "title_hit", "share"),
    Operator.CONTEXT: ("near",),
    Operator.FILES: ("same_file", "file_named"),
}
_REASONS = {Operator.NAMES: NAMED, Operator.PLACES: PLACED, Operator.TEXT: QUOTED, Operator.SEARCH: FOUND,
            Operator.FILES: NEIGHBOUR}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Proposals:
    """Candidates for a pack, best first, and by the id of each symbol which operator found it."""

    view: View
    operators: Mapping[str, Operator]


def chances(figures: Figures) -> Figures:
    """The chance of each row of evidence, from 0 to 1."""
    if not len(figures):
        return np.zeros(0)
    sums = figures @ np.array([WEIGHTS[name] for name in FIELDS]) + BIAS
    found: Figures = 1 / (1 + np.exp(-sums))
    return found


def look(
    evidence: Evidence, slices: Mapping[str, Sequence[tuple[int, int]]] | None = None, diff: View | None = None
) -> Proposals:
    """Weigh the evidence. `slices` has by id the lines that a function is cut down to, `diff` what has changed."""
    figures = evidence.figures()
    found: dict[str, Candidate] = {}
    operators: dict[str, Operator] = {}
    for symbol, chance, row in zip(evidence.symbols.values(), chances(figures).tolist(), figures, strict=True):
        operator = _operator(row)
        parts = tuple((slices or {}).get(symbol.id, ()))
        operators[symbol.id] = Operator.SLICE if parts else operator
        found[symbol.id] = _candidate(symbol, chance, operator, parts, evidence)
    if diff is not None:
        _take_diff(diff, evidence, found, operators)
    order = sorted(found.values(), key=lambda one: (-one.score, one.symbol.id))[:MAX_CANDIDATES_SYMBOLS]
    view = View(tuple(order)) if diff is None else replace(diff, candidates=tuple(order), beyond={})
    apart = view.apart | {one.symbol.path for one in order if one.parts}
    return Proposals(replace(view, apart=apart), operators)


def _operator(row: Figures) -> Operator:
    """The operator whose figures add the most to what a symbol would have without them."""
    told = dict(zip(FIELDS, row.tolist(), strict=True))
    worth = {
        operator: sum(WEIGHTS[name] * (told[name] - ABSENT.get(name, 0.0)) for name in names)
        for operator, names in _SPEAKING.items()
    }
    return max(worth, key=lambda operator: worth[operator])


def _candidate(
    symbol: Symbol, chance: float, operator: Operator, parts: tuple[tuple[int, int], ...], evidence: Evidence
) -> Candidate:
    score = min(chance, NEAR_TARGET_SCORE)
    if operator is Operator.CONTEXT and symbol.id in evidence.relations:
        near = evidence.relations[symbol.id]
        return Candidate(symbol, score, near.reason, near.of, parts=parts)
    return Candidate(symbol, score, _REASONS.get(operator, NEIGHBOUR), parts=parts)


def _take_diff(diff: View, evidence: Evidence, found: dict[str, Candidate], operators: dict[str, Operator]) -> None:
    """Join in what a change speaks for: two reasons that are independent leave less doubt than each alone."""
    is_related = any(one.change is not None and _is_spoken_of(one.symbol.id, evidence) for one in diff.candidates)
    weight = RELATED_DIFF if is_related else UNRELATED_DIFF
    for one in diff.candidates:
        known = found.get(one.symbol.id)
        chance = weight if one.change is not None or one.is_gone else weight * BESIDE_DIFF * one.score
        before = known.score if known is not None else 0.0
        score = min(1 - (1 - chance) * (1 - before), NEAR_TARGET_SCORE)
        if one.is_target and is_related:
            score = one.score
        if known is None or chance > before or one.change is not None or one.is_gone:
            found[one.symbol.id], operators[one.symbol.id] = replace(one, score=score), Operator.DIFF
        else:
            found[one.symbol.id] = replace(known, score=score)


def _is_spoken_of(symbol_id: str, evidence: Evidence) -> bool:
    best = min(evidence.hits.get(symbol_id, RELATED_RANK), evidence.title_hits.get(symbol_id, RELATED_RANK))
    return best < RELATED_RANK or symbol_id in evidence.named or symbol_id in evidence.placed
