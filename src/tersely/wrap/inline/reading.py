"""Lines to commands.

    ->relay:Target message                  ->relay:Target [thread:id] <<<
    ->relay:#channel message                several
    ->relay:spawn Name program task         lines >>>
    ->relay:release Name                    [[RELAY]]{"to": "Target", "body": "message"}[[/RELAY]]

Where a run has a marker, `->relay-MARKER:` and `[[RELAY MARKER]]` begin commands, and lines without
it are text: what a program shows is mostly not its own.

A command begins its line, after blanks and the bullets or borders that programs draw. A quotation
(`> …`), a prompt and text before it make it text, and so does a backslash (`\\->relay:`). Without a
marker a fenced code block does too; with one it does not, for a fence in a file that is shown would
hide the commands below it. Nothing is judged by its words.

The reader is a function from a state and a line to the next state and commands, so that it can be
taken back to any line when a program draws its screen again.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import lru_cache
from typing import NamedTuple

from tersely.capabilities.relay.foreign import BANNER
from tersely.foundation.text.shortening import shortened
from tersely.foundation.types import JsonObject, Strings, field, frozen, replace
from tersely.wrap.inline.commands import (
    PREFIX,
    RELEASE,
    SPAWN,
    Command,
    MalformedCommand,
    OutgoingMessage,
    Release,
    Spawn,
    Unmarked,
    marked_prefix,
)

MAX_BLOCK_CHARACTERS = 200_000  # of a message on several lines
MAX_BLOCK_LINES = 2_000
MAX_FENCED_LINES = 1_000  # of a code block that nobody closes, after which commands count again
MAX_CONTINUED_ROWS = 60  # of one line that a program has broken to fit the screen
BORDERS = "│┃┆┇┊┋╎╏▌▎▏"
# A mark may be followed by a character that says to draw it as text, or as a picture.
_LEAD = rf"[ \t]*(?:[●•◦‣⁃⏺◆◇○□■✦✻*\-{BORDERS}][\ufe0e\ufe0f]?[ \t]*)*"
TARGET = r"\*|#?\w[\w.-]*(?::\w[\w.-]*)?"
_NAME = re.compile(r"\w[\w.-]*")
_JSON_END = "[[/RELAY]]"
_UNMARKED = re.compile(
    rf"{_LEAD}(?:->relay(?:-[0-9a-f]+)?:(?:{TARGET})|\[\[RELAY(?: [0-9a-f]+)?\]\])"
)
_FENCE = re.compile(rf"{_LEAD}(?P<fence>`{{3,}}|~{{3,}})(?P<label>.*)\Z")
_BANNER = re.compile(rf"[ \t>›❯»$%#{BORDERS}]*{BANNER} ")
_OPEN, _CLOSE = "<<<", ">>>"
_SHOWN_CHARACTERS = 60  # of a command that is none


class _Heads(NamedTuple):
    """The beginnings of the commands of a run."""

    line: re.Pattern[str]
    any: re.Pattern[str]  # also what is no command
    json: re.Pattern[str]


@lru_cache
def _heads(marker: str) -> _Heads:
    prefix = re.escape(marked_prefix(marker))
    json_begin = re.escape(f"[[RELAY {marker}]]" if marker else "[[RELAY]]")
    line = (
        rf"(?P<lead>{_LEAD}){prefix}(?P<target>{TARGET})(?![\w.:-])"
        r"(?:[ \t]+\[thread:(?P<thread>[\w.:-]+)\])?(?:[ \t]+(?P<body>\S.*))?[ \t]*\Z"
    )
    json_line = rf"(?P<lead>{_LEAD}){json_begin}(?P<body>.*)\Z"
    return _Heads(re.compile(line), re.compile(rf"{_LEAD}{prefix}"), re.compile(json_line))


class ScreenLine(NamedTuple):
    """A line as it stands on a screen: its place, and how many columns its program had for it."""

    text: str
    number: int = 0
    columns: int = 0  # 0: nobody breaks lines here


class FoundCommand(NamedTuple):
    """A command and the line where it begins."""

    command: Command
    number: int


@frozen
class _OpenCommand:
    """The command that is not complete yet."""

    head: re.Match[str]
    number: int
    indent: int  # cells before the text
    rows: Strings = ()
    characters: int = 0
    ends: str = ""  # what closes it; "" for a line that may go on in the next


@frozen
class ReaderState:
    """The state of a reader. With a `marker`, lines without it are no commands."""

    marker: str = ""
    fence: str = ""
    fenced_lines: int = 0
    open: _OpenCommand | None = field(default=None)


START = ReaderState()


def read(state: ReaderState, line: ScreenLine) -> tuple[ReaderState, tuple[FoundCommand, ...]]:
    """Read one line."""
    if state.open is not None and state.open.ends:
        return _read_block(state, state.open, line)
    if state.open is not None:
        if _goes_on(state.open, line, state.marker):
            row = line.text.strip()
            return replace(state, open=replace(state.open, rows=(*state.open.rows, row))), ()
        found = _said(state.open)
        state, more = _read_plain(replace(state, open=None), line)
        return state, (found, *more)
    return _read_plain(state, line)


def finish(state: ReaderState, *, is_over: bool) -> tuple[FoundCommand, ...]:
    """The findings in the last line: a command that could have gone on; what was never closed, when
    all is over.
    """
    if state.open is None:
        return ()
    if not state.open.ends:
        return (_said(state.open),)
    return (_unclosed(state.open),) if is_over else ()


def _read_plain(
    state: ReaderState, line: ScreenLine
) -> tuple[ReaderState, tuple[FoundCommand, ...]]:
    if _BANNER.match(line.text):  # a message was typed in here: whatever was open before is over
        return ReaderState(state.marker), ()
    if not state.marker and (state.fence or _FENCE.match(line.text)):
        return _read_fence(state, line), ()
    heads = _heads(state.marker)
    head = heads.line.match(line.text)
    if head is not None:
        return _begin(state, head, line)
    block = heads.json.match(line.text)
    if block is not None:
        opened = _OpenCommand(block, line.number, _width_of_lead(block), ends=_JSON_END)
        return _read_block(
            replace(state, open=opened), opened, ScreenLine(block["body"], line.number)
        )
    if heads.any.match(line.text):
        return state, (
            FoundCommand(
                MalformedCommand("nobody has such a name", _beginning(line.text)), line.number
            ),
        )
    if state.marker and _UNMARKED.match(line.text):
        return state, (FoundCommand(Unmarked(_beginning(line.text)), line.number),)
    return state, ()


def _read_fence(state: ReaderState, line: ScreenLine) -> ReaderState:
    found = _FENCE.match(line.text)
    if not state.fence:
        assert found is not None
        is_opening = found["fence"][0] == "~" or "`" not in found["label"]
        return replace(state, fence=found["fence"], fenced_lines=0) if is_opening else state
    closes = (
        found is not None
        and found["fence"].startswith(state.fence)
        and not found["label"].strip(BORDERS + " \t")
    )
    if closes or state.fenced_lines >= MAX_FENCED_LINES:
        return replace(state, fence="", fenced_lines=0)
    return replace(state, fenced_lines=state.fenced_lines + 1)


def _begin(
    state: ReaderState, head: re.Match[str], line: ScreenLine
) -> tuple[ReaderState, tuple[FoundCommand, ...]]:
    indent, body = _width_of_lead(head), head["body"] or ""
    if any(border in head["lead"] for border in BORDERS):
        body = body.rstrip(BORDERS + " \t")
    before, opens, after = body.partition(_OPEN)
    if opens and not before.endswith("\\") and (not before.strip() or head["target"] == SPAWN):
        opened = _OpenCommand(head, line.number, indent, (before.strip(),), ends=_CLOSE)
        state = replace(state, open=opened)
        return (
            _read_block(state, opened, ScreenLine(" " * indent + after.strip(), line.number))
            if after.strip()
            else (state, ())
        )
    opened = _OpenCommand(head, line.number, indent, (body,))
    if _may_go_on(opened, line):
        return replace(state, open=opened), ()
    return state, (_said(opened),)


def _may_go_on(opened: _OpenCommand, line: ScreenLine) -> bool:
    return bool(line.columns and opened.indent and len(line.text) > line.columns // 2)


def _goes_on(opened: _OpenCommand, line: ScreenLine, marker: str) -> bool:
    """True if a program broke its line here: the row is indented as far, and its first word had no
    room above.
    """
    row = line.text
    text = row.strip()
    if not text or not line.columns or len(opened.rows) >= MAX_CONTINUED_ROWS:
        return False
    if (
        len(row) - len(row.lstrip()) != opened.indent
        or _heads(marker).any.match(row)
        or _FENCE.match(row)
    ):
        return False
    above = opened.indent + len(opened.rows[-1])
    if len(opened.rows) == 1:
        above = opened.head.end()
    return above + 1 + len(text.split()[0]) > line.columns - _MARGIN_CELLS


_MARGIN_CELLS = 4  # that programs leave free at the right


def _read_block(
    state: ReaderState, opened: _OpenCommand, line: ScreenLine
) -> tuple[ReaderState, tuple[FoundCommand, ...]]:
    """Read a line of what `>>>` or `[[/RELAY]]` closes."""
    text = _inner(opened, line.text)
    if line.number != opened.number and (
        _BANNER.match(line.text) or _heads(state.marker).any.match(line.text)
    ):
        state, found = _read_plain(replace(state, open=None), line)
        return state, (_unclosed(opened), *found)
    content, closes = _closed(opened, text)
    rows = opened.rows if closes and not content.strip() else (*opened.rows, content)
    opened = replace(opened, rows=rows, characters=opened.characters + len(content))
    if closes:
        return replace(state, open=None), (FoundCommand(_block_command(opened), opened.number),)
    if opened.characters > MAX_BLOCK_CHARACTERS or len(rows) > MAX_BLOCK_LINES:
        return replace(state, open=None), (_unclosed(opened),)
    return replace(state, open=opened), ()


def _inner(opened: _OpenCommand, text: str) -> str:
    """A line of a block without what its program has put before it."""
    if any(border in opened.head["lead"] for border in BORDERS):
        text = text.rstrip(BORDERS + " \t").lstrip(BORDERS)
    blank = len(text) - len(text.lstrip(" "))
    return text[min(blank, opened.indent) :].rstrip()


def _closed(opened: _OpenCommand, text: str) -> tuple[str, bool]:
    if opened.ends == _JSON_END:
        content, ends, _ = text.partition(_JSON_END)
        return content, bool(ends)
    closes = text.endswith(_CLOSE) and not text.endswith("\\" + _CLOSE)
    return (text[: -len(_CLOSE)].rstrip() if closes else text), closes


def _unclosed(opened: _OpenCommand) -> FoundCommand:
    return FoundCommand(
        MalformedCommand(f"{opened.ends} is missing", _beginning(opened.head[0])), opened.number
    )


def _said(opened: _OpenCommand) -> FoundCommand:
    return FoundCommand(_line_command(opened.head, " ".join(opened.rows)), opened.number)


def _block_command(opened: _OpenCommand) -> Command:
    if opened.ends == _JSON_END:
        return _json_command(opened)
    first, *rest = opened.rows
    body = _unescaped("\n".join(rest).strip("\n"))
    head = opened.head
    if head["target"] == SPAWN:
        return _spawn(head, first, body)
    return _message(head, body)


def _line_command(head: re.Match[str], body: str) -> Command:
    if head["target"] == SPAWN:
        return _spawn(head, body, "")
    if head["target"] == RELEASE:
        return (
            Release(body)
            if re.fullmatch(r"\w[\w.-]*", body)
            else MalformedCommand("a name is missing", _beginning(head[0]))
        )
    return _message(head, _unescaped(body))


def _message(head: re.Match[str], body: str) -> Command:
    if not body.strip():
        return MalformedCommand("there is nothing to say", _beginning(head[0]))
    return OutgoingMessage(head["target"], body, head["thread"] or "")


def _spawn(head: re.Match[str], said: str, task: str) -> Command:
    try:
        words = shlex.split(said)
    except ValueError as error:
        return MalformedCommand(f"{error}".lower(), _beginning(head[0]))
    if len(words) < 2 or not _NAME.fullmatch(words[0]):
        return MalformedCommand("it takes a name and a program", _beginning(head[0]))
    name, program, *rest = words
    return Spawn(name, (program,), task or " ".join(rest))


def _json_command(opened: _OpenCommand) -> Command:
    text = "\n".join(opened.rows)
    try:
        told = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        return MalformedCommand(f"no JSON: {error}", _beginning(text))
    if not isinstance(told, dict):
        return MalformedCommand("no object", _beginning(text))
    return _told_command(told, text)


def _told_command(told: JsonObject, text: str) -> Command:
    to, body = told.get("to"), told.get("body")
    if not isinstance(to, str) or not re.fullmatch(TARGET, to):
        return MalformedCommand("to is missing", _beginning(text))
    if not isinstance(body, str) or not body.strip():
        return MalformedCommand("body is missing", _beginning(text))
    words = {name: told.get(name) for name in ("thread", "topic", "kind")}
    words["kind"] = words["kind"] or told.get("type") or "message"
    if not all(value is None or isinstance(value, str) for value in words.values()):
        return MalformedCommand("thread, topic and kind are texts", _beginning(text))
    data = told.get("data") or {}
    if not isinstance(data, dict):
        return MalformedCommand("data is no object", _beginning(text))
    return OutgoingMessage(
        to, body, words["thread"] or "", words["topic"] or "", words["kind"] or "", data
    )


def _unescaped(text: str) -> str:
    for mark in (PREFIX, _OPEN, _CLOSE):
        text = text.replace("\\" + mark, mark)
    return text


def _width_of_lead(head: re.Match[str]) -> int:
    return len(head["lead"])


def _beginning(text: str) -> str:
    return shortened(text.strip(), _SHOWN_CHARACTERS)
