"""Calls as models write them that were trained on other forms: JSON in tags or fences, functions, expressions."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tersely.agent.calling.form import Written
from tersely.agent.tools.declaration import Tool

# Hermes and Qwen; Llama; Mistral; fences. Each shows where the JSON of a call is.
_TAGGED = re.compile(r"<(tool_call|function_call|tools?)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]+)>\s*(.*?)\s*(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_LISTED = re.compile(r"\[TOOL_CALLS\]\s*(.*)\Z", re.DOTALL)
_FENCED = re.compile(r"^[ \t]*```(?:json|tool_call|tool)?[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_NAMES, _ARGUMENTS = ("name", "tool", "function", "tool_name"), ("arguments", "parameters", "args", "input")


def read(text: str, tools: Sequence[Tool]) -> Written | None:
    """The call that stands in another form in a text, None where none does."""
    names = {tool.name for tool in tools}
    for found in _candidates(text):
        written = as_call(found)
        if written is not None:
            return written._replace(repairs=("read a call in another form",))
    return _expression(text, tools, names)


def _candidates(text: str) -> Iterator[Any]:
    """What may be a call, as values of JSON."""
    for name, content in _FUNCTION.findall(text):
        parameters = _PARAMETER.findall(content)
        yield {"name": name, "arguments": dict(parameters) if parameters else loads(content)}
    for pattern in (_TAGGED, _LISTED, _FENCED):
        for match in pattern.finditer(text):
            yield loads(match.group(match.lastindex or 1))
    opened = text.rfind("\n{") + 1
    if text[opened : opened + 1] == "{":
        yield loads(text[opened:])


def as_call(value: Any) -> Written | None:
    """A value of JSON as a call: `name` and `arguments`, or words of the same meaning; the first one of a list."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is None:
        return None
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(arguments, str):
        arguments = loads(arguments)
    if arguments is None:
        arguments = {key: each for key, each in value.items() if key not in _NAMES}
    return Written(name, arguments) if isinstance(arguments, Mapping) else None


def loads(text: str) -> Any:
    """JSON, also with commas before brackets, line breaks in texts, or Python's literals; None for anything else."""
    plain = text.strip()
    for attempt in (plain, _TRAILING_COMMA.sub(r"\1", plain)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _expression(text: str, tools: Sequence[Tool], names: set[str]) -> Written | None:
    """A last line such as `read("src/app.py", 3, 9)`, by itself or in backticks."""
    lines = [line for line in text.strip().split("\n") if not line.strip().startswith("```")]
    last = lines[-1].strip().strip("`").strip() if lines else ""
    if last.partition("(")[0] not in names or len(last) > 2_000:
        return None
    try:
        node = ast.parse(last, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        tool = next(each for each in tools if each.name == node.func.id)
        values = {
            parameter.name: ast.literal_eval(value)
            for parameter, value in zip(tool.parameters, node.args, strict=False)
        }
        values |= {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if len(node.args) > len(tool.parameters):
        return None
    return Written(tool.name, values, ("read a call in another form",))
