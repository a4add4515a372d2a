"""Calls as JSON, for servers that take a schema or tools but no grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tersely.agent.tools.declaration import Kind, Parameter, Tool
from tersely.foundation.limits import MAX_CALL_LINE_CHARACTERS

SAY, CALL, TOOL = "say", "call", "tool"


def envelope(tools: Sequence[Tool]) -> Mapping[str, Any]:
    """The schema of an answer: what is said, then a call or null."""
    calls: list[Mapping[str, Any]] = [_object({TOOL: _choice([tool.name])}, tool) for tool in tools]
    return {
        "type": "object",
        "properties": {SAY: {"type": "string"}, CALL: {"anyOf": [*calls, {"type": "null"}]}},
        "required": [SAY, CALL],
        "additionalProperties": False,
    }


def functions(tools: Sequence[Tool]) -> tuple[Mapping[str, Any], ...]:
    """The tools as functions, as OpenAI describes them."""
    return tuple({"name": tool.name, "description": tool.signature, "parameters": _object({}, tool)} for tool in tools)


def _object(first: Mapping[str, Any], tool: Tool) -> Mapping[str, Any]:
    properties = {**first, **{each.name: _value(each) for each in tool.parameters}}
    required = [*first, *(each.name for each in tool.parameters if each.required)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _choice(values: Sequence[str]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(values)}


def _value(parameter: Parameter) -> Mapping[str, Any]:
    if parameter.kind is Kind.INTEGER:
        return {"type": "integer", "minimum": 0}
    if parameter.kind is Kind.CHOICE:
        return _choice(parameter.choices)
    if parameter.kind is Kind.RAW:
        return {"type": "string"}
    most = min(parameter.most_characters, MAX_CALL_LINE_CHARACTERS)
    return {"type": "string", "minLength": 1, "maxLength": most}
