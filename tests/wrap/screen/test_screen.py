"""The screen of a program as it is read from tmux."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.wrap.screens import needs_tmux

from tersely.wrap.screen.screen import Screen, ScreenEvent, ScreenRow

COLUMNS, ROWS = 30, 8
PIECES = [
    "hello", "日本語", "x" * 35, "e\u0301", "a line that is longer than it", "🙂", "\r\n", "\r\n", "\r", "\t", "\x1bM",
    "\x1b[2;6r", "\x1b[31m", "\x1b]0;->relay:Eve title\x07", "\x1b[?25l", "\x1b[2J", "\x1b[H\x1b[J", "\x1b[3J",
    "\x1b[K", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4;15H", "\x1b[6n", "\x1b[?2004h", "\x1bc",
]  # fmt: skip


@pytest.fixture
def screen() -> Iterator[Screen]:
    with closing(Screen(COLUMNS, ROWS)) as opened:
        if opened.is_blind:
            pytest.skip("there is no tmux")
        yield opened


@needs_tmux
@settings(max_examples=examples())
@given(st.lists(st.sampled_from(PIECES), max_size=20), st.data())
def test_any_split_shows_the_same(pieces: list[str], data: st.DataObject) -> None:
    whole, at = "".join(pieces).encode(), 0
    with closing(Screen(COLUMNS, ROWS)) as split, closing(Screen(COLUMNS, ROWS)) as once:
        once.feed(whole)
        while at < len(whole):
            size = data.draw(st.integers(1, len(whole) - at))
            split.feed(whole[at : at + size])
            at += size
        assert split.texts() == once.texts()
        assert split.main.rows == once.main.rows
        assert split.main.left == once.main.left
        assert split.takes_pastes == once.takes_pastes
        assert split.before_cursor() == once.before_cursor()


@needs_tmux
@settings(max_examples=examples())
@given(st.binary(max_size=300), st.integers(0, 5), st.integers(0, 5))
def test_any_bytes_are_taken(data: bytes, columns: int, rows: int) -> None:
    with closing(Screen(columns, rows)) as screen:
        screen.feed(data)
        screen.resize(rows + 1, columns + 1)
        screen.feed(data)
        assert len(screen.texts()) == columns + 1


def test_a_line_that_the_terminal_breaks_is_one_line(screen: Screen) -> None:
    screen.feed(b"x" * 35 + b"\r\nshort\r\n" + "漢".encode() * 20)
    assert screen.main.rows[:5] == [
        ScreenRow("x" * 30, True),
        ScreenRow("x" * 5, False),
        ScreenRow("short", False),
        ScreenRow("漢" * 15, True),
        ScreenRow("漢" * 5, False),
    ]
    assert screen.before_cursor() == "漢" * 20


def test_rows_that_scroll_away_are_told_on_the_main_screen_alone(screen: Screen) -> None:
    screen.feed(b"line\r\n" * 10)
    assert screen.main.left == [ScreenRow("line", False)] * 3
    screen.feed(b"\x1b[?1049h" + b"line\r\n" * 10)
    assert len(screen.main.left) == 3
    assert screen.main.rows[0] == ScreenRow("line", False)
    screen.feed(b"\x1b[?1049l")
    assert screen.texts()[0] == "line"
    assert screen.main.scrolled_rows == 3


def test_no_row_is_lost_of_much_that_comes_at_once(screen: Screen) -> None:
    screen.feed(b"\n" * 200_000)
    assert screen.main.scrolled_rows == 200_000 - ROWS + 1


def test_what_was_erased_is_told_before_what_follows(screen: Screen) -> None:
    screen.feed(b"line\r\n" * 8 + b"\x1b[2J\x1b[3J\x1b[H" + b"line\r\n" * 8)
    assert screen.main.left == [
        ScreenRow("line", False),
        ScreenEvent.CLEARED,
        ScreenRow("line", False),
    ]


def test_answers_of_the_terminal_are_not_shown(screen: Screen) -> None:
    screen.feed(b"a\x1b[6n\x1b[c" * 1_000 + b"\x1b[2J\x1b[Hb")
    assert "".join(screen.texts()) == "b"


def test_without_tmux_nothing_stands_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    screen = Screen(COLUMNS, ROWS)
    screen.feed(b"hello\x1b[?2004h")
    screen.resize(10, 5)
    assert (screen.is_blind, screen.texts(), screen.before_cursor()) == (True, [], "")
    assert screen.takes_pastes


def test_a_tmux_that_ends_leaves_a_screen_on_which_nothing_stands(screen: Screen) -> None:
    screen.feed(b"hello")
    assert screen._tmux is not None
    ((pid,),) = screen._tmux.ask("display-message -p '#{pid}'")
    os.kill(int(pid), signal.SIGKILL)
    screen.feed(b"more")
    assert (screen.is_blind, screen.texts()) == (True, [])
    gc.collect()  # and nothing is left open
