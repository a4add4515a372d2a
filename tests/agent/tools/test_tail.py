"""What a command has printed so far: its last lines, harmless, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.agent.tools.observation import MAX_OBSERVED_LINE_CHARACTERS
from tersely.agent.tools.running.tail import MAX_PROGRESS_BYTES, MAX_PROGRESS_LINES, Tail
from tersely.foundation.text.escape import visible


def tail_of(*chunks: bytes) -> str:
    tail = Tail()
    for chunk in chunks:
        tail.add(chunk)
    return tail.text()


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([b"one\n", b"two\n"], "one\ntwo"),
        ([b"10%\r", b"20%\r", b"30%"], "30%"),
        ([b"\x1b[2J\x1b[31mred\x1b[0m", b"\x1b]0;title\x07"], "red"),
        (["é".encode()[:1], "é".encode()[1:]], "é"),
        (["\u202eabc".encode()], "\\u202eabc"),
        (
            [b"".join(b"%d\n" % number for number in range(100))],
            "\n".join(map(str, range(90, 100))),
        ),
    ],
)
def test_the_last_lines_as_they_stand_in_a_terminal(chunks: list[bytes], text: str) -> None:
    assert tail_of(*chunks) == text


def test_of_a_line_whose_beginning_is_gone_nothing_is_shown() -> None:
    assert tail_of(b"x" * MAX_PROGRESS_BYTES, b"yyy\nlast") == "last"


@given(st.lists(st.binary(max_size=3 * MAX_PROGRESS_BYTES), max_size=4))
def test_whatever_comes_it_is_bounded_and_harmless(chunks: list[bytes]) -> None:
    text = tail_of(*chunks)
    lines = text.split("\n")
    assert len(lines) <= MAX_PROGRESS_LINES
    assert max(map(len, lines)) <= MAX_OBSERVED_LINE_CHARACTERS + len("… +10,000 characters")
    assert visible(text) == text


def test_it_says_whether_something_has_come() -> None:
    tail = Tail()
    assert not tail.is_new
    tail.add(b"one")
    assert tail.is_new
    assert tail.text() == "one"
    assert not tail.is_new
