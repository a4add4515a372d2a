"""The screen of a program as tmux has it: its rows, where the cursor is, and what has scrolled away.

tmux is the emulator: a session that nobody is attached to has one pane, to whose terminal goes what
the program writes. A client in control mode tells how much of it tmux has taken, and captures what
stands there (tmux(1), "Control mode"). The session ends with its client, whatever ends that.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import termios
import tty
import unicodedata
from contextlib import suppress
from enum import Enum, auto
from itertools import islice
from select import select
from typing import NamedTuple

MAX_SCREEN_CELLS = 1_000  # of columns, and of rows
MAX_FED_BYTES = 65_536  # between two looks; each may be the end of a row
MAX_HISTORY_ROWS = 70_000  # that have scrolled away since the last look
MAX_CLEARED = 64  # times that a screen is looked at before it is cleared, of what is fed at once
MAX_HELD_BYTES = 64  # of a sequence that has not come whole
TMUX_SECONDS = 20.0  # for tmux to take what it was given, or to answer
TMUX_END_SECONDS = 2.0
_READ_BYTES = 1 << 20
_PASSED = ("PATH", "HOME", "TMUX_TMPDIR")
_OCTAL = re.compile(rb"\\[0-7]{3}")  # a byte in what tmux tells of a pane's output
_BEGUN = re.compile(rb"\x1b(?:\[[0-9;?]*)?\Z")
_PASTES = re.compile(rb"\x1b\[\?(?:\d+;)*2004(?:;\d+)*([hl])|\x1bc")
_CLEARS = re.compile(rb"\x1b\[0?J|(?P<all>\x1b\[[23]J|\x1bc)+")  # the first from the cursor on
# It ends with who reads, however that ends: tmux waits for who takes what it has still to tell.
_PANE = "while kill -0 {} 2>/dev/null; do sleep 2; done; kill -9 $PPID"
_OPTIONS = {
    "status": "off",
    "destroy-unattached": "on",
    "scroll-on-clear": "off",
    "set-clipboard": "off",
    "window-size": "manual",
}
_SIZE = "resize-window -x {} -y {}"
_STATE = "display-message -p '#{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on}'"
_CAPTURE = "capture-pane -p -N -S - ; capture-pane -p -J -S -"
_CAPTURE_MAIN = "capture-pane -a -p -N ; capture-pane -a -p -J"  # while the alternate one is shown
_FAILURES = (OSError, EOFError, TimeoutError, ValueError, IndexError, termios.error)
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})

Lines = list[str]


class ScreenEvent(Enum):
    """The changes of the rows beside rows leaving."""

    CLEARED = auto()  # everything was erased at once: what follows may be a repetition


class ScreenRow(NamedTuple):
    """One row without the blanks at its end, and whether the next row goes on with its line."""

    text: str
    is_continued: bool


class Buffer:
    """The rows of the main or of the alternate screen, with the cursor's."""

    def __init__(self) -> None:
        self.rows: list[ScreenRow] = []
        self.y = 0
        self.scrolled_rows = 0  # that have left since the beginning
        self.left: list[ScreenRow | ScreenEvent] = []  # since somebody looked


class Screen:
    """A terminal that a program writes to; close it. Without tmux, or once that fails, it is
    `is_blind`: nothing stands there.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.height = _within_bounds(columns, rows)
        self.main, self.alternate = Buffer(), Buffer()
        self.is_alternate = False  # a full-screen program has the alternate screen
        self.takes_pastes = False  # the program wants to be told what is pasted (bracketed paste)
        self.has_cursor = True  # it is shown
        self._x = 0
        self._held = b""
        self._tmux: _Tmux | None = None
        with suppress(*_FAILURES):
            self._tmux = _Tmux(self.columns, self.height)
        self._look()

    @property
    def is_blind(self) -> bool:
        """True if there is no tmux to ask."""
        return self._tmux is None

    @property
    def shown(self) -> Buffer:
        """The rows that are shown."""
        return self.alternate if self.is_alternate else self.main

    def texts(self) -> Lines:
        """The texts of the rows that are shown."""
        return [row.text for row in self.shown.rows]

    def before_cursor(self) -> str:
        """The text of the cursor's line up to the cursor, all rows of it."""
        rows, first = self.shown.rows, self.shown.y
        if not rows:
            return ""
        while first > 0 and rows[first - 1].is_continued:
            first -= 1
        above = "".join(_of_width(row.text, self.columns) for row in rows[first : self.shown.y])
        return above + _of_width(rows[self.shown.y].text, self._x)

    def feed(self, data: bytes) -> None:
        """Take what the program writes."""
        data = self._held + data
        begun = _BEGUN.search(data[-MAX_HELD_BYTES:])
        self._held = begun[0] if begun else b""
        data = data[: len(data) - len(self._held)]
        at = 0
        for found in islice(_CLEARS.finditer(data), MAX_CLEARED):
            self._take(data[at : found.start()])
            at = found.start()
            is_all = found["all"] is not None or not (self._x or self.shown.y)
            is_new = self.main.left[-1:] != [ScreenEvent.CLEARED]
            if is_all and is_new and not self.is_alternate:
                self.main.left.append(ScreenEvent.CLEARED)
        self._take(data[at:])

    def resize(self, columns: int, rows: int) -> None:
        """Take another size; the program is expected to draw again what matters."""
        self.columns, self.height = _within_bounds(columns, rows)
        self._try(_SIZE.format(self.columns, self.height))
        self._look()

    def close(self) -> None:
        """End tmux."""
        tmux, self._tmux = self._tmux, None
        if tmux is not None:
            tmux.close()

    def _take(self, data: bytes) -> None:
        for at in range(0, len(data), MAX_FED_BYTES):
            part = data[at : at + MAX_FED_BYTES]
            for found in _PASTES.finditer(part):
                self.takes_pastes = found[1] == b"h"
            if self._tmux is not None:
                try:
                    self._tmux.write(part)
                except _FAILURES:
                    self.close()
            self._look()

    def _try(self, command: str) -> list[Lines]:
        """The answers to commands; none where tmux fails."""
        if self._tmux is None:
            return []
        try:
            return self._tmux.ask(command)
        except _FAILURES:
            self.close()
            return []

    def _look(self) -> None:
        """Read what stands there, and what has scrolled away since the last time."""
        answers = self._try(f"{_STATE} ; {_CAPTURE} ; clear-history")
        if not answers:
            self.main.rows, self.alternate.rows = [], []
            return
        self._x, y, has_cursor, is_alternate = map(int, answers[0][0].split())
        self.has_cursor, self.is_alternate = bool(has_cursor), bool(is_alternate)
        rows = self._rows(answers[1], answers[2])
        first = max(0, len(rows) - self.height)
        self.main.left += rows[:first]
        self.main.scrolled_rows += first
        self.shown.rows, self.shown.y = rows[first:], y
        if self.is_alternate and (saved := self._try(_CAPTURE_MAIN)):
            self.main.rows = self._rows(*saved)

    def _rows(self, lines: Lines, joined: Lines) -> list[ScreenRow]:
        """Rows as they stand, of which tmux has also joined those that are one line."""
        rows: list[ScreenRow] = []
        whole = iter(joined)
        rest = ""
        for line in lines:
            rest = rest or next(whole, "")
            goes_on = len(rest) > len(line) and rest.startswith(line)
            rest = rest[len(line) :] if goes_on else ""
            # a row that was emptied may still be joined; a wide character leaves a cell free
            is_continued = goes_on and sum(map(_width, line)) >= self.columns - 1
            rows.append(ScreenRow(line.rstrip(), is_continued))
        return rows


class _Tmux:
    """A server of tmux with one pane, and the client that it is asked by."""

    def __init__(self, columns: int, rows: int) -> None:
        """Raises `OSError` where there is no tmux, and what `ask` does."""
        program = shutil.which("tmux")
        if program is None:
            raise FileNotFoundError("tmux")
        given = {name: os.environ[name] for name in _PASSED if name in os.environ}
        self._client = subprocess.Popen(
            [
                *(program, "-u", "-L", f"tersely-{secrets.token_hex(8)}", "-f", os.devnull, "-C"),
                *("start-server", ";", "set", "-g", "history-limit", str(MAX_HISTORY_ROWS), ";"),
                *("new-session", "-x", str(columns), "-y", str(rows), _PANE.format(os.getpid())),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            env={**given, "LC_ALL": "C.UTF-8", "TERM": "xterm", "SHELL": "/bin/sh"}, start_new_session=True,
        )  # fmt: skip
        self._terminal = -1
        self._part = b""  # of a line
        self._taken_bytes = 0
        self._block: list[bytes] | None = None  # an answer that has begun
        self._number = b""  # of that
        self._answers: list[Lines] = []
        try:
            self._open(columns, rows)
        except BaseException:
            self.close()
            raise

    def _open(self, columns: int, rows: int) -> None:
        os.set_blocking(self._output, False)
        self._wait(3)
        options = " ; ".join(f"set -g {name} {value}" for name, value in _OPTIONS.items())
        places = "display-message -p '#{socket_path}' ; display-message -p '#{pane_tty}'"
        *_, (socket,), (path,) = self.ask(f"{options} ; {_SIZE.format(columns, rows)} ; {places}")
        os.unlink(socket)  # nobody else is to ask it, and nothing is left of it
        self._terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._terminal)

    @property
    def _output(self) -> int:
        assert self._client.stdout is not None
        return self._client.stdout.fileno()

    @property
    def _input(self) -> int:
        assert self._client.stdin is not None
        return self._client.stdin.fileno()

    def write(self, data: bytes) -> None:
        """Have the pane show something; return when it does. Raises `EOFError`, `TimeoutError`."""
        view, wanted = memoryview(data), self._taken_bytes + len(data)
        while view:
            try:
                view = view[os.write(self._terminal, view) :]
            except BlockingIOError:
                self._read()
        while self._taken_bytes < wanted:
            self._read()
        termios.tcflush(self._terminal, termios.TCIFLUSH)  # what it answers to questions

    def ask(self, commands: str) -> list[Lines]:
        """The answers to commands with ` ; ` between them, as many; raises as `write` does."""
        os.write(self._input, f"{commands}\n".encode())
        return self._wait(commands.count(" ; ") + 1)

    def close(self) -> None:
        """End the session, and with it the client, whose last words are waited for."""
        assert self._client.stdin is not None
        assert self._client.stdout is not None
        self._client.stdin.close()
        with suppress(*_FAILURES):
            while True:
                self._read()
        self._client.stdout.close()
        if self._terminal >= 0:
            os.close(self._terminal)
        try:
            self._client.wait(TMUX_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._client.kill()
            self._client.wait()

    def _wait(self, count: int) -> list[Lines]:
        while len(self._answers) < count:
            self._read()
        answers, self._answers = self._answers, []
        return answers

    def _read(self) -> None:
        if not select([self._output], [], [], TMUX_SECONDS)[0]:
            raise TimeoutError
        data = os.read(self._output, _READ_BYTES)
        if not data:
            raise EOFError
        *lines, self._part = (self._part + data).split(b"\n")
        for line in lines:
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        kind, _, rest = line.partition(b" ")
        if self._block is not None:
            if kind in (b"%end", b"%error") and rest == self._number:
                self._answers.append([one.decode("utf-8", "replace") for one in self._block])
                self._block = None
            else:
                self._block.append(line)
        elif kind == b"%begin":
            self._block, self._number = [], rest
        elif kind == b"%output":
            self._taken_bytes += len(_OCTAL.sub(b" ", rest.partition(b" ")[2]))


def _of_width(text: str, cells: int) -> str:
    """The beginning of a text that takes so many cells, all of it with blanks where it has fewer."""
    taken = 0
    for at, character in enumerate(text):
        if taken >= cells and _width(character):
            return text[:at]
        taken += _width(character)
    return text + " " * (cells - taken)


def _width(character: str) -> int:
    """The cells of a character: 0 for what joins the one before it, 2 for wide ones, else 1."""
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _within_bounds(columns: int, rows: int) -> tuple[int, int]:
    """A size that there can be: terminals say 0 where they do not know theirs."""
    return min(columns or 80, MAX_SCREEN_CELLS), min(rows or 24, MAX_SCREEN_CELLS)
