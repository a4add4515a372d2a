"""A view in which of candidates that are nearly the same one stands for all."""

from __future__ import annotations

from dataclasses import replace

from tersely.code.lenses.candidate import Candidate, Twin, View
from tersely.code.search.duplicates.clusters import Alike, stars
from tersely.code.search.duplicates.collection import Functions
from tersely.code.search.duplicates.comparing import Comparing
from tersely.code.search.duplicates.differences import line_of

TWIN_SIMILARITY = 0.7  # of functions of which one tells all, together with what differs
LEAST_TOKENS = 12  # a shorter function costs no more than the line that would stand for it


def without_twins(view: View, functions: Functions, comparing: Comparing) -> View:
    """The view with the best candidate of each cluster, which knows the others as its twins. All targets stay."""
    index_of: dict[int, Candidate] = {}
    for candidate in view.candidates:
        index = comparing.index_of(candidate.symbol)
        if index is not None and int(functions.table.tokens[index]) >= LEAST_TOKENS:
            index_of.setdefault(index, candidate)
    targets = {index for index, candidate in index_of.items() if candidate.is_target}
    twins: dict[str, tuple[Twin, ...]] = {}
    left_out: set[str] = set()
    for exemplar, members in stars(functions, list(index_of), TWIN_SIMILARITY, targets):
        apart = [one for one in members if not _is_nested(exemplar, one.function, functions, comparing)]
        twins[index_of[exemplar].symbol.id] = tuple(_twin(exemplar, one, index_of, comparing) for one in apart)
        left_out.update(index_of[one.function].symbol.id for one in apart)
    kept = (candidate for candidate in view.candidates if candidate.symbol.id not in left_out)
    return replace(view, candidates=tuple(replace(one, twins=twins.get(one.symbol.id, ())) for one in kept))


def _is_nested(one: int, other: int, functions: Functions, comparing: Comparing) -> bool:
    return bool(functions.file_of[one] == functions.file_of[other]) and comparing.is_within(one, other)


def _twin(exemplar: int, alike: Alike, candidates: dict[int, Candidate], comparing: Comparing) -> Twin:
    candidate = candidates[alike.function]
    symbol = candidate.symbol
    differing = line_of(comparing.differences(exemplar, alike.function))
    return Twin(symbol.id, candidate.reason, symbol.start_line, symbol.end_line, alike.similarity, differing)
