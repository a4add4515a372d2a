"""The payloads behind the markers of calls: JSON, fields in tags, Gemma's objects, expressions of
Python.

Each reader takes a text, the match of a marker in it and the tools by name, and returns the calls
of one payload and where it ends, None where there is none. A payload ends where its grammar does,
so code may hold what ends calls elsewhere.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tersely.agent.tool_calling.text_call_format import WrittenCall
from tersely.agent.tools.declaration import AgentTool
from tersely.capabilities.declaration.declaration import Role
from tersely.foundation.limits import MAX_MODEL_CALLS
from tersely.foundation.types import JsonMapping, JsonObject

MAX_REPAIRED_CHARACTERS = 20_000  # of JSON with quotation marks that are not escaped
MAX_EXPRESSION_CHARACTERS = 20_000  # of calls written in Python
SPACE = r"(?:\s|\]<\]\w{1,16}\[>\[){0,16}"  # white space, and what MiniMax M3 puts before each tag
# of tags; Kimi K3 has tokens
OPEN, CLOSE, END = r"(?:<\|open\|>|<)", r"(?:<\|close\|>|</)", r"(?:<\|sep\|>|>)"
_NAMES = ("name", "tool", "function", "tool_name", "function_name", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "params", "kwargs")
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "function", "action")
_NAMESPACES = ("functions.", "tools.", "default_api.")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_TEXT = re.compile(r'(:\s*)"((?:\\.|[^\\])*?)"(?=\s*(?:[}\]]|,\s*"\w+"\s*:))', re.DOTALL)
_BARE = re.compile(r'\\.|"', re.DOTALL)
_FENCE_END = re.compile(r"\s*(?:```)?\s*")
# what reading literals of Python raises for other text; TypeError for `{{}}`, a set of an object
NOT_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
_DECODER = json.JSONDecoder(strict=False)

Tools = Mapping[str, AgentTool]


class Read(NamedTuple):
    """The calls of one payload, and the index behind it."""

    calls: list[WrittenCall]
    end: int


# JSON: an object or a list, several of them one after the other, with the name inside or before it


def json_calls(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """Objects and lists, one after the other, that name their tools."""
    calls: list[WrittenCall] = []
    at = begun.end()
    while at < len(text) and text[at] in "[{":
        value, end = decoded(text, at)
        found = as_calls(value, tools)
        if not found:
            break
        calls += found
        between = re.compile(r"[\s,;]*").match(text, end)
        at = between.end() if between else end
    return Read(calls, at) if calls else None


def named_json(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """An object with the arguments of the tool whose name stands in the marker."""
    value, end = decoded(text, begun.end())
    if not isinstance(value, dict):
        return None
    name = plain_name(begun.group("name"))
    says_all = name not in tools or not names_parameters(value, tools[name])
    inside = as_calls(value, tools) if says_all else []
    return Read(inside or [WrittenCall(name, value)], end)


def plain_name(name: str) -> str:
    """A tool's name without what templates put around it."""
    for namespace in _NAMESPACES:
        name = name.removeprefix(namespace)
    return name.removesuffix(".call")


def decoded(text: str, at: int) -> tuple[Any, int]:
    """The value of JSON that begins at an index, and the index behind it; None where none does.

    Commas before brackets, line breaks in texts and Python's literals are read as well; and, up to
    the end of the text, quotation marks that were not escaped.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
        return value, end
    except (ValueError, RecursionError):
        end = _closed(text, at)
    value = loads(text[at:end])
    return (value, end) if value is not None else _with_bare_quotes(text, at)


def _with_bare_quotes(text: str, at: int) -> tuple[Any, int]:
    """As `decoded`, where texts hold quotation marks as they are: one ends a text where a bracket or
    the next key follows.
    """
    if len(text) - at > MAX_REPAIRED_CHARACTERS:
        return None, len(text)
    escaped = _TEXT.sub(lambda found: f'{found[1]}"{_BARE.sub(_escaped, found[2])}"', text[at:])
    try:
        value, end = _DECODER.raw_decode(escaped)
    except (ValueError, RecursionError):
        return None, len(text)
    rest = escaped[end:]
    return (value if _FENCE_END.fullmatch(rest) else None), len(text) - len(rest)


def _escaped(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else f"\\{found[0]}"


def loads(text: str) -> Any:
    """JSON, also with commas before brackets, line breaks in texts, or Python's literals; None for
    anything else.
    """
    plain = text.strip()
    for attempt in (plain, _TRAILING_COMMA.sub(r"\1", plain)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        # literals that are no JSON, as sets are, raise TypeError
        return json.loads(json.dumps(ast.literal_eval(plain)))
    except NOT_LITERAL:
        return None


def _closed(text: str, at: int) -> int:
    """The index behind the bracket that closes the one at an index; the text's end where none does."""
    depth, quote = 0, ""
    place = at
    while place < len(text):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif text.startswith(quote, place):
                place += len(quote) - 1
                quote = ""
        elif character in "\"'":
            quote = character * 3 if text.startswith(character * 3, place) else character
            place += len(quote) - 1
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return len(text)


def as_calls(value: Any, tools: Tools) -> list[WrittenCall]:
    """The calls that a value of JSON is: an object, a list of them, or either wrapped; none where
    one is no call.
    """
    if isinstance(value, list):
        found = [as_calls(each, tools) for each in value[:MAX_MODEL_CALLS]]
        return [call for calls in found for call in calls] if all(found) else []
    if not isinstance(value, Mapping):
        return []
    for key in _WRAPPERS:
        if isinstance(value.get(key), (Mapping, list)):
            return as_calls(value[key], tools)
    if len(value) == 1:
        ((name, inside),) = value.items()
        if name in tools and isinstance(inside, Mapping):
            return [WrittenCall(name, inside)]
    call = _as_call(value, tools)
    return [] if call is None else [call]


def _as_call(value: JsonMapping, tools: Tools) -> WrittenCall | None:
    name = next((plain_name(value[key]) for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is None:
        return None
    arguments = arguments_in(value)
    if _is_schema(arguments):
        return None  # the declaration of a tool, which somebody quotes
    if arguments is None:
        arguments = {key: each for key, each in value.items() if key not in _NAMES}
        if name in tools and not names_parameters(arguments, tools[name]):
            return None  # some object that has a name
    return WrittenCall(name, arguments) if isinstance(arguments, Mapping) else None


def arguments_in(value: JsonMapping) -> Any:
    """What stands for the arguments in an object that may be a call, None where nothing does."""
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    return loads(arguments or "{}") if isinstance(arguments, str) else arguments


def _is_schema(arguments: Any) -> bool:
    return isinstance(arguments, Mapping) and isinstance(arguments.get("properties"), Mapping)


def names_parameters(values: JsonMapping, tool: AgentTool) -> bool:
    """True if values can be arguments of a tool, by one of their names."""
    names = {parameter.name for parameter in tool.parameters}
    return bool(names & set(values)) or not values


# Fields in tags: parameters as XML, and pairs of keys and values

_VALUE = rf"\n?(?P<value>.*?)\n?{SPACE}"
_NEXT = rf"(?={SPACE}(?:<|\Z))"
_IS_NAMED = r"(?:\s?=\s?|\s{1,8}(?:name|key)\s?=\s?)[\"']?(?P<key>[\w.-]{1,64})[\"']?[^<>\n]{0,80}?"
_NAMED = rf"{SPACE}{OPEN}(?P<tag>[\w:｜| ]{{0,40}}(?:parameter|param|argument|arg)){_IS_NAMED}{END}"
_PARAMETER = re.compile(rf"{_NAMED}{_VALUE}(?:{CLOSE}(?P=tag){END}|\Z){_NEXT}", re.DOTALL)
_UNCLOSED = re.compile(rf"{_NAMED}\n?(?P<value>[^\n]*?)\n?{_NEXT}")
_ELEMENT = re.compile(rf"{SPACE}<(?P<tag>(?P<key>[\w-]+))>{_VALUE}</(?P=tag)>{_NEXT}", re.DOTALL)
_PAIR = re.compile(
    rf"\s*<(?P<tag>[\w|:｜]*key)>\s*(?P<key>[\w.-]+)\s*</(?P=tag)>\s*<(?P<of>[\w|:｜]*value)>{_VALUE}</(?P=of)>"
    r"(?=\s*(?:<[\w|:｜]*key>|</|\Z))",
    re.DOTALL,
)
_CLOSED_TAG = re.compile(rf"{SPACE}{CLOSE}[\w:｜| ]+{END}")
_CDATA = re.compile(r"\s*<!\[CDATA\[(.*)\]\]>\s*", re.DOTALL)


def xml_call(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """A call whose arguments are elements; one that says nothing of functions has to be a tool with
    its parameters.
    """
    read = _fields(text, begun, tools, (_PARAMETER, _ELEMENT))
    if begun.group("kind") or read is None:
        return read
    return read if read.calls[0].tool in tools and read.calls[0].values else None


def pairs_call(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """A call whose arguments are pairs of elements."""
    read = _fields(text, begun, tools, (_PAIR,))
    # any word between two tags would be a call without arguments
    is_known = begun.group("name") in tools
    return read if read is not None and (read.calls[0].values or is_known) else None


def _fields(
    text: str, begun: re.Match[str], tools: Tools, forms: tuple[re.Pattern[str], ...]
) -> Read | None:
    """A call whose arguments are fields in tags, up to a closing tag."""
    name = plain_name(begun.group("name"))
    roles = (
        {parameter.name: parameter.role for parameter in tools[name].parameters}
        if name in tools
        else {}
    )
    values: JsonObject = {}
    at = begun.end()
    while (found := _field(text, at, forms, roles)) is not None:
        values[found.group("key")] = _CDATA.sub(r"\1", found.group("value"))
        at = found.end()
    if not values and _CLOSED_TAG.match(text, at) is None:
        return None
    return Read([WrittenCall(name, values)], at)


def _field(
    text: str, at: int, forms: tuple[re.Pattern[str], ...], roles: Mapping[str, Role]
) -> re.Match[str] | None:
    """The field at an index. One of a single line ends with it where its closing tag is missing."""
    for form in forms if roles else forms[:1]:
        # elements named as parameters are those of a known tool
        found = form.match(text, at)
        if found is None or (form is _ELEMENT and found.group("key") not in roles):
            continue
        is_line = roles.get(found.group("key"), Role.CONTENT) is not Role.CONTENT
        if form is _PARAMETER and is_line and "\n" in found.group("value"):
            return _UNCLOSED.match(text, at) or found
        return found
    return None


# Gemma's objects, whose texts stand between tokens of their own

_GEMMA_FIELD = re.compile(
    r"\s*,?\s*(?P<key>\w+)\s*:\s*(?:(?P<quote><escape>|<\|\"\|>|\")(?P<text>.*?)(?P=quote)|(?P<plain>[^,{}]*))"
    r"(?=\s*[,}])",
    re.DOTALL,
)


def braced_call(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """A call whose arguments are an object in braces, with bare keys."""
    values: JsonObject = {}
    at = begun.end()
    while (found := _GEMMA_FIELD.match(text, at)) is not None:
        values[found.group("key")] = (
            found.group("text") if found.group("quote") else found.group("plain").strip()
        )
        at = found.end()
    close = re.compile(r"\s*\}").match(text, at)
    return (
        None
        if close is None
        else Read([WrittenCall(plain_name(begun.group("name")), values)], close.end())
    )


# Calls of Python, by themselves or in a list

_BETWEEN_EXPRESSIONS = re.compile(r"[ \t]*[,;\n]\s*(?=[A-Za-z_][\w.]*\()")


def python_calls(text: str, begun: re.Match[str], tools: Tools) -> Read | None:
    """Calls of known tools, in a list or one after the other."""
    calls: list[WrittenCall] = []
    at = end = begun.end("before")
    while True:
        stop = _closed(text, at) if text[at] == "[" else _closed(text, text.index("(", at))
        found = _expression_calls(text[at:stop].strip(), tools)
        if not found:
            break
        calls += found
        end = stop
        between = _BETWEEN_EXPRESSIONS.match(text, stop)
        if between is None:
            break
        at = between.end()
    return Read(calls, end) if calls else None


def _expression_calls(source: str, tools: Tools) -> list[WrittenCall]:
    """The calls that an expression is; none where a part of it is something else."""
    if len(source) > MAX_EXPRESSION_CHARACTERS:
        return []
    try:
        node = ast.parse(source, mode="eval").body
        nodes = node.elts if isinstance(node, ast.List) else [node]
        calls = [_python_call(each, tools) for each in nodes]
    except NOT_LITERAL:
        return []
    known = [call for call in calls if call is not None]
    return known if len(known) == len(calls) else []


def _python_call(node: ast.expr, tools: Tools) -> WrittenCall | None:
    """One expression as a call; None where it is none of a known tool. Raises ValueError for values
    that are none.
    """
    if not isinstance(node, ast.Call):
        return None
    name = plain_name(ast.unparse(node.func))
    if name == "print" and len(node.args) == 1:
        return _python_call(node.args[0], tools)
    tool = tools.get(name)
    if tool is None or len(node.args) > len(tool.parameters):
        return None
    values: JsonObject = {
        parameter.name: ast.literal_eval(value)
        for parameter, value in zip(tool.parameters, node.args, strict=False)
    }
    for keyword in node.keywords:
        if keyword.arg:
            values[keyword.arg] = ast.literal_eval(keyword.value)
    return WrittenCall(name, json.loads(json.dumps(values)))
