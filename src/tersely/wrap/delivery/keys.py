"""The text that a person has typed and not yet sent."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder

from tersely.wrap.screen.screen import Screen

MAX_HALF_TYPED_CHARACTERS = 1_000  # of what a user has typed and not sent
_ALT_ENTER = b"\x1b\r"
_ENTER, _INTERRUPT, _KILL_LINE, _KILL_WORD = "\r", "\x03", "\x15", "\x17"
_BACKSPACES = "\x7f\x08"
# Whole answers of a terminal, sequences (ECMA-48), controls and text.
_PIECE = re.compile(
    r"\x1b[PX^_\]].*?(?:\x07|\x1b\\|\x18|\x1a)|\x1b\[(?P<sequence>[0-?]*[ -/]*[@-~])|\x1b[ -/]*[0-~]"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])|(?P<text>[^\x00-\x1f\x7f-\x9f]+)",
    re.DOTALL,
)
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[PX^_\]][^\x07\x18\x1a\x1b]*\x1b?|[ -/]*)\Z")
_PASTES = {"200~": True, "201~": False}
_LOOKED_CHARACTERS = 8  # of what was typed, that are looked for on the screen


class Keys:
    """Reads what goes to a program from its keyboard; replies of the terminal are not typed by
    anybody.
    """

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._begun = ""  # a piece that is not whole
        self._typed = ""
        self._is_pasting = False

    def feed(self, data: bytes) -> None:
        """Take what was typed."""
        text = self._begun + self._decoder.decode(data.replace(_ALT_ENTER, b"\n"))
        begun = _BEGUN.search(text)
        self._begun = begun[0][:MAX_HALF_TYPED_CHARACTERS] if begun else ""
        for piece in _PIECE.finditer(text, 0, begun.start() if begun else len(text)):
            if piece["text"]:
                self._typed = (self._typed + piece["text"])[-MAX_HALF_TYPED_CHARACTERS:]
            elif piece["control"]:
                self._control(piece["control"])
            elif piece["sequence"]:
                self._is_pasting = _PASTES.get(piece["sequence"], self._is_pasting)

    def is_half_typed(self, screen: Screen) -> bool:
        """True if a text stands in front of the cursor that nobody has sent.

        What was typed and is not shown was taken as commands, one key each.
        """
        typed = "".join(self._typed.split())[-_LOOKED_CHARACTERS:]
        if not typed:
            return False
        if screen.has_cursor:
            return "".join(screen.before_cursor().split()).endswith(typed)
        return typed in "".join("".join(screen.texts()).split())

    def _control(self, control: str) -> None:
        if (control == _ENTER and self._is_pasting) or (
            control == _ENTER and self._typed.endswith("\\")
        ):
            self._typed += "\n"
        elif control in (_ENTER, _INTERRUPT, _KILL_LINE):
            self._typed = ""
        elif control in _BACKSPACES:
            self._typed = self._typed[:-1]
        elif control == _KILL_WORD:
            self._typed = self._typed.rstrip().rpartition(" ")[0]
        elif control == "\n":
            self._typed += "\n"
