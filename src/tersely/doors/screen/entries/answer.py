"""An answer of the model while it is written: what is final is laid out once, only its end again
and again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from tersely.doors.screen.markdown.pieces import Growing, MarkdownPiece
from tersely.doors.screen.markdown.rows import Row, laid_out
from tersely.foundation.clock import Stopwatch
from tersely.foundation.text.escape import visible

MAX_BUSY_SECONDS = 0.01  # of laying out before keys and other widgets have their turn


class AnswerEntry(Widget):
    """Markdown that grows. `width` in cells is what its rows are laid out for; the log says when it
    changes.
    """

    DEFAULT_CSS = """
    AnswerEntry { width: 1fr; height: auto; }
    """

    def __init__(self, width: int) -> None:
        super().__init__(classes="entry")
        self._width = width
        self._growing = Growing()
        self._pieces: list[MarkdownPiece] = []
        self._final: list[Row] = []
        self._tail: list[Row] = []
        self._pending: list[str] = []
        self._waiting: deque[MarkdownPiece] = deque()  # final, and not yet laid out
        self._is_ended = False
        self._strips: dict[int, Strip] = {}
        self._written: list[str] = []

    @property
    def text(self) -> str:
        """The Markdown so far."""
        return "".join(self._written)

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that are shown, one content each."""
        return [*self._final, *self._tail]

    @property
    def is_done(self) -> bool:
        """True if all of it is shown and nothing more will come."""
        return self._is_ended and not self._pending and not self._waiting

    def add(self, text: str) -> None:
        """More of the answer; it is shown by the next `flush`."""
        self._pending.append(text)

    def end(self) -> None:
        """That was all."""
        self._is_ended = True

    def flush(self) -> None:
        """Show what has come since the last time, as much of it as there is time for."""
        if self.is_done or not (self._pending or self._waiting or self._is_ended):
            return
        before, first_changed = len(self._final) + len(self._tail), len(self._final)
        self._waiting.extend(self._arrived())
        watch = Stopwatch()
        while self._waiting and watch.seconds() < MAX_BUSY_SECONDS:
            self._pieces.append(self._waiting.popleft())
            self._append(self._final, self._pieces[-1])
        self._tail = [] if self._waiting else self._laid_out(self._growing.rest, after=self._final)
        self._forget_strips(first_changed)
        self.refresh(layout=len(self._final) + len(self._tail) != before)

    def _arrived(self) -> list[MarkdownPiece]:
        """The pieces that became final by what has come."""
        text = visible("".join(self._pending).replace("\r", ""))
        self._pending.clear()
        self._written.append(text)
        return [*self._growing.add(text), *(self._growing.end() if self._is_ended else [])]

    async def lay_out_again(self, width: int) -> None:
        """Lay everything out for another width, letting others have their turns meanwhile."""
        if width == self._width:
            return
        rows: list[Row] = []
        watch, done = Stopwatch(), 0
        self._width = width
        while done < len(self._pieces):  # pieces may be added while others have their turn
            self._append(rows, self._pieces[done])
            done += 1
            if watch.seconds() > MAX_BUSY_SECONDS:
                await asyncio.sleep(0)
                watch = Stopwatch()
        self._final = rows
        self._tail = self._laid_out(self._growing.rest, after=rows)
        self._forget_strips(0)
        self.refresh(layout=True)

    def _append(self, rows: list[Row], piece: MarkdownPiece) -> None:
        rows += self._laid_out(piece, after=rows)

    def _laid_out(self, piece: MarkdownPiece, after: list[Row]) -> list[Row]:
        if not piece.text.strip():
            return []
        rows = laid_out(piece.text, self._width, is_light=not self.app.current_theme.dark)
        return [Content(""), *rows] if piece.has_gap and after and rows else rows

    def _forget_strips(self, first: int) -> None:
        for at in [at for at in self._strips if at >= first]:
            del self._strips[at]

    def _row(self, y: int) -> Row | None:
        at = y - len(self._final)
        if at < 0:
            return self._final[y]
        return self._tail[at] if at < len(self._tail) else None

    # What Textual asks.

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of rows, at least the one in which the answer begins."""
        return max(1, len(self._final) + len(self._tail))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """All that there is."""
        return container.width

    def notify_style_update(self) -> None:
        """Colours may be others now."""
        super().notify_style_update()
        self._strips.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        """Another part is selected."""
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it is shown."""
        return selection.extract("\n".join(row.plain.rstrip() for row in self.rows)), "\n"

    def render_line(self, y: int) -> Strip:
        """One row as Textual paints it."""
        if (strip := self._strips.get(y)) is None:
            strip = self._strips[y] = self._painted(y)
        return strip

    def _painted(self, y: int) -> Strip:
        width = self.size.width
        row = self._row(y)
        if row is None:
            return Strip.blank(width, self.visual_style.rich_style)
        if (selection := self.text_selection) is not None and (
            span := selection.get_span(y)
        ) is not None:
            start, end = span
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            row = row.stylize(chosen, start, len(row.plain) if end == -1 else end)
        strips = Visual.to_strips(
            self, row, width, 1, self.visual_style, apply_selection=False, pad=True
        )
        return (
            strips[0].apply_offsets(0, y)
            if strips
            else Strip.blank(width, self.visual_style.rich_style)
        )
