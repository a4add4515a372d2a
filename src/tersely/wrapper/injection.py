"""Typing a text into a program, and making sure that the program has taken it.

The text is typed when the program is idle and nobody is typing; Enter when the text is shown; and it counts as taken
when the place where it was typed is empty again. Enter is pressed again where nothing came of it. The text itself is
typed once: what a program has not read yet waits in its terminal, and would be there twice.

There is no IO and no clock here: `step` is told the time, and says what is to be written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tersely.protocols.terminal.screen import Screen
from tersely.wrapper.keys import Keys

MAX_ENTER_PRESSES = 4  # for one text
IDLE_SECONDS = 0.6  # without a change on the screen
PAUSE_SECONDS = 1.0  # after a key of the user
STARTING_SECONDS = 5.0  # for a program to show something at all
SETTLING_SECONDS = 0.15  # between the text and Enter: programs take what comes at once for one paste
ECHO_SECONDS = 4.0  # for a text that was read to be shown
TAKING_SECONDS = 1.0  # for Enter to have an effect, before it is pressed again
READING_SECONDS = 90.0  # for a program to read what was typed
HOLDING_SECONDS = 2.0  # for which keys of the user wait while a text is being typed

_ENTER = b"\r"
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_UNREADABLE = re.compile(r"[\s\u2500-\u259f|]+")  # blanks and borders
_DIGITS = re.compile(r"\d")
_TAIL_CHARACTERS = 12
_LEAST_TAIL_CHARACTERS = 4


class Outcome(StrEnum):
    """What came of a text."""

    TAKEN = "taken"
    STUCK = "stuck"  # it stands where it was typed, or nobody reads what is typed


class Line(NamedTuple):
    """What the terminal of a program says of itself."""

    reads_lines: bool  # the terminal edits lines, the program gets whole ones
    echoes: bool
    unread_bytes: int  # that the program has not read


class Step(NamedTuple):
    """What is to be written now, and the outcome once there is one."""

    write: bytes = b""
    outcome: Outcome | None = None


class _Phase(StrEnum):
    FREE = "free"
    WAITING = "waiting"
    TYPED = "typed"
    ENTERED = "entered"
    STUCK = "stuck"


_NOTHING = Step()


@dataclass(slots=True)
class Typist:
    """Types one text at a time."""

    screen: Screen
    keys: Keys
    began: float
    _phase: _Phase = _Phase.FREE
    _text: str = ""
    _tail: str = ""
    _since: float = 0.0  # when the phase began
    _shown: str = ""  # the screen when it last changed
    _shown_before: str = ""  # the screen before the text was typed, then before Enter was pressed
    _changed: float = 0.0
    _touched: float = field(default=float("-inf"))  # when the user last typed
    _presses: int = 0

    @property
    def is_free(self) -> bool:
        """Whether another text can be begun."""
        return self._phase is _Phase.FREE

    def holds_keys(self, now: float) -> bool:
        """Whether keys of the user have to wait, lest they fall into the middle of what is being typed."""
        return (
            self._phase in (_Phase.TYPED, _Phase.ENTERED)
            and now - self._since < HOLDING_SECONDS
            and (self._presses <= 1)
        )

    def begin(self, text: str) -> None:
        """Have a text typed as soon as that can be."""
        assert self.is_free
        self._phase, self._text = _Phase.WAITING, text
        squeezed = _squeezed(text)
        self._tail = squeezed[-_TAIL_CHARACTERS:]

    def note_key(self, data: bytes, now: float) -> None:
        """The user has typed something."""
        self.keys.feed(data)
        self._touched = now

    def step(self, now: float, line: Line) -> Step:
        """Look at the screen, and say what is to be done."""
        shown = _squeezed("\n".join(self.screen.texts()))
        if shown != self._shown:
            self._shown, self._changed = shown, now
        if self._phase is _Phase.WAITING and self._is_idle(now, line):
            return self._type(now)
        if self._phase is _Phase.TYPED:
            return self._after_text(now, line)
        if self._phase is _Phase.ENTERED:
            return self._after_enter(now, line)
        if self._phase is _Phase.STUCK and self._is_taken(line):
            return self._end()
        return _NOTHING

    def _is_idle(self, now: float, line: Line) -> bool:
        if not self._shown and now - self.began < STARTING_SECONDS:
            return False
        if line.reads_lines and not line.echoes:  # a password is asked for
            return False
        is_still = now - self._changed >= IDLE_SECONDS and now - self._touched >= PAUSE_SECONDS
        return is_still and not line.unread_bytes and not self.keys.is_half_typed(self.screen)

    def _type(self, now: float) -> Step:
        self._phase, self._since, self._presses, self._shown_before = _Phase.TYPED, now, 0, self._shown
        data = self._text.encode()
        return Step(_PASTE_BEGIN + data + _PASTE_END if self.screen.takes_pastes else data)

    def _after_text(self, now: float, line: Line) -> Step:
        is_shown = self._shown != self._shown_before and (self._is_there() or now - self._changed >= ECHO_SECONDS / 2)
        if is_shown and now - max(self._changed, self._since) >= SETTLING_SECONDS:
            return self._press(now)
        waited = now - self._since
        if line.unread_bytes and not line.reads_lines:
            return self._stuck() if waited >= READING_SECONDS else _NOTHING
        return self._press(now) if waited >= ECHO_SECONDS else _NOTHING

    def _press(self, now: float) -> Step:
        if not self._presses:
            self._shown_before = self._shown
        self._phase, self._since, self._presses = _Phase.ENTERED, now, self._presses + 1
        return Step(_ENTER)

    def _after_enter(self, now: float, line: Line) -> Step:
        waited = now - self._since
        if waited >= SETTLING_SECONDS and self._is_taken(line):
            return self._end()
        if line.unread_bytes or line.reads_lines:
            return self._stuck() if waited >= READING_SECONDS else _NOTHING
        if waited < TAKING_SECONDS * self._presses:
            return _NOTHING
        return self._stuck() if self._presses >= MAX_ENTER_PRESSES else self._press(now)

    def _is_taken(self, line: Line) -> bool:
        """Whether the program has read everything and the text stands no more where it was typed."""
        if line.unread_bytes:
            return False
        if line.reads_lines:
            return True
        if self._shown == self._shown_before:
            return False
        if not _has(self._shown_before, self._tail):  # it is shown as a placeholder, or not at all
            return _DIGITS.sub("0", self._shown) != _DIGITS.sub("0", self._shown_before)
        return not self._is_there() or _below(self._shown, self._tail) != _below(self._shown_before, self._tail)

    def _is_there(self) -> bool:
        return _has(self._shown, self._tail)

    def _stuck(self) -> Step:
        self._phase = _Phase.STUCK
        return Step(outcome=Outcome.STUCK)

    def _end(self) -> Step:
        self._phase = _Phase.FREE
        return Step(outcome=Outcome.TAKEN)


def _squeezed(text: str) -> str:
    """What can be read of a text, so that it is the same however it is broken into lines."""
    return _UNREADABLE.sub("", text)


def _has(shown: str, tail: str) -> bool:
    return len(tail) >= _LEAST_TAIL_CHARACTERS and tail in shown


def _below(shown: str, tail: str) -> str:
    """What stands below the place where the text was typed; numbers that count on do not matter."""
    return _DIGITS.sub("0", shown.rpartition(tail)[2])
