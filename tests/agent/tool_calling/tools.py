"""Tools of the shapes that there are, which do nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tersely.agent.tool_calling import Call, CallFormat, Malformed, PathTrie, read_calls
from tersely.agent.tools.declaration import Effect, Kind, Observation, Parameter, Tool
from tersely.agent.tools.toolbox import Toolbox

PATHS = (
    "README.md",
    "src/app.py",
    "src/app/views.py",
    "src/application.py",
    "tests/test_app.py",
    'odd "name" \\ ü.txt',
)


def first_call(text: str, paths: PathTrie, way: CallFormat) -> Call | Malformed | None:
    """The first call of an answer, None where it makes none."""
    return next(iter(read_calls(text, TOOLS, paths, way).calls), None)


async def nothing(toolbox: Toolbox, arguments: Mapping[str, Any]) -> Observation:
    return Observation("")


def tool(signature: str, *parameters: Parameter) -> Tool:
    return Tool(signature.partition("(")[0], 0, signature, parameters, Effect.READ, nothing)


BODY = Parameter("body", Kind.RAW, most_characters=2_000)
TOOLS = (
    tool("read(path, start?, end?) shows lines", Parameter("path", Kind.PATH), Parameter("start", Kind.INTEGER, False),
         Parameter("end", Kind.INTEGER, False)),
    tool("search(query, kind?) finds code", Parameter("query", most_characters=40),
         Parameter("kind", Kind.CHOICE, False, ("text", "symbol", "Meaning"))),
    tool("show(symbol) shows a symbol", Parameter("symbol", Kind.SYMBOL)),
    tool("edit_lines(path, start, end, body) puts body in place of lines", BODY, Parameter("path", Kind.PATH),
         Parameter("start", Kind.INTEGER), Parameter("end", Kind.INTEGER)),
    tool("swap(path, search, replace) puts text in place of text", Parameter("path", Kind.PATH),
         Parameter("search", Kind.RAW, most_characters=900), Parameter("replace", Kind.RAW, most_characters=900)),
    tool("create(path, body) makes a file", Parameter("path", Kind.PATH, is_new=True), BODY),
    tool("tidy() takes no arguments"),
)  # fmt: skip
