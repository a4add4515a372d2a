"""In which order candidates rise from one level of detail to the next: by what a step is worth per
byte.

Sizes are taken from the offsets of a symbol, so that no file is read to rank it; the exact cost in
tokens is found when a step is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.context.lenses.candidate import Candidate
from tersely.context.pack.excerpt import VALUE_CHARACTERS
from tersely.context.pack.model import Detail

# What a level is worth of what the whole body would be: a signature tells how to use a thing, which
# is half of what one asks, and a name at least that it exists.
WORTH = {Detail.NAME: 0.2, Detail.SIGNATURE: 0.5, Detail.SKELETON: 0.75, Detail.BODY: 1.0}
# Bytes that an item takes beside its own text: its line range and reason.
ITEM_BYTES = 12
# A skeleton is about this part of a class.
SKELETON_PART = 0.2

_HOLDERS = frozenset({Kind.MODULE, Kind.NAMESPACE})
_WITH_BODY = CALLABLE_KINDS | CLASS_KINDS | _HOLDERS


SizeOf = Callable[[Symbol, Detail], float]


class DetailStep(NamedTuple):
    """A step of one candidate, by its position in the view, up to `detail`, for about `size_bytes`
    more of text.
    """

    candidate: int
    detail: Detail
    size_bytes: float


def levels(candidate: Candidate, holds_target: bool) -> list[Detail]:
    """The levels at which a symbol can be shown, each saying more than the one before.

    Around a target that is shown by itself, a class or module is never shown whole. What is cut
    down to parts shows these in the place of its members.
    """
    symbol = candidate.symbol
    if candidate.whole_only:
        return [Detail.BODY]
    if candidate.outline_only:
        return [Detail.NAME, Detail.SIGNATURE]
    if candidate.parts:
        return (
            [Detail.NAME, Detail.BODY]
            if symbol.kind in _HOLDERS
            else [Detail.NAME, Detail.SIGNATURE, Detail.BODY]
        )
    if symbol.kind in _HOLDERS:
        return [Detail.NAME, Detail.SKELETON, Detail.BODY] if candidate.is_target else [Detail.NAME]
    found = [Detail.NAME, Detail.SIGNATURE]
    if symbol.kind in CLASS_KINDS and symbol.signature_end_byte < symbol.end_byte:
        found.append(Detail.SKELETON)
    # a change is told line by line
    has_more = candidate.change is not None or _has_more_than_signature(symbol)
    if has_more and (candidate.is_target or not holds_target):
        found.append(Detail.BODY)
    return found


def size_bytes(symbol: Symbol, detail: Detail) -> float:
    """About what a symbol takes at a detail, by its offsets."""
    if detail is Detail.NAME:
        return len(symbol.qualname) + ITEM_BYTES
    header = symbol.signature_end_byte - symbol.start_byte
    if detail is Detail.SIGNATURE:
        return (header if symbol.kind in _WITH_BODY else min(header, VALUE_CHARACTERS)) + ITEM_BYTES
    whole = symbol.end_byte - symbol.start_byte
    if symbol.doc_start_byte >= symbol.start_byte:
        whole -= symbol.doc_end_byte - symbol.doc_start_byte
    return (
        whole + ITEM_BYTES if detail is Detail.BODY else header + SKELETON_PART * whole + ITEM_BYTES
    )


def target_steps(candidates: Sequence[Candidate], size_of: SizeOf = size_bytes) -> list[DetailStep]:
    """The steps of the targets, to be taken in this order as far as they fit: all signatures, then
    small bodies first.

    A larger budget takes a longer part of the list, so it never shows less of a target.
    """
    steps = [
        step
        for index, candidate in enumerate(candidates)
        if candidate.is_target
        for step in _steps_of(index, candidate, levels(candidate, holds_target=False), size_of)
    ]
    return sorted(steps, key=_target_order)


def _target_order(step: DetailStep) -> tuple[int, float, int]:
    size_matters = step.detail > Detail.SIGNATURE
    return step.detail, step.size_bytes if size_matters else 0, step.candidate


def steps_in_order(
    candidates: Sequence[Candidate], size_of: SizeOf = size_bytes
) -> list[DetailStep]:
    """The steps of all but the targets, those of each candidate before those of the next.

    A body is a step only where nothing less will do: what is begun in order is not to be cut.
    """
    steps: list[DetailStep] = []
    for index, candidate in enumerate(candidates):
        if candidate.is_target:
            continue
        details = levels(candidate, holds_target=False)
        if not candidate.whole_only:
            details = [detail for detail in details if detail is not Detail.BODY]
        steps += _steps_of(index, candidate, details, size_of)
    return steps


def other_steps(
    candidates: Sequence[Candidate], holding: frozenset[int], size_of: SizeOf = size_bytes
) -> list[DetailStep]:
    """The steps of all but the targets, the most worth per byte first; `holding` are indexes of
    what holds a target.
    """
    found: list[tuple[float, DetailStep]] = []
    for index, candidate in enumerate(candidates):
        if candidate.is_target:
            continue
        density, worth = float("inf"), 0.0
        for step in _steps_of(index, candidate, levels(candidate, index in holding), size_of):
            gain = candidate.score * (WORTH[step.detail] - worth)
            worth = WORTH[step.detail]
            # no level may come before the one below it
            density = min(density, gain / step.size_bytes)
            found.append((density, step))
    found.sort(key=lambda pair: (-pair[0], pair[1].candidate, pair[1].detail))
    return [step for _, step in found]


def _steps_of(
    index: int, candidate: Candidate, details: list[Detail], size_of: SizeOf
) -> list[DetailStep]:
    steps: list[DetailStep] = []
    size = 0.0
    for detail in details:
        grown = max(size + 1, _size(candidate, detail, size_of))
        steps.append(DetailStep(index, detail, grown - size))
        size = grown
    return steps


def _size(candidate: Candidate, detail: Detail, size_of: SizeOf) -> float:
    """The tokens that a candidate takes; of one that is cut down to parts, in proportion to their
    lines.
    """
    symbol = candidate.symbol
    size = size_of(symbol, detail)
    if detail is not Detail.BODY or not candidate.parts:
        return size
    lines = sum(last - first + 1 for first, last in candidate.parts)
    return size * min(1.0, lines / (symbol.end_line - symbol.start_line + 1)) + size_of(
        symbol, Detail.SIGNATURE
    )


def _has_more_than_signature(symbol: Symbol) -> bool:
    if symbol.kind in _WITH_BODY:
        return symbol.signature_end_byte < symbol.end_byte
    return (
        symbol.end_line > symbol.start_line
        or symbol.end_byte - symbol.start_byte > VALUE_CHARACTERS
    )
