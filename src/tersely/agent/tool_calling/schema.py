"""Calls as JSON, for servers that take a schema or tools but no grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tersely.agent.tools.declaration import Kind, Parameter, Tool

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
    """The tools as functions, as OpenAI describes them, in as few tokens as that takes: they stand
    in every prompt.
    """
    return tuple(map(_function, tools))


def _function(tool: Tool) -> Mapping[str, Any]:
    properties = {each.name: _value(each) for each in tool.parameters}
    required = [each.name for each in tool.parameters if each.required]
    parameters = {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }
    # names of parameters are declared; a tool of several forms needs all
    summary = tool.signature.partition(") ")[2]
    return {
        "name": tool.name,
        "description": tool.signature if "(" in summary else summary,
        "parameters": parameters,
    }


def _object(first: Mapping[str, Any], tool: Tool) -> Mapping[str, Any]:
    properties = {**first, **{each.name: _value(each) for each in tool.parameters}}
    required = [*first, *(each.name for each in tool.parameters if each.required)]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _choice(values: Sequence[str]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(values)}


def _value(parameter: Parameter) -> Mapping[str, Any]:
    if parameter.kind is Kind.INTEGER:
        return {"type": "integer"}
    if parameter.kind is Kind.CHOICE:
        return _choice(parameter.choices)
    return {"type": "string"}
