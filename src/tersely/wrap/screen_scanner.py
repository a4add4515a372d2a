"""A screen watched for commands: each that has come to stand is told once, however often it is
drawn.

Programs write lines once, or draw the same lines again and again while they grow. So a row counts
once it stands: it has scrolled away, or it has not changed for a while. Rows are read in order.
Where one changes that was read before, the reader goes back to it; what was told of the rows below
is remembered together with the words before it, and is not told again when it reappears, wherever
that is.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from tersely.foundation.types import field, record
from tersely.wrap.inline import reading
from tersely.wrap.inline.commands import Command
from tersely.wrap.inline.reading import FoundCommand, ReaderState, ScreenLine
from tersely.wrap.screen.screen import Buffer, Screen, ScreenEvent

# told of one program, so that drawing them again is not saying them again
MAX_REMEMBERED_COMMANDS = 512
MAX_LINE_ROWS = 500  # of one line that a terminal has broken
QUIET_SECONDS = 0.4  # without any change, after which all rows stand
STANDING_SECONDS = 2.0  # without a change of its own, after which a row stands while others change
_CONTEXT_CHARACTERS = 16  # of the text before a command, by which it is known again


class _ToldCommand(NamedTuple):
    number: int
    command: Command
    context: str


@record
class _Seen:
    """A row as it was last looked at."""

    text: str
    is_continued: bool
    since: float


@record
class _ScanStep:
    """A line that was read: its first row, and where the reader was before it."""

    number: int
    state: ReaderState
    context: str


@record
class _Reading:
    """The progress of reading one buffer. Rows are numbered from the first that ever was."""

    seen: dict[int, _Seen] = field(default_factory=dict)
    steps: deque[_ScanStep] = field(default_factory=deque)  # of the rows that can still change
    next_row: int = 0
    state: ReaderState = reading.START
    context: str = ""
    cleared_row: int = 0  # the first on a screen that was erased: nothing stands before it
    told: deque[_ToldCommand] = field(default_factory=lambda: deque(maxlen=MAX_REMEMBERED_COMMANDS))
    vanished: deque[_ToldCommand] = field(
        default_factory=lambda: deque(maxlen=MAX_REMEMBERED_COMMANDS)
    )


class Watcher:
    """Reads what comes to stand on a screen; with a `marker`, lines without it are no commands."""

    def __init__(self, screen: Screen, marker: str = "") -> None:
        self._screen = screen
        self._main, self._alternate = (
            _Reading(state=ReaderState(marker)),
            _Reading(state=ReaderState(marker)),
        )
        self._changed = 0.0

    def look(self, now: float, *, is_over: bool = False) -> list[Command]:
        """The commands that stand and were not told before; with `is_over` whatever stands there."""
        commands = self._look(self._screen.main, self._main, now, is_over)
        if self._screen.is_alternate:
            commands += self._look(self._screen.alternate, self._alternate, now, is_over)
        return commands

    def _look(self, buffer: Buffer, done: _Reading, now: float, is_over: bool) -> list[Command]:
        commands: list[Command] = []
        number = buffer.scrolled_rows - sum(not isinstance(one, ScreenEvent) for one in buffer.left)
        for one in buffer.left:
            if isinstance(one, ScreenEvent):
                done.vanished.extend(done.told)
                done.told.clear()
                done.cleared_row = number
                continue
            self._note(done, number, one.text, one.is_continued, now)
            number += 1
            commands += self._read(done, number, number, is_over=False)
        buffer.left.clear()
        for row in buffer.rows:
            self._note(done, number, row.text, row.is_continued, now)
            number += 1
        for gone in [row for row in done.seen if row >= number]:
            del done.seen[gone]
        if done.next_row > number:
            _go_back(done, number)
        stands_to = self._standing(buffer, done, now, is_over)
        commands += self._read(done, stands_to, number, is_over=is_over)
        self._forget(done, buffer.scrolled_rows)
        return commands

    def _note(self, done: _Reading, number: int, text: str, is_continued: bool, now: float) -> None:
        seen = done.seen.get(number)
        if seen is not None and seen.text == text and seen.is_continued == is_continued:
            return
        done.seen[number] = _Seen(text, is_continued, now)
        if seen is not None or text:
            self._changed = now
        if number < done.next_row:
            _go_back(done, number)

    def _standing(self, buffer: Buffer, done: _Reading, now: float, is_over: bool) -> int:
        """The first row that may still change by itself. The cursor's line is being written."""
        end = buffer.scrolled_rows + len(buffer.rows)
        if is_over:
            return end
        writing = buffer.scrolled_rows + buffer.y
        while (
            writing > 0 and (seen := done.seen.get(writing - 1)) is not None and seen.is_continued
        ):
            writing -= 1
        is_hidden = not self._screen.has_cursor  # programs that draw hide it, and leave it anywhere
        if now - self._changed >= QUIET_SECONDS:
            return end if is_hidden else writing
        number = done.next_row
        while (
            number < end
            and now - done.seen[number].since >= STANDING_SECONDS
            and (is_hidden or number < writing)
        ):
            number += 1
        return number

    def _read(self, done: _Reading, stands_to: int, end: int, *, is_over: bool) -> list[Command]:
        """Read the whole lines before a row."""
        found: list[tuple[FoundCommand, str]] = []
        while done.next_row < stands_to:
            last = _end_of_line(done, end, is_over=is_over)
            if last is None or last >= stands_to:
                break
            text = "".join(
                _whole(done.seen[row], self._screen.columns)
                for row in range(done.next_row, last + 1)
            )
            if done.next_row == done.cleared_row:
                done.context = ""
            done.steps.append(_ScanStep(done.next_row, done.state, done.context))
            line = ScreenLine(text.rstrip(), done.next_row, self._screen.columns)
            done.state, more = reading.read(done.state, line)
            found += [(one, self._context_of(done, one)) for one in more]
            done.context = _tail(done.context + text)
            done.next_row = last + 1
        if is_over:
            found += [
                (one, self._context_of(done, one))
                for one in reading.finish(done.state, is_over=True)
            ]
        return [one.command for one, context in found if self._is_new(done, one, context)]

    def _context_of(self, done: _Reading, found: FoundCommand) -> str:
        for step in reversed(done.steps):
            if step.number <= found.number:
                return step.context
        return ""

    def _is_new(self, done: _Reading, found: FoundCommand, context: str) -> bool:
        told = _ToldCommand(found.number, found.command, context)
        if told in done.told:
            return False
        for one in done.vanished:
            # elsewhere rows have no numbers of their own
            is_there = one.number == found.number and done is self._main
            is_known = is_there or one.context.endswith(context) or context.endswith(one.context)
            if one.command == found.command and is_known:
                done.vanished.remove(one)
                done.told.append(told)
                return False
        done.told.append(told)
        return True

    def _forget(self, done: _Reading, first: int) -> None:
        """Rows that have scrolled away, and are read, cannot change."""
        for gone in [row for row in done.seen if row < min(first, done.next_row)]:
            del done.seen[gone]
        kept = min(first, done.state.open.number) if done.state.open is not None else first
        while len(done.steps) > 1 and done.steps[1].number <= kept:
            done.steps.popleft()


def _end_of_line(done: _Reading, end: int, *, is_over: bool) -> int | None:
    """The last row of the line that is to be read next, None where more of it may come."""
    last, most = done.next_row, done.next_row + MAX_LINE_ROWS
    while done.seen[last].is_continued and last + 1 < end and last < most:
        last += 1
    is_whole = is_over or not done.seen[last].is_continued or last >= most
    return last if is_whole else None


def _whole(seen: _Seen, columns: int) -> str:
    """A row with the blanks that belong to its line."""
    return seen.text.ljust(columns) if seen.is_continued else seen.text


def _tail(text: str) -> str:
    return "".join(text[-_CONTEXT_CHARACTERS * 8 :].split())[-_CONTEXT_CHARACTERS:]


def _go_back(done: _Reading, number: int) -> None:
    """Take the reader back to the line that a row is part of."""
    while done.steps:
        step = done.steps.pop()
        done.next_row, done.state, done.context = step.number, step.state, step.context
        if step.number <= number:
            break
    again = [one for one in done.told if one.number >= done.next_row]
    for one in again:
        done.told.remove(one)
        done.vanished.append(one)
