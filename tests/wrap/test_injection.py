"""When a text is typed, and when it counts as taken: screens and times, no program."""

from __future__ import annotations

from tests.wrap.screens import needs_tmux, opened

from tersely.wrap.delivery.injection import (
    CONFIRM_SECONDS,
    ECHO_SECONDS,
    IDLE_SECONDS,
    MAX_ENTER_PRESSES,
    READING_SECONDS,
    Scene,
    TerminalLine,
    TypingOutcome,
    Typist,
)
from tersely.wrap.delivery.keys import Keys

pytestmark = needs_tmux

RAW, LINES, PASSWORD = (
    TerminalLine(False, False, 0),
    TerminalLine(True, True, 0),
    TerminalLine(True, False, 0),
)
UNREAD = TerminalLine(False, False, 9)
TICK_SECONDS = 0.05
MESSAGE = "a message of ten words"


class Desk:
    """A typist at a screen, and a clock. A prompt waits and no dialog is shown, unless a test says
    otherwise.
    """

    def __init__(self, shown: bytes = b"> ") -> None:
        self.screen = opened(60, 10)
        self.screen.feed(shown)
        self.typist = Typist(self.screen, Keys())
        self.now = 0.0
        self.text = ""
        self.is_open, self.is_safe, self.confirms = True, True, False

    def passes(self, seconds: float, line: TerminalLine = RAW) -> list[bytes | TypingOutcome]:
        """What is written, and what comes of it, in so many seconds."""
        done: list[bytes | TypingOutcome] = []
        until = self.now + seconds
        while self.now < until:
            self.now += TICK_SECONDS
            scene = Scene(line, self.is_open, self.is_safe, self.confirms)
            if self.text and self.typist.may_begin(self.now, scene):
                done.append(self.typist.begin(self.text, self.now, scene))
                self.text = ""
                continue
            step = self.typist.step(self.now, scene)
            done += [step.write] if step.write else []
            done += [step.outcome] if step.outcome else []
        return done

    def types(self, text: str = MESSAGE, line: TerminalLine = RAW) -> list[bytes | TypingOutcome]:
        """Have a text typed, and shown in a prompt that is not empty any more."""
        self.text = text
        done = self.passes(1.0, line)
        self.screen.feed(text.encode())
        self.is_open = False
        return done


def test_it_is_typed_shown_sent_and_gone() -> None:
    desk = Desk()
    assert desk.types() == [MESSAGE.encode()]
    assert desk.passes(0.5) == [b"\r"]
    desk.screen.feed(b"\x1b[2K\r< a message of ten words\r\n> ")
    assert desk.passes(0.5) == [TypingOutcome.TAKEN]
    assert desk.typist.is_free


def test_a_newline_in_the_box_is_not_taken_for_sending() -> None:
    desk = Desk(b"> \r\n-----\r\nidle\x1b[1;3H")
    desk.types()
    assert desk.passes(0.5) == [b"\r"]
    desk.screen.feed(b"\x1b[2;1H\x1b[J  \r\n-----\r\nidle\x1b[2;3H")
    assert desk.passes(12.0) == [b"\r"] * (MAX_ENTER_PRESSES - 1) + [TypingOutcome.STUCK]
    assert not desk.typist.is_free
    desk.screen.feed(b"\x1b[H\x1b[J< a message of ten words\r\n> \r\n-----\r\nidle")
    assert desk.passes(0.5) == [TypingOutcome.TAKEN]


def test_nothing_is_typed_before_its_time() -> None:
    unknown = Desk(b"starting")
    unknown.text, unknown.is_open = MESSAGE, False
    assert unknown.passes(600.0) == []
    unknown.is_open = True
    assert unknown.passes(1.0) == [MESSAGE.encode()]
    asking = Desk(b"Password: ")
    asking.text = MESSAGE
    assert asking.passes(5.0, PASSWORD) == []
    reading = Desk()
    reading.text = MESSAGE
    assert reading.passes(5.0, UNREAD) == []
    typing = Desk()
    typing.typist.note_key(b"half", 0.0)
    typing.screen.feed(b"half")
    typing.text = MESSAGE
    assert typing.passes(30.0) == []
    typing.typist.note_key(b"\x7f\x7f\x7f\x7f", typing.now)
    typing.screen.feed(b"\x1b[2K\r> ")
    assert typing.passes(3.0)[0] == MESSAGE.encode()


def test_enter_is_never_pressed_into_a_dialog() -> None:
    desk = Desk()
    desk.types()
    desk.is_safe = False
    assert desk.passes(600.0) == [TypingOutcome.STUCK]


def test_a_text_that_is_not_shown_is_not_sent() -> None:
    desk = Desk()
    desk.text = MESSAGE
    desk.passes(1.0)
    desk.is_open = False
    assert desk.passes(600.0) == [TypingOutcome.STUCK]
    desk.is_open = True
    assert desk.passes(1.0) == [TypingOutcome.LOST]


def test_a_text_that_a_dialog_has_swallowed_is_typed_again() -> None:
    desk = Desk()
    desk.text = MESSAGE
    desk.passes(IDLE_SECONDS + 0.2)
    assert desk.passes(ECHO_SECONDS + 1) == [TypingOutcome.LOST]
    desk.text = MESSAGE
    assert desk.passes(1.0) == [MESSAGE.encode()]


def test_a_terminal_that_was_emptied_has_lost_the_text() -> None:
    desk = Desk(b"")
    desk.text = MESSAGE
    assert desk.passes(1.0, LINES) == [MESSAGE.encode()]
    assert desk.passes(0.2, RAW) == [TypingOutcome.LOST]


def test_a_program_that_says_what_it_takes_is_waited_for() -> None:
    desk = Desk()
    desk.confirms = True
    desk.types()
    assert desk.passes(0.5) == [b"\r"]
    desk.screen.feed(b"\x1b[2K\r> ")
    assert desk.passes(0.5) == []
    desk.typist.confirm()
    assert desk.typist.is_free
    swallowed = Desk()
    swallowed.confirms = True
    swallowed.types()
    swallowed.passes(0.5)
    swallowed.screen.feed(b"\x1b[2K\r> ")
    swallowed.is_open = True
    assert swallowed.passes(CONFIRM_SECONDS + 1) == [TypingOutcome.LOST]


def test_a_program_that_wants_to_know_of_pastes_is_told() -> None:
    desk = Desk(b"\x1b[?2004h> ")
    assert desk.types("two\nlines") == [b"\x1b[200~two\nlines\x1b[201~"]


def test_a_long_paste_that_is_shown_as_a_token_is_sent() -> None:
    desk = Desk(b"\x1b[?2004h> ")
    desk.text = MESSAGE
    desk.passes(1.0)
    desk.screen.feed(b"[Pasted text #1 +40 lines]")
    desk.is_open = False
    assert desk.passes(0.5) == [b"\r"]


def test_a_program_that_reads_lines_has_taken_what_it_has_read() -> None:
    desk = Desk()
    desk.types(line=LINES)
    assert desk.passes(0.2, LINES) == [b"\r"]
    waiting = TerminalLine(True, True, 10)
    assert desk.passes(READING_SECONDS - 1, waiting) == []
    assert desk.passes(2.0, waiting) == [TypingOutcome.STUCK]
    assert desk.passes(0.2, LINES) == [TypingOutcome.TAKEN]


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
