"""The prose of an answer that is to be shown, found out while it comes in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol

from tersely.agent.tool_calling import foreign_call_formats, payloads
from tersely.agent.tool_calling.call_format import CallFormat
from tersely.agent.tool_calling.schema import SAY
from tersely.agent.tool_calling.text_call_format import OPENING, start_of
from tersely.agent.tools.declaration import Tool

_SAY = re.compile(rf'\s*\{{\s*"{SAY}"\s*:\s*"')
_SUSPECT = re.compile(r"^|[<\[]", re.MULTILINE)  # where a call may begin
_ESCAPE_CHARACTERS = 6  # \u0041
_PAIR_CHARACTERS = 12  # of a character that needs two of those


class ProseReader(Protocol):
    """Takes an answer part by part and gives back its prose."""

    def feed(self, text: str) -> str:
        """The prose that is certain now."""

    def rest(self) -> str:
        """The prose that was held back, when the answer has ended."""

    @property
    def is_within_call(self) -> bool:
        """True if what comes in is probably no prose."""


def prose_reader(call_format: CallFormat, tools: Sequence[Tool] = ()) -> ProseReader:
    """The reader of answers that were asked for in this way, and may call these tools."""
    if call_format is CallFormat.SCHEMA:
        return EnvelopeProse(tools)
    return LineProse(tools, is_strict=call_format is CallFormat.GRAMMAR)


def _begins_call(line: str) -> bool:
    """True if a line begins with our opening, and not with a longer word."""
    behind = line[len(OPENING) : len(OPENING) + 1]
    return line.startswith(OPENING) and behind != "" and not _is_word(behind)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class LineProse:
    """All text before what may be a call in any of the forms that are read; the rest waits for the
    answer's end.

    `is_strict`: our own form begins with a line, and without blanks.
    """

    def __init__(self, tools: Sequence[Tool], is_strict: bool) -> None:
        self._tools = tools
        self._is_strict = is_strict
        self._names = frozenset(tool.name for tool in tools)
        self._text = ""
        self._at = 0  # up to here it is prose
        self._given = 0  # and up to here it was given back
        self.is_within_call = False

    def feed(self, text: str) -> str:
        """See `ProseReader`."""
        self._text += text
        while not self.is_within_call:
            suspect = _SUSPECT.search(self._text, self._at)
            if suspect is None:
                self._at = len(self._text)
                break
            self._at = suspect.start()
            begins = self._begins(self._text[self._at :])
            self.is_within_call = begins is True
            if begins is not False:
                break
            self._at += 1
        return self._up_to(self._at)

    def _begins(self, text: str) -> bool | None:
        """True if this begins a call; None where more of it has to come in to tell."""
        plain = text.lstrip(" \t")
        is_line_start = self._at == 0 or self._text[self._at - 1] == "\n"
        if is_line_start and (text == plain or not self._is_strict):
            if _begins_call(plain):
                return True
            if plain == "" or OPENING.startswith(plain):
                return None
        if is_line_start:
            return foreign_call_formats.may_begin(plain, self._names)
        return foreign_call_formats.tag_begins(text, self._names)

    def _up_to(self, at: int) -> str:
        certain, self._given = self._text[self._given : at], max(at, self._given)
        return certain

    def rest(self) -> str:
        """See `ProseReader`."""
        own = start_of(self._text, self._is_strict)
        found = None if own >= 0 else foreign_call_formats.find(self._text, self._tools)
        start = found.start if found is not None else own
        return self._up_to(start if start >= 0 else len(self._text))


class EnvelopeProse:
    """The text that an envelope says, taken out of its JSON."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._waiting = ""
        self._is_within = False
        self._has_ended = False

    @property
    def is_within_call(self) -> bool:
        """See `ProseReader`."""
        return self._has_ended

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
        """The waiting text up to the closing quote, or up to an escape that is not all there."""
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
        """See `ProseReader`; what no quote ends has been given already, and an answer that is no
        envelope is prose.
        """
        if self._is_within:
            return ""
        whole = payloads.loads(self._waiting)
        if isinstance(whole, dict) and SAY in whole:
            return str(whole[SAY])
        reader = LineProse(self._tools, is_strict=False)
        return reader.feed(self._waiting) + reader.rest()


def _escape_size(text: str, at: int) -> int:
    """The characters that stand for one here."""
    if text[at] != "\\":
        return 1
    if text[at + 1 : at + 2] != "u":
        return 2
    is_high = text[at + 2 : at + 4].lower() in {"d8", "d9", "da", "db"}
    follows = text[at + _ESCAPE_CHARACTERS : at + _ESCAPE_CHARACTERS + 2]
    return _PAIR_CHARACTERS if is_high and "\\u".startswith(follows) else _ESCAPE_CHARACTERS
