"""Commands are told once, however a program draws them."""

from __future__ import annotations

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st
from tests.wrap.screens import needs_tmux, opened

from tersely.wrap.inline.commands import Command, MalformedCommand, OutgoingMessage
from tersely.wrap.screen_scanner import QUIET_SECONDS, STANDING_SECONDS, Watcher

pytestmark = needs_tmux

HIDE, SHOW, CLEAR = b"\x1b[?25l", b"\x1b[?25h", b"\x1b[2J\x1b[3J\x1b[H"
LATER = QUIET_SECONDS * 2


class Watched:
    """A screen, its watcher and a clock."""

    def __init__(self, columns: int = 60, rows: int = 12) -> None:
        self.screen = opened(columns, rows)
        self.watcher = Watcher(self.screen)
        self.now = 0.0

    def look(self, data: bytes = b"", seconds: float = LATER) -> list[Command]:
        self.screen.feed(data)
        found = self.watcher.look(self.now)
        self.now += seconds
        return found + self.watcher.look(self.now)

    def close(self) -> None:
        self.screen.close()

    def end(self) -> list[Command]:
        return self.watcher.look(self.now, is_over=True)


def frame(lines: list[str], before: int) -> bytes:
    """What programs write that erase their rows and draw them again."""
    return (
        HIDE
        + b"\r"
        + (f"\x1b[{before - 1}A" if before > 1 else "").encode()
        + b"\x1b[J"
        + "\r\n".join(lines).encode()
    )


def test_a_line_counts_when_the_cursor_has_left_it() -> None:
    watched = Watched()
    assert watched.look(b"->relay:Bob hel") == []
    assert watched.look(b"lo\r\n") == [OutgoingMessage("Bob", "hello")]
    assert watched.look(b"->relay:Bob hello\r\n") == [OutgoingMessage("Bob", "hello")]
    assert watched.look(b"->relay:Bob unfinished") == []
    assert watched.end() == [OutgoingMessage("Bob", "unfinished")]


def test_a_line_that_grows_is_told_when_it_stands() -> None:
    watched, drawn, told = Watched(), 0, []
    for end in range(12, 24):
        lines = ["⏺ ->relay:Bob hello there"[:end], "", "> ", "working"]
        told += watched.look(frame(lines, drawn), seconds=0.05)
        drawn = len(lines)
    assert told == []
    told = watched.look(frame(["⏺ ->relay:Bob hello there", "", "> ", "idle"], drawn))
    assert told == [OutgoingMessage("Bob", "hello there")]


def test_a_line_that_stands_counts_although_others_change() -> None:
    watched, told, drawn, frames = Watched(), [], 0, 0
    while watched.now < STANDING_SECONDS * 2:
        lines = ["⏺ ->relay:Bob hi", "", "> ", "-\\|/"[frames % 4]]
        told += watched.look(frame(lines, drawn), seconds=0.1)
        drawn, frames = len(lines), frames + 1
    assert told == [OutgoingMessage("Bob", "hi")]


def test_drawing_a_line_again_elsewhere_is_not_saying_it_again() -> None:
    watched = Watched()
    assert watched.look(frame(["thinking", "some words", "⏺ ->relay:Bob hi", "", "> "], 0)) == [
        OutgoingMessage("Bob", "hi")
    ]
    assert watched.look(frame(["some words", "⏺ ->relay:Bob hi", "", "> "], 5)) == []
    more = ["some words", "⏺ ->relay:Bob hi", "more", "⏺ ->relay:Bob hi", "", "> "]
    assert watched.look(frame(more, 4)) == [OutgoingMessage("Bob", "hi")]


def test_clearing_and_drawing_everything_again_says_nothing_again() -> None:
    watched = Watched()
    lines = b"".join(b"words %d\r\n->relay:Bob ok\r\n" % number for number in range(30))
    assert len(watched.look(lines)) == 30
    assert watched.look(CLEAR + lines) == []
    watched.screen.resize(50, 10)
    assert watched.look(CLEAR + lines + b"words 30\r\n->relay:Bob ok\r\n") == [
        OutgoingMessage("Bob", "ok")
    ]


def test_a_full_screen_program_that_scrolls_says_nothing_again() -> None:
    watched = Watched(rows=6)
    watched.screen.feed(b"\x1b[?1049h" + HIDE)
    lines = [
        f"words {number}" if number % 3 else f"->relay:Bob ok {number}" for number in range(20)
    ]
    told: list[Command] = []
    for first in [*range(15), *range(15, 0, -1), *range(15)]:
        told += watched.look(b"\x1b[H\x1b[J" + "\r\n".join(lines[first : first + 6]).encode())
    assert told == [OutgoingMessage("Bob", f"ok {number}") for number in range(0, 20, 3)]


def test_a_line_that_the_terminal_breaks_is_one_line() -> None:
    watched = Watched(columns=20)
    words = "one two three four five six seven eight nine"
    assert watched.look(f"->relay:Bob {words}\r\n".encode()) == [OutgoingMessage("Bob", words)]
    assert watched.look(b"->relay:Bob " + b"long " * 200 + b"\r\n") == [
        OutgoingMessage("Bob", ("long " * 200).strip())
    ]


def test_a_block_in_many_rows_is_told_once() -> None:
    watched = Watched(rows=6)
    body = "\n".join(f"line {number}" for number in range(20))
    assert watched.look(f"->relay:Bob <<<\n{body}\n>>>\n".replace("\n", "\r\n").encode()) == [
        OutgoingMessage("Bob", body)
    ]
    assert watched.look(b"->relay:Bob <<<\r\nopen\r\n") == []
    assert [type(one) for one in watched.end()] == [MalformedCommand]


def test_a_line_without_an_end_takes_no_memory() -> None:
    watched = Watched()
    for _ in range(100):
        watched.look(b"x" * 5_000, seconds=0)
    assert len(watched.watcher._main.seen) < 2_000
    assert watched.look(b"\r\n->relay:Bob hi\r\n") == [OutgoingMessage("Bob", "hi")]


PIECES = [
    b"->relay:Bob hi", b"->relay:Ann [thread:t] ho", b"\r\n", b"\n", b"->relay:Bob <<<\r\n", b"\r\n>>>\r\n", b"words ",
    b"\x1b[31m", b"\x1b[0m", b"```\r\n", b"\\", "⏺ ".encode(), b"\x1b[K", b"\x1b]0;t\x07", CLEAR, b"\x1b[A", b"x" * 70,
    b"\x1b[?1049h", b"\x1b[?1049l", HIDE, SHOW, b"\r", b"[[RELAY]]", b'{"to":"A","body":"b"}', b"[[/RELAY]]",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.data())
def test_any_split_of_the_stream_gives_the_same_commands(
    pieces: list[bytes], data: st.DataObject
) -> None:
    whole, at = b"".join(pieces), 0
    told: list[Command] = []
    with closing(Watched()) as watched, closing(Watched()) as once:
        while at < len(whole):
            size = data.draw(st.integers(1, len(whole) - at))
            told += watched.look(whole[at : at + size], seconds=0)
            at += size
        told += watched.end()
        assert told == once.look(whole, seconds=0) + once.end()
