"""The text that a person has typed and not yet sent."""

from __future__ import annotations

from tersely.pty.screen.screen import Screen
from tersely.pty.screen.sequences import Kind, Piece, Sequences

MAX_HALF_TYPED_CHARACTERS = 1_000  # of what a user has typed and not sent
_ALT_ENTER = b"\x1b\r"
_ENTER, _INTERRUPT, _KILL_LINE, _KILL_WORD = "\r", "\x03", "\x15", "\x17"
_BACKSPACES = "\x7f\x08"
_PASTE_BEGINS, _PASTE_ENDS = 200, 201
_LOOKED_CHARACTERS = 8  # of what was typed, that are looked for on the screen


class Keys:
    """Reads what goes to a program from its keyboard; replies of the terminal are not typed by
    anybody.
    """

    def __init__(self) -> None:
        self._sequences = Sequences()
        self._typed = ""
        self._is_pasting = False

    def feed(self, data: bytes) -> None:
        """Take what was typed."""
        for piece in self._sequences.feed(data.replace(_ALT_ENTER, b"\n")):
            if piece.kind is Kind.TEXT:
                self._typed = (self._typed + piece.text)[-MAX_HALF_TYPED_CHARACTERS:]
            elif piece.kind is Kind.CONTROL:
                self._control(piece.text)
            elif piece.kind is Kind.CSI and piece.text == "~":
                self._note_paste(piece)

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

    def _note_paste(self, piece: Piece) -> None:
        if piece.number(0, 0) in (_PASTE_BEGINS, _PASTE_ENDS):
            self._is_pasting = piece.number(0, 0) == _PASTE_BEGINS
