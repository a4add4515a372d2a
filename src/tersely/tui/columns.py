"""Rows that go on below themselves: what does not fit into a row is indented in the next."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

_LEAST_CELLS = 16  # for text beside what it belongs to
_BLANK_LETTER = "\u2800"  # of Braille, without a dot


def hanging(row: Content, width: int, indent: int) -> list[Content]:
    """A row in as many as it takes in `width` cells, all but the first of them `indent` cells further right."""
    if row.cell_length <= width:
        return [row]
    first = row.wrap(width)[0]
    after = row[len(first.plain) :]
    blanks = len(after.plain) - len(after.plain.lstrip(" "))
    rest = after[blanks:].wrap(max(width - indent, _LEAST_CELLS))
    # Rows of blanks alone would push what comes after them out of sight.
    return [first, *(part.pad_left(indent) for part in rest if part.plain.replace(_BLANK_LETTER, " ").strip())]


class Columns(Static):
    """A name and what it means, row by row, the meanings below each other; a row without a name is a heading."""

    def __init__(self, rows: Sequence[tuple[str, str]], classes: str = "") -> None:
        super().__init__(markup=False, classes=classes)
        self._rows = rows
        self._laid_out_for = 0

    def on_resize(self, event: Resize) -> None:
        """Lay out for the width that there is."""
        width = self.content_size.width
        if width and width != self._laid_out_for:
            self._laid_out_for = width
            self.update(Content("\n").join(columns(self._rows, width)))


def columns(rows: Sequence[tuple[str, str]], width: int) -> list[Content]:
    """Names and meanings for a width in cells."""
    left = max((len(name) for name, _ in rows), default=0) + 2
    shown: list[Content] = []
    for name, meaning in rows:
        if name:
            row = Content.assemble((name.ljust(left), "bold"), meaning)
            shown += hanging(row, width, min(left, width // 2))
        else:
            shown.append(Content.styled(meaning, "dim"))
    return shown
