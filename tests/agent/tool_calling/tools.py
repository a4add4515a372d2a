"""Tools of the shapes that there are, which do nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from tersely.agent.tool_calling import CallFormat, MalformedCall, PathTrie, ToolCall, read_calls
from tersely.agent.tools.declaration import AgentTool, Observation
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities.declaration.declaration import Effect, Parameter, Role

PATHS = (
    "README.md",
    "src/app.py",
    "src/app/views.py",
    "src/application.py",
    "tests/test_app.py",
    'odd "name" \\ ü.txt',
)


def first_call(text: str, paths: PathTrie, way: CallFormat) -> ToolCall | MalformedCall | None:
    """The first call of an answer, None where it makes none."""
    return next(iter(read_calls(text, TOOLS, paths, way).calls), None)


async def nothing(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    return Observation("")


def tool(name: str, summary: str, *parameters: Parameter) -> AgentTool:
    return AgentTool(name, summary, parameters, Effect.READ, nothing)


class Kind(StrEnum):
    TEXT = "text"
    SYMBOL = "symbol"
    MEANING = "Meaning"


def lines(name: str, most: int) -> Parameter:
    return Parameter(name, role=Role.CONTENT, maximum=most)


PATH, BODY = Parameter("path", role=Role.PATH), lines("body", 2_000)
TOOLS = (
    tool("read", "shows lines", PATH, Parameter("start", int, required=False), Parameter("end", int, required=False)),
    tool("search", "finds code", Parameter("query", maximum=40), Parameter("kind", Kind, required=False)),
    tool("show", "shows a symbol", Parameter("symbol", role=Role.SYMBOL)),
    tool("edit_lines", "puts body in place of lines", BODY, PATH, Parameter("start", int), Parameter("end", int)),
    tool("swap", "puts text in place of text", PATH, lines("search", 900), lines("replace", 900)),
    tool("create", "makes a file", Parameter("path", role=Role.NEW_PATH), BODY),
    replace(tool("tidy", "takes no arguments"), effect=Effect.WRITE),
)  # fmt: skip
