"""Calls as JSON, for servers that take a schema or tools but no grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tersely.agent.calling.paths import Paths
from tersely.agent.tools.declaration import Kind, Parameter, Tool
from tersely.foundation.limits import MAX_CALL_LINE_CHARACTERS

MAX_LISTED_PATHS = 200  # that a JSON schema lists: its reader compares them one after the other
SAY, CALL, TOOL = "say", "call", "tool"


def envelope(tools: Sequence[Tool], paths: Paths | None) -> Mapping[str, Any]:
    """The schema of an answer: what is said, then a call or null."""
    calls: list[Mapping[str, Any]] = [_object({TOOL: {"const": tool.name}}, tool, paths) for tool in tools]
    return {
        "type": "object",
        "properties": {SAY: {"type": "string"}, CALL: {"anyOf": [*calls, {"type": "null"}]}},
        "required": [SAY, CALL],
        "additionalProperties": False,
    }


def functions(tools: Sequence[Tool], paths: Paths | None) -> tuple[Mapping[str, Any], ...]:
    """The tools as functions, as OpenAI describes them."""
    return tuple(
        {"name": tool.name, "description": tool.signature, "parameters": _object({}, tool, paths)} for tool in tools
    )


def _object(first: Mapping[str, Any], tool: Tool, paths: Paths | None) -> Mapping[str, Any]:
    properties = {**first, **{each.name: _value(each, paths) for each in tool.parameters}}
    required = [*first, *(each.name for each in tool.parameters if each.required)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _value(parameter: Parameter, paths: Paths | None) -> Mapping[str, Any]:
    if parameter.kind is Kind.INTEGER:
        return {"type": "integer", "minimum": 0}
    if parameter.kind is Kind.CHOICE:
        return {"enum": list(parameter.choices)}
    if parameter.kind is Kind.RAW:
        return {"type": "string"}
    is_listed = parameter.kind is Kind.PATH and not parameter.is_new and paths is not None
    if is_listed and paths is not None and len(paths) <= MAX_LISTED_PATHS:
        return {"enum": list(paths)}
    most = min(parameter.most_characters, MAX_CALL_LINE_CHARACTERS)
    return {"type": "string", "minLength": 1, "maxLength": most}
