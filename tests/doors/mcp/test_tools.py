"""Which tools are listed, at what cost, and how all others are found."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect
from tersely.daemon.ndjson.spellings import SPELLINGS
from tersely.doors.mcp.quoted_values import unquoted
from tersely.doors.mcp.server import listed
from tersely.doors.mcp.tools import (
    ACT,
    CALL,
    CORE,
    MORE_TOOLS,
    OFFERED,
    more_tools,
    question,
    tool_name,
    tools,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count


def sent(*, all_tools: bool = False) -> str:
    """The tools as they go to a client."""
    return json.dumps(
        {"tools": [listed(tool) for tool in tools(all_tools=all_tools)]}, ensure_ascii=False
    )


def test_the_list_is_short() -> None:
    names = [tool.name for tool in tools()]
    assert names[-3:] == [MORE_TOOLS, CALL, ACT]
    assert len(names) - 3 <= 13
    assert count(sent(all_tools=True)) > 3 * count(sent())


def test_the_core_shows_parameters_that_there_are() -> None:
    for name, shown in CORE.items():
        assert set(shown) <= {one.name for one in catalogue.load(name).parameters}, name


def test_what_is_listed_as_reading_reads() -> None:
    reading = {tool.name: tool.only_reads for tool in tools(all_tools=True)}
    assert reading == {
        tool_name(one.name): one.effect is Effect.READ for one in catalogue.every(OFFERED)
    }
    pair = {tool.name: tool.only_reads for tool in tools() if tool.name in {CALL, ACT}}
    assert pair == {CALL: True, ACT: False}


@pytest.mark.parametrize(
    ("tool", "written", "meant"),
    [
        ("context", {"symbols": '["a", "b"]', "budget": "500"}, {"symbols": ["a", "b"], "budget": 500}),
        ("context", {"symbols": "a", "budget": 5}, {"symbols": "a", "budget": 5}),
        ("impact", {"symbol": "5", "depth": " 2 "}, {"symbol": "5", "depth": 2}),
        ("impact", {"symbol": '"f"', "depth": "2.0"}, {"symbol": '"f"', "depth": 2}),
        ("impact", {"symbol": "true", "depth": "two"}, {"symbol": "true", "depth": "two"}),
        ("search", {"query": "[1]", "store_in_cassette": "True"}, {"query": "[1]", "store_in_cassette": True}),
        ("send", {"to": "1", "body": "{}", "data": '{"a": "1"}'}, {"to": "1", "body": "{}", "data": {"a": "1"}}),
        ("coverage_rank_files", {"top_n": "7"}, {"top_n": 7}),
        ("send", {"to": "a", "body": "1", "queue": "FALSE"}, {"to": "a", "body": "1", "queue": False}),
        ("send", {"to": "a", "body": "null", "data": "None"}, {"to": "a", "body": "null", "data": None}),
    ],
)  # fmt: skip
def test_what_comes_in_quotes_is_what_its_parameter_takes(
    tool: str, written: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert question(tool, written).arguments == meant


PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(PLAIN_VALUES)
def test_what_a_value_is_in_quotes_is_found_again(value: Any) -> None:
    kinds = {type(None): "null", bool: "boolean", int: "integer", float: "number", list: "array",
             dict: "object", str: "string"}  # fmt: skip
    schema = {"properties": {"a": {"type": kinds[type(value)]}}}
    quoted = value if isinstance(value, str) else json.dumps(value)
    assert unquoted({"a": quoted}, schema) == {"a": value}
    assert unquoted({"a": value}, schema) == {"a": value}
    assert unquoted({"a": quoted}, {"properties": {"a": {"type": "string"}}}) == {"a": quoted}
    assert unquoted({"a": quoted}, {"properties": {"a": {}}}) == {"a": quoted}


@pytest.mark.parametrize(
    ("value", "kind", "meant"),
    [
        (300.0, "integer", 300),
        ("3e2", "integer", 300),
        ("300.0", ["integer", "null"], 300),
        ([1.0, "2.0"], "array", [1, 2]),
        (300.0, "number", 300.0),
        (300.5, "integer", 300.5),
        ("300.5", "integer", "300.5"),
        (float("inf"), "integer", float("inf")),
        ("1e999", "integer", "1e999"),
        (300.0, "string", 300.0),
        (1.0, "boolean", 1.0),
        (True, "integer", True),
    ],
)
def test_a_whole_number_is_one_however_it_is_written(value: Any, kind: Any, meant: Any) -> None:
    read = unquoted(value, {"type": kind, "items": {"type": "integer"}})
    assert repr(read) == repr(meant)


def test_what_only_reads_changes_nothing() -> None:
    with pytest.raises(TerselyError) as refusal:
        question(CALL, {"tool": "channels_join", "arguments": {"channel": "#dev"}})
    assert (refusal.value.code, refusal.value.hint) == ("not_permitted", f"call it through {ACT}")
    asked = question(ACT, {"tool": "channels_join", "arguments": {"channel": "#dev"}})
    assert asked == ("channel.join", {"channel": "#dev"})


def test_every_name_is_one_that_every_client_takes() -> None:
    names = [tool_name(name) for name in (*OFFERED, *(name for name in SPELLINGS if "." in name))]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,63}", name)


def test_every_capability_is_listed_or_found() -> None:
    listed = {tool.name for tool in tools()}
    found = set(re.findall(r"^(\w+)\(", more_tools({}), re.MULTILINE))
    assert listed.isdisjoint(found)
    assert {tool_name(name) for name in OFFERED} == (listed | found) - {MORE_TOOLS, CALL, ACT}
    assert {tool.name for tool in tools(all_tools=True)} == {tool_name(name) for name in OFFERED}


@pytest.mark.parametrize("name", OFFERED)
def test_what_a_tool_takes_is_told(name: str) -> None:
    page = more_tools({"tool": tool_name(name)})
    capability = catalogue.load(name)
    assert capability.summary in page
    for parameter in capability.parameters:
        line = rf"^{parameter.name}( \(required\))?: .*{re.escape(parameter.help)}$"
        is_offered = parameter.effect is Effect.READ and not parameter.hidden
        assert bool(re.search(line, page, re.MULTILINE)) is is_offered


@pytest.mark.parametrize(
    ("name", "arguments", "command", "given"),
    [
        ("context", {"symbols": ["f"]}, "code.context", {"symbols": ["f"]}),
        ("impact", {"symbol": "f"}, "code.impact", {"symbol": "f"}),
        (CALL, {"tool": "impact", "arguments": {"symbol": "f"}}, "code.impact", {"symbol": "f"}),
        (
            CALL,
            {"tool": "code.impact", "arguments": '{"symbol": "f"}'},
            "code.impact",
            {"symbol": "f"},
        ),
        (CALL, {"tool": "stats"}, "code.stats", {}),
        (CALL, {"tool": "stats", "budget": 9}, "code.stats", {"budget": 9}),
        (
            CALL,
            {"tool": "symbols.get", "arguments": {"symbol_id": "f"}},
            "symbols.get",
            {"symbol_id": "f"},
        ),
        (
            CALL,
            {"tool": "symbols_get", "arguments": {"symbol_id": "f"}},
            "symbols.get",
            {"symbol_id": "f"},
        ),
    ],
)
def test_a_call_asks(
    name: str, arguments: dict[str, Any], command: str, given: dict[str, Any]
) -> None:
    assert question(name, arguments) == (command, given)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"tool": "fly"}, "unknown_command"),
        ({"tool": CALL}, "unknown_command"),
        ({}, "invalid_argument"),
        ({"tool": 3}, "invalid_argument"),
        ({"tool": "stats", "arguments": [1]}, "invalid_argument"),
        ({"tool": "stats", "arguments": "{"}, "invalid_argument"),
        ({"tool": "stats", "arguments": "[" * 100_000}, "invalid_argument"),
        ({"tool": "stats", "speed": 1}, "invalid_argument"),
    ],
)
def test_what_is_no_call_is_refused(arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(TerselyError) as refusal:
        question(CALL, arguments)
    assert refusal.value.code == code
    assert refusal.value.hint
