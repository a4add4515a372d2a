"""What of an answer is prose to be shown, found out while it comes in."""

from __future__ import annotations

import json
import re
from typing import Protocol

from tersely.agent.calling.form import OPENING
from tersely.agent.calling.schema import SAY
from tersely.agent.calling.way import Way

# What a line begins with that begins a call, in one of the forms that are read.
_CALL_STARTS = (OPENING, "<tool_call>", "<function=", "[TOOL_CALLS]")
_SAY = re.compile(rf'\s*\{{\s*"{SAY}"\s*:\s*"')
_ESCAPE_CHARACTERS = 6  # \u0041
_PAIR_CHARACTERS = 12  # of a character that needs two of those


class ProseReader(Protocol):
    """Takes an answer part by part and gives back its prose."""

    def feed(self, text: str) -> str:
        """The prose that is certain now."""

    def rest(self) -> str:
        """The prose that was held back, when the answer has ended."""


def prose_reader(way: Way) -> ProseReader:
    """The reader of answers that were asked for in this way."""
    return EnvelopeProse() if way is Way.SCHEMA else LineProse(is_strict=way is Way.GRAMMAR)


class LineProse:
    """All lines before the one that begins a call. The start of a line waits until it is known what it begins."""

    def __init__(self, is_strict: bool) -> None:
        self._starts = (OPENING,) if is_strict else _CALL_STARTS
        self._blanks = "" if is_strict else " \t"
        self._waiting = ""
        self._is_line_start = True
        self._is_call = False

    def feed(self, text: str) -> str:
        """See `ProseReader`."""
        certain = []
        self._waiting += text
        while self._waiting and not self._is_call:
            if self._is_line_start:
                begun = self._waiting.lstrip(self._blanks) if self._blanks else self._waiting
                self._is_call = any(_begins(begun, start) for start in self._starts)
                if self._is_call or self._may_begin(begun):
                    break
            line, end, self._waiting = self._waiting.partition("\n")
            self._is_line_start = bool(end)
            certain.append(line + end)
        return "".join(certain)

    def _may_begin(self, begun: str) -> bool:
        """Whether what is there of a line could still become the beginning of a call."""
        return not begun or any(start.startswith(begun) for start in self._starts)

    def rest(self) -> str:
        """See `ProseReader`."""
        held, self._waiting = self._waiting, ""
        return "" if self._is_call or held.strip() == OPENING else held


def _begins(line: str, start: str) -> bool:
    """Whether a line begins with these characters, and not with a longer word."""
    return (
        line.startswith(start) and len(line) > len(start) and not (start[-1].isalnum() and _is_word(line[len(start)]))
    )


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class EnvelopeProse:
    """The text that an envelope says, taken out of its JSON."""

    def __init__(self) -> None:
        self._waiting = ""
        self._is_within = False
        self._has_ended = False

    def feed(self, text: str) -> str:
        """See `ProseReader`."""
        if self._has_ended:
            return ""
        self._waiting += text
        if not self._is_within:
            opened = _SAY.match(self._waiting)
            if opened is None:
                return ""
            self._is_within = True
            self._waiting = self._waiting[opened.end() :]
        return self._decoded()

    def _decoded(self) -> str:
        """What is waiting up to the closing quote, or up to an escape that is not all there."""
        at = 0
        while at < len(self._waiting) and self._waiting[at] != '"':
            size = _escape_size(self._waiting, at)
            if at + size > len(self._waiting):
                break
            at += size
        else:
            self._has_ended = at < len(self._waiting)
        certain, self._waiting = self._waiting[:at], self._waiting[at:]
        try:
            said: str = json.loads(f'"{certain}"', strict=False)
        except ValueError:
            return certain
        return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def rest(self) -> str:
        """See `ProseReader`; what no quote ends has been given already."""
        return ""


def _escape_size(text: str, at: int) -> int:
    """The characters that stand for one here."""
    if text[at] != "\\":
        return 1
    if text[at + 1 : at + 2] != "u":
        return 2
    is_high = text[at + 2 : at + 4].lower() in {"d8", "d9", "da", "db"}
    follows = text[at + _ESCAPE_CHARACTERS : at + _ESCAPE_CHARACTERS + 2]
    return _PAIR_CHARACTERS if is_high and "\\u".startswith(follows) else _ESCAPE_CHARACTERS
