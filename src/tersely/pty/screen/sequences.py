"""Bytes of a terminal as text, controls and control sequences (ECMA-48), whatever pieces they
arrive in.

What stands inside of strings (window titles, pictures, answers of the terminal) is never text: it
is dropped, and takes no memory.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

MAX_SEQUENCE_CHARACTERS = 256  # of one control sequence
_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")
_CSI = re.compile(r"\x1b\[([<=>?]?)([0-9;:]*)([ -/]*)([@-~])")
_CSI_BEGUN = re.compile(r"\x1b\[[0-?]*[ -/]*")
_ESCAPE = re.compile(r"\x1b([ -/]*)([0-~])")
_ESCAPE_BEGUN = re.compile(r"\x1b[ -/]*\Z")
_STRING = re.compile(r"\x1b[PX^_\]k]")
_STRING_END = re.compile(r"\x07|\x1b|\x18|\x1a")
_ESC = "\x1b"


class Kind(Enum):
    """The kind of a piece of the stream."""

    TEXT = auto()
    CONTROL = auto()  # one character below the space
    ESCAPE = auto()  # ESC, intermediate characters and a final one
    CSI = auto()


class Piece(NamedTuple):
    """One piece: `text` is the text, the control, or the final character of a sequence."""

    kind: Kind
    text: str
    prefix: str = ""  # of a sequence: the private marker, or the intermediate characters
    parameters: tuple[int, ...] = ()

    def number(self, place: int, default: int = 1) -> int:
        """A parameter; 0 and what is missing count as the default."""
        return (self.parameters[place] if place < len(self.parameters) else 0) or default


class Sequences:
    """The reader of one stream. What is not complete yet waits for the next bytes."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._is_in_string = False

    def feed(self, data: bytes) -> Iterator[Piece]:
        """The pieces that are complete with these bytes."""
        text = self._waiting + self._decoder.decode(data)
        self._waiting = ""
        place = 0
        while place < len(text):
            if self._is_in_string:
                place = self._skip_string(text, place)
                continue
            found = _TEXT.match(text, place)
            if found:
                yield Piece(Kind.TEXT, found[0])
                place = found.end()
            elif text[place] != _ESC:
                yield Piece(Kind.CONTROL, text[place])
                place += 1
            elif text.startswith("\x1b[", place):
                piece, text, place = self._sequence(text, place)
                if piece is not None:
                    yield piece
            else:
                piece, place = self._escape(text, place)
                if piece is not None:
                    yield piece

    def _skip_string(self, text: str, place: int) -> int:
        end = _STRING_END.search(text, place)
        if end is None:
            return len(text)
        if end[0] != _ESC:
            self._is_in_string = False
            return end.end()
        if end.end() == len(text):  # the backslash that completes the terminator may be to come
            self._waiting = _ESC
            return len(text)
        self._is_in_string = False
        return end.end() + 1 if text[end.end()] == "\\" else end.start()

    def _sequence(self, text: str, place: int) -> tuple[Piece | None, str, int]:
        found = _CSI.match(text, place)
        if found:
            prefix, numbers, between, final = found.groups()
            parameters = tuple(
                int(number.partition(":")[0][:5] or 0) for number in numbers.split(";")
            )
            return Piece(Kind.CSI, final, prefix + between, parameters), text, found.end()
        begun = _CSI_BEGUN.match(text, place)
        assert begun is not None
        end = begun.end()
        if end - place > MAX_SEQUENCE_CHARACTERS:
            return None, text, end
        if end == len(text):
            self._waiting = text[place:]
            return None, text, end
        if text[end] < " " and text[end] not in "\x18\x1a\x1b":
            # done in the middle of the sequence
            return Piece(Kind.CONTROL, text[end]), text[place:end] + text[end + 1 :], 0
        return None, text, end if text[end] == _ESC else end + 1

    def _escape(self, text: str, place: int) -> tuple[Piece | None, int]:
        if _STRING.match(text, place):
            self._is_in_string = True
            return None, place + 2
        found = _ESCAPE.match(text, place)
        if found:
            return Piece(Kind.ESCAPE, found[2], found[1]), found.end()
        if _ESCAPE_BEGUN.match(text, place) and len(text) - place <= MAX_SEQUENCE_CHARACTERS:
            self._waiting = text[place:]
            return None, len(text)
        return None, place + 1
