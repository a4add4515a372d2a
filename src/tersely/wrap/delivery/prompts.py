"""The state that the screen of a program shows. What is not recognised is `UNKNOWN`: nothing is
typed then.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from tersely.foundation.types import frozen
from tersely.wrap.delivery.injection import TerminalLine
from tersely.wrap.inline.reading import BORDERS
from tersely.wrap.screen.screen import Screen

MAX_PROMPT_ROWS = 16  # from the bottom of a screen, in which a prompt or a dialog is looked for
_ROWS_ABOVE = 3  # of a prompt, in which an agent says that it works
_DIALOG = re.compile(
    r"[❯›>●]\s*\d+\.\s|\b(?:enter|return) (?:to )?(?:confirm|submit|select|continue)\b|\ballow once\b"
    r"|[\[(](?:y/n|yes/no|y/n/\w)[\])]",
    re.IGNORECASE,
)
_WORKING = re.compile(r"\besc (?:to )?(?:interrupt|cancel)\b", re.IGNORECASE)
PROMPT_MARKS = "❯›>$#%»"
_EMPTY_PROMPT = re.compile(rf"[\s{BORDERS}]*[{PROMPT_MARKS}][\s{BORDERS}]*")
_PROMPT_END = re.compile(rf"[{PROMPT_MARKS}]\s*\Z")


class Sight(Enum):
    """The state that a screen shows."""

    PROMPT = auto()  # an empty prompt
    DIALOG = auto()  # something else that an Enter would answer
    WORKING = auto()
    UNKNOWN = auto()


@frozen
class PromptPattern:
    """The empty prompt of one program: a pattern for its row, None where nothing is known of the
    program.
    """

    row: re.Pattern[str] | None = None

    def sight(self, screen: Screen, line: TerminalLine) -> Sight:
        """The state that the bottom of a screen shows."""
        rows = _rows(screen)
        if line.reads_lines:
            return self._of_lines(rows, screen, line)
        places = [number for number, text in enumerate(rows) if self.is_empty(text)]
        near = rows[max(0, places[-1] - _ROWS_ABOVE) :] if places else rows
        if any(map(_DIALOG.search, near)):
            return Sight.DIALOG
        if any(map(_WORKING.search, near)):
            return Sight.WORKING
        is_at_prompt = self.row is None and screen.has_cursor and _ends_in_prompt(screen)
        return Sight.PROMPT if places or is_at_prompt else Sight.UNKNOWN

    def _of_lines(self, rows: list[str], screen: Screen, line: TerminalLine) -> Sight:
        """A program that reads lines: it waits where its process does, with a prompt before the
        cursor.
        """
        if line.is_read is False:
            return Sight.UNKNOWN
        if rows and _DIALOG.search(rows[-1]):
            return Sight.DIALOG
        is_at_prompt = (
            self.row.fullmatch(screen.before_cursor()) if self.row else _ends_in_prompt(screen)
        )
        return Sight.PROMPT if is_at_prompt else Sight.UNKNOWN

    def is_empty(self, text: str) -> bool:
        """True if a row is an empty prompt."""
        return (self.row or _EMPTY_PROMPT).fullmatch(text) is not None


def has_dialog(screen: Screen) -> bool:
    """True if an Enter would answer something else than a prompt."""
    return any(map(_DIALOG.search, _rows(screen)))


def _rows(screen: Screen) -> list[str]:
    """The rows at the bottom of a screen that have a text."""
    return [text for text in screen.texts() if text.strip()][-MAX_PROMPT_ROWS:]


def _ends_in_prompt(screen: Screen) -> bool:
    return _PROMPT_END.search(screen.before_cursor()) is not None
