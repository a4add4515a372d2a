"""Rows that go on below themselves: what does not fit into a row is indented in the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

_ANY_CELLS = 1_000  # before the width is known
_LEAST_CELLS = 16  # for text beside what it belongs to
_BLANK_LETTER = "\u2800"  # of Braille, without a dot


def hanging(row: Content, width: int, indent: int) -> list[Content]:
    """A row in as many as it takes in `width` cells, all but the first of them `indent` cells
    further right.
    """
    if row.cell_length <= width:
        return [row]
    first = row.wrap(width)[0]
    after = row[len(first.plain) :]
    blanks = len(after.plain) - len(after.plain.lstrip(" "))
    rest = after[blanks:].wrap(max(width - indent, _LEAST_CELLS))
    # Rows of blanks alone would push what comes after them out of sight.
    return [
        first,
        *(part.pad_left(indent) for part in rest if part.plain.replace(_BLANK_LETTER, " ").strip()),
    ]


class LaidOut(Static):
    """Rows that are laid out for the width that there is, in cells."""

    def __init__(self, lay_out: Callable[[int], Iterable[Content]], classes: str = "") -> None:
        super().__init__(Content("\n").join(lay_out(_ANY_CELLS)), markup=False, classes=classes)
        self._lay_out = lay_out
        self._laid_out_for = 0

    def on_resize(self, event: Resize) -> None:
        """Another width, other rows."""
        width = self.content_size.width
        if width and width != self._laid_out_for:
            self._laid_out_for = width
            self.update(Content("\n").join(self._lay_out(width)))


def columns(rows: Sequence[tuple[str, str]], width: int) -> list[Content]:
    """A name and what it means, row by row, the meanings below each other; a row without a name is
    a heading.
    """
    left = max((len(name) for name, _ in rows), default=0) + 2
    shown: list[Content] = []
    for name, meaning in rows:
        if name:
            row = Content.assemble((name.ljust(left), "bold"), meaning)
            shown += hanging(row, width, min(left, width // 2))
        else:
            shown.append(Content.styled(meaning, "dim"))
    return shown
