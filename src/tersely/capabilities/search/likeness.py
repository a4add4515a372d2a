"""Functions that resemble others, as values and in print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned, clipped
from tersely.capabilities.declaration.declaration import frozen
from tersely.capabilities.declaration.values import lines_text
from tersely.foundation.limits import MAX_DIFFERENCE_CHARACTERS, MAX_LISTED_DIFFERENCES

if TYPE_CHECKING:
    from tersely.code.search.duplicates.clusters import Alike
    from tersely.code.search.duplicates.comparing import Comparing
    from tersely.code.search.duplicates.differences import Difference


@frozen
class Likeness:
    """A function that resembles another. `similarity` is from 0 to 1."""

    id: str
    path: str
    line: int
    end_line: int
    similarity: float
    differences: tuple[Difference, ...]
    more_differences: int


def likeness(to: int, alike: Alike, comparing: Comparing) -> Likeness:
    """The likeness of a function to another that it resembles."""
    from tersely.code.search.duplicates.differences import Difference

    symbol = comparing.symbol(alike.function)
    found = comparing.differences(to, alike.function)
    shown = tuple(
        Difference(_clip(one), _clip(other)) for one, other in found[:MAX_LISTED_DIFFERENCES]
    )
    similarity = round(alike.similarity, 4)
    return Likeness(
        symbol.id,
        symbol.path,
        symbol.start_line,
        symbol.end_line,
        similarity,
        shown,
        len(found) - len(shown),
    )


def _clip(text: str) -> str:
    """One side of a difference, short enough for a line."""
    return clipped(text, MAX_DIFFERENCE_CHARACTERS)


def rows(likenesses: Sequence[Likeness], style: Style) -> list[str]:
    """A line for each: how similar, where, what differs."""
    cells = [
        (
            f"{one.similarity:.0%}",
            f"{one.id}",
            f"@{lines_text(one.line, one.end_line)}",
            differences_text(one),
        )
        for one in likenesses
    ]
    return (
        aligned(cells, [style.good, style.symbol, style.faint, None], right=(0,)) if cells else []
    )


def differences_text(one: Likeness) -> str:
    """`get → post; + retries=3; 2 more`, "" when only spaces and comments differ."""
    from tersely.code.search.duplicates.differences import line_of

    return line_of(one.differences, more=one.more_differences)
