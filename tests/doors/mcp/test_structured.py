"""Answers as data, for clients that are programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.client.client import Client
from tests.cli.asking import as_repository
from tests.doors.mcp.conversing import converse, text_of
from tests.doors.mcp.test_stdio import MODES, of_stranger, questions

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.toolset import tool_name
from tersely.doors.mcp.tools import CALL
from tersely.foundation.limits import MAX_BUDGET_TOKENS

TEXTS = {"context", "diff_context", "map", "plan", "symbol_get", "symbol_slice"}


@pytest.mark.parametrize("mode", MODES)
def test_data_is_as_its_schema_says(shop: Path, mode: str) -> None:
    as_repository(shop)

    async def work(client: Client) -> None:
        listed = await client.list_tools(cache_mode="bypass")
        schemas = {tool.name: tool.output_schema for tool in listed.tools}
        without = set()
        for words, capability, given in questions():
            declared = {one.name for one in catalogue.load(capability).parameters}
            arguments = {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in of_stranger(given, declared).items()
            }
            name = tool_name(capability)
            answer = await client.call_tool(name, arguments)
            data = answer.structured_content
            assert (data is None) == (schemas[name] is None), words
            if data is None:
                without.add(name)
            else:
                assert schemas[name]["type"] == "object"
                jsonschema.validate(data, schemas[name])
            assert text_of(answer)
        assert without == TEXTS

    converse(work, "--structured", "--all-tools", mode=mode)


def test_data_has_what_the_text_says_and_the_text_is_the_same(shop: Path) -> None:
    asked = {"symbol": "checkout", "budget": MAX_BUDGET_TOKENS}
    texts = []

    async def structured(client: Client) -> None:
        answer = await client.call_tool("impact", asked)
        texts.append(text_of(answer))
        data: Any = answer.structured_content
        assert data["symbol"].endswith(":checkout")
        assert {call["caller"] for call in data["callers"]["items"]}
        assert all(name_of(call["caller"]) in texts[0] for call in data["callers"]["items"])
        through = await client.call_tool(CALL, {"tool": "impact", "arguments": asked})
        assert through.structured_content == data

    async def plain(client: Client) -> None:
        listed = await client.list_tools(cache_mode="bypass")
        assert not any(tool.output_schema for tool in listed.tools)
        answer = await client.call_tool("impact", asked)
        assert answer.structured_content is None
        texts.append(text_of(answer))

    converse(structured, "--structured")
    converse(plain)
    assert texts[0] == texts[1]


def name_of(symbol_id: str) -> str:
    return symbol_id.rpartition(":")[2]


def test_an_error_has_no_data(shop: Path) -> None:
    async def work(client: Client) -> None:
        answer = await client.call_tool("impact", {"symbol": "nobody"})
        assert answer.is_error
        assert answer.structured_content is None

    converse(work, "--structured")


def test_data_keep_to_a_budget_that_the_call_names(shop: Path) -> None:
    async def work(client: Client) -> None:
        answer = await client.call_tool("impact", {"symbol": "checkout", "budget": 40})
        assert answer.is_error
        assert "answer_too_large" in text_of(answer)
        assert not (await client.call_tool("impact", {"symbol": "checkout"})).is_error

    converse(work, "--structured")
