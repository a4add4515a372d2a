"""The tools that the text renderers share: colours by meaning, aligned columns, clipped lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from tersely.foundation.text.shortening import one_line

MAX_COLUMN_CHARACTERS = 120  # of a cell that its column is as wide as
MAX_SIGNATURE_CHARACTERS = 160


class Style(NamedTuple):
    """Colours by what they mean; without `colored` every text stays as it is."""

    colored: bool = False

    def heading(self, text: str) -> str:
        """A text to which the lines below belong."""
        return self._painted("1", text)

    def symbol(self, text: str) -> str:
        """A name or id of a symbol."""
        return self._painted("36", text)

    def faint(self, text: str) -> str:
        """A text that may be passed over: kinds, lines, notes."""
        return self._painted("2", text)

    def good(self, text: str) -> str:
        """A text that is certain or fine."""
        return self._painted("32", text)

    def doubtful(self, text: str) -> str:
        """A text that should be taken with care."""
        return self._painted("33", text)

    def bad(self, text: str) -> str:
        """A text about what is wrong."""
        return self._painted("31", text)

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colored and text else text


PLAIN = Style()

Paint = Callable[[str], str]


def aligned(
    rows: Sequence[Sequence[str]], paints: Sequence[Paint | None] = (), right: Sequence[int] = ()
) -> list[str]:
    """Rows as lines with their columns aligned, two spaces apart; `right` names the columns of
    numbers.

    A cell of more than `MAX_COLUMN_CHARACTERS` sticks out, lest one long name fill every other line
    with blanks.
    """
    widths = [max(map(_width, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = []
    for row in rows:
        cells = []
        for index, cell in enumerate(row):
            padding = (
                " " * (widths[index] - len(cell)) if index + 1 < len(row) or index in right else ""
            )
            paint = paints[index] if index < len(paints) else None
            painted = paint(cell) if paint else cell
            cells.append(padding + painted if index in right else painted + padding)
        lines.append("  ".join(cells).rstrip())
    return lines


def indented(
    rows: Sequence[Sequence[str]], paints: Sequence[Paint | None] = (), right: Sequence[int] = ()
) -> list[str]:
    """The same below a heading."""
    return [f"  {line}" for line in aligned(rows, paints, right)]


def _width(cell: str) -> int:
    return len(cell) if len(cell) <= MAX_COLUMN_CHARACTERS else 0


def clipped(text: str, characters: int = MAX_SIGNATURE_CHARACTERS) -> str:
    """The text on one line, cut at the end when it is longer than `characters`."""
    return one_line(text, characters)


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2,818 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
