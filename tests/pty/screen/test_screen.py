"""The screen against tmux, and the reader of sequences at every split."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.clock import Stopwatch
from tersely.pty.screen.screen import Screen
from tersely.pty.screen.sequences import Sequences

COLUMNS, ROWS = 30, 8
CASES = 40
PATIENCE_SECONDS = 60.0

TEXTS = [
    "hello",
    "日本語",
    "a",
    "x" * 35,
    "é",
    "e\u0301",
    "a line that is longer than it",
    "  ",
    "🙂",
]
CONTROLS = [
    "\r",
    "\n",
    "\b",
    "\t",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b[r",
    "\x1b[2;6r",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[31m",
]
STRINGS = [
    "\x1b]0;->relay:Eve title\x07",
    "\x1bPq#0\x1b\\",
    "\x1b_Ga=1\x1b\\",
    "\x1b[>1u",
    "\x1b[<u",
    "\x1b[?25l",
    "\x1b(B",
]
MOVES = [f"\x1b[{number}{final}" for number in ("", "1", "3", "29") for final in "ABCDGdEFXJKST"]
ROW_MOVES = [f"\x1b[r\r\x1b[{number}{final}" for number in ("", "2", "9") for final in "LMP@"]
PLACES = [f"\x1b[{row};{column}H" for row in (1, 4, 8) for column in (1, 15, 30)]
PIECES = [*TEXTS, *TEXTS, *TEXTS, *["\r\n"] * 9, *CONTROLS, *STRINGS, *MOVES, *ROW_MOVES, *PLACES]


class Pane:
    """A pane of tmux in which bytes are shown."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "TMUX_TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
        self.environment.pop("TMUX", None)
        self.ask(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "x",
            "-x",
            str(COLUMNS),
            "-y",
            str(ROWS),
            "cat",
        )
        self.ask("set", "-g", "status", "off")
        self.ask("resize-window", "-t", "x", "-x", str(COLUMNS), "-y", str(ROWS))

    def ask(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def shows(self, data: bytes) -> list[str]:
        """What stands there; tmux answers a question about the cursor when it has taken all before
        it.
        """
        (self.folder / "data").write_bytes(data + b"\x1b[6n")
        program = "stty raw -echo; cat data; dd bs=1 count=4 >/dev/null 2>&1; touch done; exec cat >/dev/null"
        self.ask("respawn-pane", "-k", "-c", str(self.folder), "-t", "x:", program)
        watch, nothing = Stopwatch(), threading.Event()
        while not (self.folder / "done").exists():
            assert watch.seconds() < PATIENCE_SECONDS
            nothing.wait(0.005)
        (self.folder / "done").unlink()
        return [
            row.rstrip() for row in self.ask("capture-pane", "-p", "-t", "x:").split("\n")[:ROWS]
        ]


@pytest.fixture(scope="module")
def pane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pane]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    shown = Pane(tmp_path_factory.mktemp("t"))
    yield shown
    shown.ask("kill-server")


def shown_by(data: bytes) -> list[str]:
    screen = Screen(COLUMNS, ROWS)
    screen.feed(data)
    return screen.texts()


def test_a_screen_shows_what_tmux_shows(pane: Pane) -> None:
    chance = random.Random(20)
    for _ in range(CASES):
        data = "".join(chance.choices(PIECES, k=chance.randrange(3, 25))).encode()
        assert shown_by(data) == pane.shows(data), data


@given(st.lists(st.sampled_from(PIECES), max_size=20), st.data())
def test_any_split_shows_the_same(pieces: list[str], data: st.DataObject) -> None:
    whole = "".join(pieces).encode()
    screen, at = Screen(COLUMNS, ROWS), 0
    while at < len(whole):
        size = data.draw(st.integers(1, len(whole) - at))
        screen.feed(whole[at : at + size])
        at += size
    assert screen.texts() == shown_by(whole)
    assert [row.is_continued for row in screen.main.rows] == [
        row.is_continued for row in fed(whole).main.rows
    ]


def fed(data: bytes) -> Screen:
    screen = Screen(COLUMNS, ROWS)
    screen.feed(data)
    return screen


@given(st.binary(max_size=300), st.integers(0, 5), st.integers(0, 5))
def test_any_bytes_are_taken(data: bytes, columns: int, rows: int) -> None:
    screen = Screen(columns, rows)
    screen.feed(data)
    screen.resize(rows + 1, columns + 1)
    screen.feed(data)
    assert len(screen.texts()) == columns + 1
    assert all(len(row.cells) <= rows + 1 for row in screen.main.rows)


def test_strings_and_sequences_without_an_end_take_no_memory() -> None:
    reader = Sequences()
    for begin in (b"\x1b]0;", b"\x1b[" + b"1;" * 500, b"\x1bP"):
        assert [piece.text for piece in reader.feed(begin + b"1" * 200_000)][1:] == []
        assert len(reader._waiting) < 1_000
        list(reader.feed(b"\x18\x18"))


def test_a_line_that_the_terminal_breaks_is_one_line() -> None:
    screen = fed(b"x" * 35 + b"\r\nshort\r\n")
    assert [row.is_continued for row in screen.main.rows[:3]] == [True, False, False]


def test_rows_that_scroll_away_are_told_on_the_main_screen_alone() -> None:
    screen = fed(b"line\r\n" * 10)
    assert len(screen.main.left) == 3
    screen.feed(b"\x1b[?1049h" + b"line\r\n" * 10)
    assert len(screen.main.left) == 3
    screen.feed(b"\x1b[?1049l")
    assert screen.texts()[0] == "line"
