"""Calls as JSON, for servers that take a schema or tools but no grammar."""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.tools.declaration import AgentTool
from tersely.capabilities.declaration.binding import (
    closed_object,
    element_schema,
    object_schema,
    required_names,
)
from tersely.foundation.types import JsonMapping, JsonObject

SAY, CALL, TOOL = "say", "call", "tool"


def envelope(tools: Sequence[AgentTool]) -> JsonMapping:
    """The schema of an answer: what is said, then a call or null."""
    calls: list[JsonMapping] = [*map(_call, tools), {"type": "null"}]
    return closed_object({SAY: {"type": "string"}, CALL: {"anyOf": calls}}, [SAY, CALL])


def functions(tools: Sequence[AgentTool]) -> tuple[JsonMapping, ...]:
    """The tools as functions, as OpenAI describes them, in as few tokens as that takes: they stand
    in every prompt.
    """
    return tuple(map(_function, tools))


def _function(tool: AgentTool) -> JsonMapping:
    # names of parameters are declared; a tool of several forms needs all
    has_forms = "(" in tool.summary
    return {
        "name": tool.name,
        "description": tool.signature if has_forms else tool.summary,
        "parameters": object_schema(_properties(tool), required_names(tool.parameters)),
    }


def _call(tool: AgentTool) -> JsonMapping:
    named = {TOOL: {"type": "string", "enum": [tool.name]}}
    return closed_object({**named, **_properties(tool)}, [TOOL, *required_names(tool.parameters)])


def _properties(tool: AgentTool) -> JsonObject:
    return {each.name: element_schema(each) for each in tool.parameters}
