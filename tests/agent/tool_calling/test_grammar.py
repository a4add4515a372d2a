"""Whatever the grammar allows is read as what it says, and names only what there is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tool_calling.gbnf import Grammar
from tests.agent.tool_calling.tools import PATHS, TOOLS, first_call

from tersely.agent.models.protocol import Abilities
from tersely.agent.tool_calling import (
    CallFormat,
    PathTrie,
    ToolCall,
    call_format_of,
    call_instructions,
    constraint_for,
    written,
)
from tersely.agent.tool_calling.grammar import MAX_BLANK_LINES, grammar_for
from tersely.capabilities.declaration.declaration import Role

KNOWN = PathTrie(PATHS)
GRAMMAR = Grammar(grammar_for(TOOLS, KNOWN))
BY_NAME = {tool.name: tool for tool in TOOLS}


@st.composite
def answers(draw: st.DrawFn, rule: str = "root") -> str:
    return GRAMMAR.drawn(lambda least, most: draw(st.integers(least, most)), rule)


@given(answers("call"))
def test_every_call_of_the_grammar_is_read_and_valid(answer: str) -> None:
    call = first_call(answer, KNOWN, CallFormat.GRAMMAR)
    assert isinstance(call, ToolCall), call
    assert answer.startswith(f"<call {call.tool}>\n")
    for parameter in BY_NAME[call.tool].parameters:
        if parameter.role is Role.PATH:
            assert call.arguments[parameter.name] in KNOWN


@given(answers())
def test_an_answer_of_the_grammar_makes_a_call_or_none(answer: str) -> None:
    call = first_call(answer, KNOWN, CallFormat.GRAMMAR)
    assert isinstance(call, ToolCall) == answer.endswith("</call>") or call is None


@given(answers(), answers("call"))
def test_blank_lines_of_the_grammar_are_bounded(answer: str, call: str) -> None:
    for text in (answer, call):
        lines = ["x", *text.split("\n"), "x"]
        blank = "".join("x" if line.strip() else " " for line in lines)
        assert " " * (MAX_BLANK_LINES + 1) not in blank.removesuffix("x").rstrip()
        assert not any(line and not line.strip() for line in lines)


@given(answers("prose"))
def test_prose_of_the_grammar_makes_no_call(answer: str) -> None:
    assert first_call(answer, KNOWN, CallFormat.GRAMMAR) is None


@given(answers("call"))
def test_what_is_read_can_be_written_again(answer: str) -> None:
    call = first_call(answer, KNOWN, CallFormat.GRAMMAR)
    assert isinstance(call, ToolCall)
    again = first_call(written(BY_NAME[call.tool], call.arguments), KNOWN, CallFormat.GRAMMAR)
    assert isinstance(again, ToolCall)
    assert again.arguments == call.arguments


CODE = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"), max_size=60
)


@given(
    st.lists(CODE.filter(lambda line: line.strip() != "</call>"), max_size=8), st.integers(0, 10**6)
)
def test_raw_lines_come_back_as_they_are(lines: list[str], start: int) -> None:
    body = "".join(f"{line}\n" for line in lines)
    arguments: dict[str, Any] = {
        "path": "src/app.py",
        "start": start,
        "end": start + 1,
        "body": body,
    }
    call = first_call(
        "Here.\n" + written(BY_NAME["edit_lines"], arguments), KNOWN, CallFormat.GRAMMAR
    )
    assert isinstance(call, ToolCall)
    assert call.arguments == arguments


@given(
    st.sets(
        st.from_regex(r"[a-z]{1,3}(/[a-z.\"\\]{1,4}){0,3}", fullmatch=True), min_size=1, max_size=30
    ),
    st.data(),
)
def test_the_trie_allows_known_paths_and_no_others(files: set[str], data: st.DataObject) -> None:
    paths = PathTrie(files)
    grammar = Grammar(paths.rules)
    assert (
        grammar.drawn(lambda least, most: data.draw(st.integers(least, most)), "known-path")
        in paths
    )


def test_names_may_be_as_deep_as_they_like() -> None:
    paths = PathTrie("a" * length for length in range(1, 4_000))
    assert paths.rules.count("\n") == 3_999


def test_every_known_path_can_be_said() -> None:
    grammar = Grammar(KNOWN.rules)
    seen: set[str] = set()

    def walk(choices: tuple[int, ...] = ()) -> None:
        """Try every way through the alternatives."""
        left = list(choices)
        widths: list[int] = []

        def draw(least: int, most: int) -> int:
            if (least, most) == (1, 1):
                return 1
            widths.append(most)
            return left.pop(0) if left else 0

        seen.add(grammar.drawn(draw, "known-path"))
        for at in range(len(choices), len(widths)):
            for other in range(1, widths[at] + 1):
                walk((*choices, *[0] * (at - len(choices)), other))

    walk()
    assert seen == {*PATHS, ".", "src", "src/app", "tests"}


@pytest.mark.parametrize(
    ("can", "way"),
    [
        ({"grammar": True, "schema": True, "tools": True}, CallFormat.NATIVE),
        ({"grammar": True, "schema": True}, CallFormat.GRAMMAR),
        ({"schema": True}, CallFormat.SCHEMA),
        ({}, CallFormat.TEXT),
    ],
)
def test_the_surest_way_is_chosen(can: dict[str, bool], way: CallFormat) -> None:
    nothing = Abilities(grammar=False, schema=False, tools=False, window=0, model="", family="")
    abilities = nothing._replace(**can)
    constraint = constraint_for(TOOLS, call_format_of(abilities), KNOWN)
    assert call_format_of(abilities) is way
    assert bool(call_instructions(way)) is (way is not CallFormat.NATIVE)
    held = ({CallFormat.GRAMMAR}, {CallFormat.SCHEMA}, {CallFormat.NATIVE})
    assert [bool(part) for part in (constraint or ("", None, ()))[:3]] == [
        way in each for each in held
    ]
    assert constraint_for((), way, KNOWN) is None
