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
from tersely.agent.tools.declaration import AgentTool

_ESCAPE = r"\\(?:[^u]|u[0-9a-fA-F]{4})"
# the text of an envelope as far as it has come, without an escape that is not all there
_SAID = re.compile(
    rf'\s*\{{\s*"{SAY}"\s*:\s*"(?P<said>(?:[^"\\]|{_ESCAPE})*)(?P<end>")?', re.DOTALL
)
_HALF_PAIR = re.compile(r"[\ud800-\udbff]\Z")  # of a character whose other half follows
_SUSPECT = re.compile(r"^|[<\[]", re.MULTILINE)  # where a call may begin


class ProseReader(Protocol):
    """Takes an answer part by part and gives back its prose."""

    def feed(self, text: str) -> str:
        """The prose that is certain now."""

    def rest(self) -> str:
        """The prose that was held back, when the answer has ended."""

    @property
    def is_within_call(self) -> bool:
        """True if what comes in is probably no prose."""


def prose_reader(call_format: CallFormat, tools: Sequence[AgentTool] = ()) -> ProseReader:
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

    def __init__(self, tools: Sequence[AgentTool], is_strict: bool) -> None:
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

    def __init__(self, tools: Sequence[AgentTool]) -> None:
        self._tools = tools
        self._text = ""
        self._given = 0  # characters of what it says
        self.is_within_call = False

    def feed(self, text: str) -> str:
        """See `ProseReader`."""
        self._text += text
        found = None if self.is_within_call else _SAID.match(self._text)
        if found is None:
            return ""
        self.is_within_call = found["end"] is not None
        try:
            said: str = json.loads(f'"{found["said"]}"', strict=False)
        except ValueError:
            return ""
        said = (
            _HALF_PAIR.sub("", said).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
        new, self._given = said[self._given :], len(said)
        return new

    def rest(self) -> str:
        """See `ProseReader`; what no quote ends has been given already, and an answer that is no
        envelope is prose.
        """
        if _SAID.match(self._text) is not None:
            return ""
        whole = payloads.loads(self._text)
        if isinstance(whole, dict) and SAY in whole:
            return str(whole[SAY])
        reader = LineProse(self._tools, is_strict=False)
        return reader.feed(self._text) + reader.rest()
