"""The reasoning of a model before it answers: one row that opens to the end of it."""

from __future__ import annotations

from textual.content import Content

from tersely.doors.screen.entries.columns import hanging
from tersely.doors.screen.entries.folding import Folding
from tersely.foundation.text.escape import visible

MAX_THOUGHT_CHARACTERS = 8_000  # of the thoughts before one answer, their end; a session keeps none
_INDENT = 4


class Thought(Folding):
    """Thoughts that grow; `add` takes more of them, which `flush` shows."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._text = ""
        self._characters = 0  # of all that was thought
        self._is_new = False
        self._show()

    def add(self, text: str) -> None:
        """Take more."""
        self._characters += len(text)
        self._text = (self._text + text)[-MAX_THOUGHT_CHARACTERS:]
        self._is_new = True

    def flush(self) -> None:
        """Show what was taken."""
        if self._is_new:
            self._is_new = False
            self._show()

    def _show(self) -> None:
        arrow = "▾" if self.is_open else "▸"
        rows = [Content.styled(f"{arrow} thoughts, {self._characters:,} characters", "dim")]
        if self.is_open:
            left_out = self._characters - len(self._text)
            gap = f"… {left_out:,} characters before\n" if left_out else ""
            for line in visible(f"{gap}{self._text.strip()}".replace("\r", "")).split("\n"):
                parts = hanging(Content.styled(line, "dim"), self._width - _INDENT, 0)
                rows += [part.pad_left(_INDENT) for part in parts]
        self.update(Content("\n").join(rows))
