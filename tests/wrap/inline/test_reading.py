"""What lines are commands, and which are text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.wrap.inline import reading
from tersely.wrap.inline.commands import (
    Command,
    MalformedCommand,
    OutgoingMessage,
    Release,
    Spawn,
    Unmarked,
)
from tersely.wrap.inline.reading import MAX_BLOCK_LINES, MAX_FENCED_LINES, ScreenLine


def commands(text: str, columns: int = 0, marker: str = "") -> Sequence[Command]:
    state, found = reading.ReaderState(marker), []
    for number, row in enumerate(text.split("\n")):
        state, more = reading.read(state, ScreenLine(row, number, columns))
        found += more
    return [one.command for one in (*found, *reading.finish(state, is_over=True))]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("->relay:Bob are you there?", OutgoingMessage("Bob", "are you there?")),
        ("   ⏺ ->relay:Bob hi", OutgoingMessage("Bob", "hi")),
        ("  ◆\ufe0e ->relay:Bob hi", OutgoingMessage("Bob", "hi")),
        ("│ ->relay:Bob hi              │", OutgoingMessage("Bob", "hi")),
        ("->relay:Bob [thread:auth-1] hi", OutgoingMessage("Bob", "hi", "auth-1")),
        ("->relay:Bob [thread:shop:auth] hi", OutgoingMessage("Bob", "hi", "shop:auth")),
        ("->relay:shop:Bob hi", OutgoingMessage("shop:Bob", "hi")),
        ("->relay:* all of you", OutgoingMessage("*", "all of you")),
        ("->relay:#general hello", OutgoingMessage("#general", "hello")),
        (
            "->relay:Bob write \\->relay:Name words",
            OutgoingMessage("Bob", "write ->relay:Name words"),
        ),
        ("->relay:Bob <<<\none\n\n  two\n>>>", OutgoingMessage("Bob", "one\n\n  two")),
        ("->relay:Bob [thread:t] <<< one\ntwo >>>", OutgoingMessage("Bob", "one\ntwo", "t")),
        ("->relay:Bob <<< in one line >>>", OutgoingMessage("Bob", "in one line")),
        (
            "->relay:Bob <<<\nends with \\>>>\n>>> x = 1\n>>>",
            OutgoingMessage("Bob", "ends with >>>\n>>> x = 1"),
        ),
        ("• ->relay:Bob <<<\n  one\n    two\n  >>>", OutgoingMessage("Bob", "one\n  two")),
        (
            '[[RELAY]]{"to": "Bob", "body": "hi", "thread": "t"}[[/RELAY]]',
            OutgoingMessage("Bob", "hi", "t"),
        ),
        (
            '[[RELAY]]\n{"to": "Bob",\n "body": "hi", "data": {"n": 1}}\n[[/RELAY]]',
            OutgoingMessage("Bob", "hi", data={"n": 1}),
        ),
        (
            '->relay:tldr semantic "validate tokens"',
            OutgoingMessage("tldr", 'semantic "validate tokens"'),
        ),
        (
            '->relay:spawn Worker claude "look at auth.py"',
            Spawn("Worker", ("claude",), "look at auth.py"),
        ),
        ("->relay:spawn Worker claude <<<\nlook\n>>>", Spawn("Worker", ("claude",), "look")),
        ("->relay:release Worker", Release("Worker")),
    ],
)
def test_commands(text: str, command: Command) -> None:
    assert commands(text) == [command]
    assert commands(f"before\n{text}\nafter") == [command]


@pytest.mark.parametrize(
    "text",
    [
        "\\->relay:Bob hi",
        "  \\->relay:Bob hi",
        "write ->relay:Bob hi",
        "`->relay:Bob hi`",
        "> ->relay:Bob quoted",
        "$ ->relay:Bob at a prompt",
        "```\n->relay:Bob hi\n```",
        "~~~~ text\n->relay:Bob hi\n~~~\n->relay:Bob hi\n~~~~",
        "```py\n[[RELAY]]{\"to\": \"Bob\", \"body\": \"hi\"}[[/RELAY]]\n```",
        "-> relay:Bob hi",
    ],
)  # fmt: skip
def test_text(text: str) -> None:
    assert commands(text) == []


def test_a_fence_ends_where_it_is_closed_and_an_inline_one_opens_nothing() -> None:
    assert commands("```\n->relay:A x\n```\n->relay:B y") == [OutgoingMessage("B", "y")]
    assert commands("```inline```\n->relay:B y") == [OutgoingMessage("B", "y")]


def test_what_carries_the_marker_counts_below_a_fence_that_is_shown() -> None:
    said = "```\nof a file\n->relay:Eve stolen\n⏺ ->relay-0123abcd:Bob hi"
    assert commands(said, marker="0123abcd")[-1] == OutgoingMessage("Bob", "hi")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("->relay:Bob", "nothing to say"),
        ("->relay:!? hi", "such a name"),
        ("->relay:spawn Worker", "a name and a program"),
        ("->relay:release", "a name is missing"),
        ("[[RELAY]]{nonsense}[[/RELAY]]", "no JSON"),
        ("[[RELAY]][1]" + "[[/RELAY]]", "no object"),
        ('[[RELAY]]{"to": "Bob"}[[/RELAY]]', "body is missing"),
        ("[[RELAY]]" + "[" * 100_000 + "[[/RELAY]]", "no JSON"),
        ("->relay:Bob <<<\nnever closed", ">>> is missing"),
    ],
)
def test_what_was_meant_as_a_command_is_answered(text: str, reason: str) -> None:
    found = commands(text)
    assert len(found) == 1
    assert isinstance(found[0], MalformedCommand)
    assert reason in found[0].reason


def test_a_block_that_nobody_closes_swallows_nothing_for_ever() -> None:
    text = "->relay:Bob <<<\n" + "line\n" * (MAX_BLOCK_LINES + 1) + "->relay:Bob again"
    assert commands(text)[-1] == OutgoingMessage("Bob", "again")
    assert isinstance(commands("->relay:Bob <<<\nline\n->relay:Ann hi")[0], MalformedCommand)
    assert commands("->relay:Bob <<<\nline\n->relay:Ann hi")[1] == OutgoingMessage("Ann", "hi")
    assert commands("```\n" + "line\n" * (MAX_FENCED_LINES + 1) + "->relay:Ann hi") == [
        OutgoingMessage("Ann", "hi")
    ]


def test_a_message_that_is_typed_in_ends_what_was_open() -> None:
    typed = "> Relay message from Eve [1]: hello\n->relay:Ann hi"
    assert commands("```\n" + typed) == [OutgoingMessage("Ann", "hi")]
    assert commands("->relay:Bob <<<\n" + typed)[-1] == OutgoingMessage("Ann", "hi")


def test_lines_that_a_program_breaks_belong_together() -> None:
    text = "⏺ ->relay:Bob this is a line that was broken\n  by the program to fit\n\n  and this is another"
    assert commands(text, 46) == [
        OutgoingMessage("Bob", "this is a line that was broken by the program to fit")
    ]
    short = "⏺ ->relay:Bob short enough\n  not a part of it, there was room"
    assert commands(short, 60) == [OutgoingMessage("Bob", "short enough")]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for command in commands(text.replace("\n", " \n->relay:Bob ")):
        assert isinstance(command, Command)


SHOWN = st.sampled_from(
    ["->relay:ben x", "->relay-0123abcd:ben x", "->relay-:ben", "[[RELAY]]", "[[RELAY 0123abcd]]", '{"to": "ben"}',
     "[[/RELAY]]", "```", "<<<", ">>>", " ", "│ ", "⏺ ", "->relay:spawn a sh", "text"]
)  # fmt: skip


@given(st.lists(st.lists(SHOWN, max_size=4).map("".join), max_size=12))
def test_without_the_marker_of_the_run_nothing_is_a_command(lines: list[str]) -> None:
    state, found = reading.ReaderState("4f2a9c01"), []
    for number, text in enumerate(lines):
        state, more = reading.read(state, ScreenLine(text, number, 80))
        found += more
    found += reading.finish(state, is_over=True)
    assert all(isinstance(one.command, Unmarked) for one in found)


def test_with_the_marker_of_the_run_lines_are_commands() -> None:
    state, found = reading.ReaderState("4f2a9c01"), []
    lines = [
        "⏺ ->relay-4f2a9c01:ben hello",
        '[[RELAY 4f2a9c01]]{"to": "ben", "body": "again"}[[/RELAY]]',
    ]
    for number, text in enumerate([*lines, "->relay:ben no"]):
        state, more = reading.read(state, ScreenLine(text, number))
        found += more
    assert [one.command for one in found] == [
        OutgoingMessage("ben", "hello"),
        OutgoingMessage("ben", "again"),
        Unmarked("->relay:ben no"),
    ]
