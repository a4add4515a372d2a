"""When a text is typed, and when it counts as taken: screens and times, no program."""

from __future__ import annotations

from tersely.protocols.terminal.screen import Screen
from tersely.wrapper.injection import (
    ECHO_SECONDS,
    MAX_ENTER_PRESSES,
    READING_SECONDS,
    STARTING_SECONDS,
    Line,
    Outcome,
    Typist,
)
from tersely.wrapper.keys import Keys

RAW, LINES, PASSWORD = Line(False, False, 0), Line(True, True, 0), Line(True, False, 0)
UNREAD = Line(False, False, 9)
TICK_SECONDS = 0.05


class Desk:
    """A typist at a screen, and a clock."""

    def __init__(self, shown: bytes = b"> ") -> None:
        self.screen = Screen(60, 10)
        self.screen.feed(shown)
        self.typist = Typist(self.screen, Keys(), 0.0)
        self.now = 0.0

    def passes(self, seconds: float, line: Line = RAW) -> list[bytes | Outcome]:
        """What is written, and what comes of it, in so many seconds."""
        done: list[bytes | Outcome] = []
        until = self.now + seconds
        while self.now < until:
            self.now += TICK_SECONDS
            step = self.typist.step(self.now, line)
            done += [step.write] if step.write else []
            done += [step.outcome] if step.outcome else []
        return done


def test_it_is_typed_shown_sent_and_gone() -> None:
    desk = Desk()
    desk.typist.begin("a message of ten words")
    assert desk.passes(1.0) == [b"a message of ten words"]
    desk.screen.feed(b"a message of ten words")
    assert desk.passes(0.5) == [b"\r"]
    desk.screen.feed(b"\x1b[2K\r< a message of ten words\r\n> ")
    assert desk.passes(0.5) == [Outcome.TAKEN]
    assert desk.typist.is_free


def test_a_newline_in_the_box_is_not_taken_for_sending() -> None:
    desk = Desk(b"> \r\n-----\r\nidle\x1b[1;3H")
    desk.typist.begin("a message of ten words")
    desk.passes(1.0)
    desk.screen.feed(b"a message of ten words")
    assert desk.passes(0.5) == [b"\r"]
    desk.screen.feed(b"\x1b[2;1H\x1b[J  \r\n-----\r\nidle\x1b[2;3H")
    assert desk.passes(12.0) == [b"\r"] * (MAX_ENTER_PRESSES - 1) + [Outcome.STUCK]
    assert not desk.typist.is_free
    desk.screen.feed(b"\x1b[H\x1b[J< a message of ten words\r\n> \r\n-----\r\nidle")
    assert desk.passes(0.5) == [Outcome.TAKEN]


def test_nothing_is_typed_before_its_time() -> None:
    assert Desk(b"").passes(1.0) == []
    starting = Desk(b"")
    starting.typist.begin("a message")
    assert starting.passes(STARTING_SECONDS - 1) == []
    assert starting.passes(2.0) == [b"a message"]
    asking = Desk(b"Password: ")
    asking.typist.begin("a message")
    assert asking.passes(5.0, PASSWORD) == []
    reading = Desk()
    reading.typist.begin("a message")
    assert reading.passes(5.0, UNREAD) == []
    typing = Desk()
    typing.typist.note_key(b"half", 0.0)
    typing.screen.feed(b"half")
    typing.typist.begin("a message")
    assert typing.passes(30.0) == []
    typing.typist.note_key(b"\x7f\x7f\x7f\x7f", typing.now)
    typing.screen.feed(b"\x1b[2K\r> ")
    assert typing.passes(3.0)[0] == b"a message"


def test_a_program_that_wants_to_know_of_pastes_is_told() -> None:
    desk = Desk(b"\x1b[?2004h> ")
    desk.typist.begin("two\nlines")
    assert desk.passes(1.0) == [b"\x1b[200~two\nlines\x1b[201~"]


def test_a_program_that_reads_lines_has_taken_what_it_has_read() -> None:
    desk = Desk()
    desk.typist.begin("a message")
    desk.passes(1.0, LINES)
    desk.screen.feed(b"a message")
    assert desk.passes(0.2, LINES) == [b"\r"]
    waiting = Line(True, True, 10)
    assert desk.passes(READING_SECONDS - 1, waiting) == []
    assert desk.passes(2.0, waiting) == [Outcome.STUCK]
    assert desk.passes(0.2, LINES) == [Outcome.TAKEN]


def test_what_is_not_shown_is_sent_all_the_same_and_looked_after() -> None:
    desk = Desk()
    desk.typist.begin("a message")
    desk.passes(1.0)
    assert desk.passes(ECHO_SECONDS + 1)[0] == b"\r"
    desk.screen.feed(b"\r\nanswer")
    assert desk.passes(0.5) == [Outcome.TAKEN]


def test_replies_of_the_terminal_and_single_keys_are_no_half_typed_text() -> None:
    desk = Desk()
    desk.typist.note_key(b"\x1b[?62;c\x1b[12;40R\x1b[I\x1b[<0;3;4M", 0.0)
    assert not desk.typist.keys.is_half_typed(desk.screen)
    desk.typist.note_key(b"jjy", 0.0)
    assert not desk.typist.keys.is_half_typed(desk.screen)
    desk.screen.feed(b"jjy")
    assert desk.typist.keys.is_half_typed(desk.screen)
    desk.typist.note_key(b"\x1b\r", 0.0)
    desk.typist.note_key(b"\x1b[200~more\rlines\x1b[201~", 0.0)
    desk.screen.feed(b"more lines")
    assert desk.typist.keys.is_half_typed(desk.screen)
    desk.typist.note_key(b"\r", 0.0)
    assert not desk.typist.keys.is_half_typed(desk.screen)
