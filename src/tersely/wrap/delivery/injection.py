"""Typing a text into a program, and making sure that the program has taken it.

The text is typed when the program waits for a prompt and nobody is typing; Enter when the text is
shown there; and it counts as taken when the place where it was typed is empty again, or when the
program itself says so (`confirm`). Enter is pressed again where nothing came of it, never while a
dialog is shown. A text that is gone without having been taken is `LOST`, and may be typed again.

There is no IO and no clock here: `step` is told the time, and says what is to be written.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from tersely.foundation.types import field, record
from tersely.wrap.delivery.keys import Keys
from tersely.wrap.screen.screen import Screen

MAX_ENTER_PRESSES = 4  # for one text
CONFIRM_SECONDS = 20.0  # for a program that says what it takes to say so
IDLE_SECONDS = 0.6  # without a change on the screen
PAUSE_SECONDS = 1.0  # after a key of the user
# between the text and Enter: programs take what comes at once for one paste
SETTLING_SECONDS = 0.15
ECHO_SECONDS = 4.0  # for a text that was read to be shown
TAKING_SECONDS = 1.0  # for Enter to have an effect, before it is pressed again
READING_SECONDS = 90.0  # for a program to read what was typed
HOLDING_SECONDS = 2.0  # for which keys of the user wait while a text is being typed

_ENTER = b"\r"
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_UNREADABLE = re.compile(r"[\s\u2500-\u259f|]+")  # blanks and borders
_DIGITS = re.compile(r"\d")
_PASTE_TOKEN = re.compile(r"\[Pasted", re.IGNORECASE)  # shown in the place of a long paste
_TAIL_CHARACTERS = 12
_LEAST_TAIL_CHARACTERS = 4


class TypingOutcome(StrEnum):
    """The outcome of a text."""

    TAKEN = "taken"
    STUCK = "stuck"  # it stands where it was typed, or nobody reads what is typed
    LOST = "lost"  # it is not there any more, and was not taken


class TerminalLine(NamedTuple):
    """The state of the terminal of a program."""

    reads_lines: bool  # the terminal edits lines, the program gets whole ones
    echoes: bool
    unread_bytes: int  # that the program has not read
    # the program waits for what is typed; None where that cannot be known
    is_read: bool | None = None


class Scene(NamedTuple):
    """The state of a program at a moment: its terminal, what its screen shows, and whether it says
    what it takes.

    `is_open` says that an empty prompt waits, `is_safe` that an Enter would answer no dialog.
    """

    line: TerminalLine
    is_open: bool
    is_safe: bool
    confirms: bool = False


class TypingStep(NamedTuple):
    """The bytes that are to be written now, and the outcome once there is one."""

    write: bytes = b""
    outcome: TypingOutcome | None = None


class _Phase(StrEnum):
    FREE = "free"
    TYPED = "typed"
    ENTERED = "entered"
    STUCK = "stuck"


_NOTHING = TypingStep()


@record
class Typist:
    """Types one text at a time."""

    screen: Screen
    keys: Keys
    _phase: _Phase = _Phase.FREE
    _text: str = ""
    _tail: str = ""
    _reads_lines: bool = False  # when it was typed
    _was_shown: bool = False
    _tokens_before: int = 0  # that stood for earlier pastes
    _since: float = 0.0  # when the phase began
    _shown: str = ""  # the screen when it last changed
    _shown_before: str = ""  # the screen before the text was typed, then before Enter was pressed
    _changed: float = 0.0
    _touched: float = field(default=float("-inf"))  # when the user last typed
    _presses: int = 0

    @property
    def is_free(self) -> bool:
        """True if another text can be begun."""
        return self._phase is _Phase.FREE

    def holds_keys(self, now: float) -> bool:
        """True if keys of the user have to wait, lest they fall into the middle of what is being
        typed.
        """
        return (
            self._phase in (_Phase.TYPED, _Phase.ENTERED)
            and now - self._since < HOLDING_SECONDS
            and (self._presses <= 1)
        )

    def may_begin(self, now: float, scene: Scene) -> bool:
        """True if a text can be typed now: an empty prompt has stood still, and nobody is typing."""
        self._look(now)
        if not self.is_free or not scene.is_open or not scene.is_safe:
            return False
        if scene.line.reads_lines and not scene.line.echoes:  # a password is asked for
            return False
        is_still = now - self._changed >= IDLE_SECONDS and now - self._touched >= PAUSE_SECONDS
        return is_still and not scene.line.unread_bytes and not self.keys.is_half_typed(self.screen)

    def begin(self, text: str, now: float, scene: Scene) -> bytes:
        """The bytes that have a text typed; `may_begin` has said that it can be."""
        assert self.is_free
        self._look(now)
        self._phase, self._text, self._since, self._presses = _Phase.TYPED, text, now, 0
        self._tail = squeezed(text)[-_TAIL_CHARACTERS:]
        self._reads_lines = scene.line.reads_lines
        self._was_shown = False
        self._shown_before = self._shown
        self._tokens_before = self._tokens()
        data = text.encode()
        return _PASTE_BEGIN + data + _PASTE_END if self.screen.takes_pastes else data

    def confirm(self) -> None:
        """The program has said that it took the text."""
        self._phase = _Phase.FREE

    def note_key(self, data: bytes, now: float) -> None:
        """The user has typed something."""
        self.keys.feed(data)
        self._touched = now

    def step(self, now: float, scene: Scene) -> TypingStep:
        """Look at the screen, and say what is to be done."""
        self._look(now)
        self._was_shown = self._was_shown or self._is_there()
        if self._phase is not _Phase.FREE and self._is_lost(now, scene):
            self._phase = _Phase.FREE
            return TypingStep(outcome=TypingOutcome.LOST)
        if self._phase is _Phase.TYPED:
            return self._after_text(now, scene)
        if self._phase is _Phase.ENTERED:
            return self._after_enter(now, scene)
        if self._phase is _Phase.STUCK and self._is_taken(scene):
            return self._end()
        return _NOTHING

    def _look(self, now: float) -> None:
        shown = squeezed("\n".join(self.screen.texts()))
        if shown != self._shown:
            self._shown, self._changed = shown, now

    def _is_lost(self, now: float, scene: Scene) -> bool:
        """True if the text is gone: its terminal was emptied, or a prompt is empty again without
        its being taken.
        """
        if self._reads_lines and not scene.line.reads_lines:
            return not scene.line.unread_bytes
        if self._is_there() or not scene.is_open or now - self._changed < IDLE_SECONDS:
            return False
        is_late = now - self._since >= (CONFIRM_SECONDS if scene.confirms else ECHO_SECONDS)
        return is_late and (scene.confirms or not self._was_shown) and not scene.line.reads_lines

    def _after_text(self, now: float, scene: Scene) -> TypingStep:
        is_shown = self._shown != self._shown_before and self._is_there()
        is_settled = now - max(self._changed, self._since) >= SETTLING_SECONDS
        if is_shown and is_settled and scene.is_safe:
            return self._press(now)
        is_late = now - self._since >= (
            READING_SECONDS if scene.line.unread_bytes else ECHO_SECONDS
        )
        return self._stuck() if is_late else _NOTHING

    def _press(self, now: float) -> TypingStep:
        if not self._presses:
            self._shown_before = self._shown
        self._phase, self._since, self._presses = _Phase.ENTERED, now, self._presses + 1
        return TypingStep(_ENTER)

    def _after_enter(self, now: float, scene: Scene) -> TypingStep:
        waited = now - self._since
        if waited >= SETTLING_SECONDS and self._is_taken(scene):
            return self._end()
        if scene.line.unread_bytes or scene.line.reads_lines:
            return self._stuck() if waited >= READING_SECONDS else _NOTHING
        # where a prompt is empty, there is nothing to be sent
        is_there = self._is_there() and not scene.is_open
        if waited < TAKING_SECONDS * self._presses or not is_there:
            return self._stuck() if waited >= CONFIRM_SECONDS else _NOTHING
        if self._presses >= MAX_ENTER_PRESSES or not scene.is_safe:
            return self._stuck()
        return self._press(now)

    def _is_taken(self, scene: Scene) -> bool:
        """True if the program has read everything and the text stands no more where it was typed."""
        if scene.line.unread_bytes or scene.confirms:
            return False
        if scene.line.reads_lines:
            return self._reads_lines
        if self._shown == self._shown_before or not self._was_shown:
            return False
        if not _has(self._shown_before, self._tail):  # it is shown as a placeholder
            return _DIGITS.sub("0", self._shown) != _DIGITS.sub("0", self._shown_before)
        return not self._is_there() or _below(self._shown, self._tail) != _below(
            self._shown_before, self._tail
        )

    def _is_there(self) -> bool:
        """True if the text is shown, itself or as what stands for a long paste."""
        return _has(self._shown, self._tail) or self._tokens() > self._tokens_before

    def _tokens(self) -> int:
        return len(_PASTE_TOKEN.findall(self._shown))

    def _stuck(self) -> TypingStep:
        if not self._presses:
            self._shown_before = self._shown
        self._phase = _Phase.STUCK
        return TypingStep(outcome=TypingOutcome.STUCK)

    def _end(self) -> TypingStep:
        self._phase = _Phase.FREE
        return TypingStep(outcome=TypingOutcome.TAKEN)


def squeezed(text: str) -> str:
    """The readable part of a text, so that it is the same however it is broken into lines."""
    return _UNREADABLE.sub("", text)


def _has(shown: str, tail: str) -> bool:
    return len(tail) >= _LEAST_TAIL_CHARACTERS and tail in shown


def _below(shown: str, tail: str) -> str:
    """The text below the place where something was typed; numbers that count on do not matter."""
    return _DIGITS.sub("0", shown.rpartition(tail)[2])
