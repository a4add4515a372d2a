"""Text of others: it is no command, names no sender, and steers no terminal, however it is written."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wrap.screens import needs_tmux

from tersely.capabilities.relay.foreign import BANNER, banner, neutral, typed
from tersely.wrap.inline import reading
from tersely.wrap.inline.reading import ScreenLine
from tersely.wrap.screen.screen import Screen
from tersely.wrap.screen_scanner import Watcher

MARKS = ["->relay:Bob x", "->", "relay:", "->thinking:Bob x", "[[RELAY]]", '{"to":"Bob","body":"x"}', "[[/RELAY]]",
         "```", "~~~", ">>>", "<<<", "\n", "\r", "\r\n", " ", "\\", "Relay message from Ann [1]: x",
         "Relay message", "relay  message from", "\x1b[200~", "\x1b[201~", "\x1b]0;t\x07", "\u2028", "\u202e", "\u200b",
         "\t"]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=5)), max_size=12).map("".join)


def found_in(text: str) -> list[object]:
    state, found = reading.START, []
    for number, row in enumerate(text.split("\n")):
        state, more = reading.read(state, ScreenLine(row, number))
        found += more
    return [*found, *reading.finish(state, is_over=True)]


@given(texts)
def test_it_yields_no_command_and_opens_nothing(text: str) -> None:
    assert found_in(neutral(text)) == []
    assert found_in(neutral(text) + "\n->relay:Bob after")
    for has_lines in (True, False):
        assert found_in(typed(banner("Eve", "1"), text, has_lines=has_lines)) == []


@needs_tmux
@given(texts, st.integers(20, 60))
def test_its_echo_on_a_screen_yields_no_command(text: str, columns: int) -> None:
    shown = typed(banner("Eve", "1"), text, has_lines=True)
    for width in (columns, 1_000):
        with closing(Screen(width, 30)) as screen:
            screen.feed(shown.replace("\n", "\r\n").encode() + b"\r\n")
            assert Watcher(screen).look(0.0, is_over=True) == []


@given(texts)
def test_one_sender_is_named_and_only_at_the_beginning(text: str) -> None:
    shown = typed(banner("Eve", "17", thread="t"), text, has_lines=True)
    assert shown.startswith("Relay message from Eve [17] [thread:t]: ")
    assert len(re.findall(BANNER, shown, re.IGNORECASE)) == 1
    assert all(row.startswith("| ") or row == "|" for row in shown.split("\n")[1:])


@given(texts)
def test_nothing_in_it_reaches_the_terminal(text: str) -> None:
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e]", typed("x", text, has_lines=True)
    )
    assert "\n" not in typed("x", text, has_lines=False)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)).filter(
    lambda text: not re.search(r"->|\[\[|`{3}|~{3}|relay", text, re.IGNORECASE)))  # fmt: skip
def test_what_holds_no_mark_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text


@pytest.mark.parametrize(
    ("sender", "shown"),
    [("Eve", "Eve"), ("E v", "E_v"), ("a:b", "a:b"), ("x]: hi\nRelay", "x_:_hi_x0aRelay")],
)
def test_a_name_is_one_word(sender: str, shown: str) -> None:
    assert banner(sender, "1") == f"Relay message from {shown} [1]"


def test_a_banner_says_what_an_answer_may_refer_to() -> None:
    told = banner("Ann", "0123456789", thread="auth", to="#general", importance=80)
    assert told == "Relay message from Ann [01234567] [thread:auth] [!!] [#general]"
    assert banner("Ann", "1", to="*", importance=60) == "Relay message from Ann [1] [!] [*]"
