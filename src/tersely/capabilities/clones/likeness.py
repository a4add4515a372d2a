"""How a function that resembles another is answered and printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.text import Style, aligned, clipped
from tersely.capabilities.values import lines_text
from tersely.foundation.limits import MAX_DIFFERENCE_CHARACTERS, MAX_LISTED_DIFFERENCES

if TYPE_CHECKING:
    from tersely.code.search.duplicates.clusters import Alike
    from tersely.code.search.duplicates.comparing import Comparing


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text of the first function and what the other has in its place, each on one line; "" for nothing."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """A function that resembles another. `similarity` is from 0 to 1."""

    id: str
    path: str
    line: int
    end_line: int
    similarity: float
    differences: tuple[Replacement, ...]
    more_differences: int


def likeness(to: int, alike: Alike, comparing: Comparing) -> Likeness:
    """What there is to say of a function that resembles another."""
    symbol = comparing.symbol(alike.function)
    found = comparing.differences(to, alike.function)
    shown = tuple(Replacement(_clip(one), _clip(other)) for one, other in found[:MAX_LISTED_DIFFERENCES])
    similarity = round(alike.similarity, 4)
    return Likeness(
        symbol.id, symbol.path, symbol.start_line, symbol.end_line, similarity, shown, len(found) - len(shown)
    )


def _clip(text: str) -> str:
    """One side of a difference, short enough for a line."""
    return clipped(text, MAX_DIFFERENCE_CHARACTERS)


def rows(likenesses: Sequence[Likeness], style: Style) -> list[str]:
    """A line for each: how similar, where, what differs."""
    cells = [
        (f"{one.similarity:.0%}", f"{one.id}", f"@{lines_text(one.line, one.end_line)}", differences_text(one))
        for one in likenesses
    ]
    return aligned(cells, [style.good, style.symbol, style.faint, None], right=(0,)) if cells else []


def differences_text(one: Likeness) -> str:
    """`get → post; + retries=3; 2 more`, "" when only spaces and comments differ."""
    from tersely.code.search.duplicates.differences import Difference, line_of

    shown = [Difference(replacement.one, replacement.other) for replacement in one.differences]
    return line_of(shown, more=one.more_differences)
