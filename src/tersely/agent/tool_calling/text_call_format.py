"""The form of a call as text, made for small models: plain lines, and code as it is.

    <call edit>
    path: src/app.py
    start: 3
    end: 4
    --- body
    def double(x):
        return x * 2
    </call>

`read` takes this form, and what models make of it: attributes in the first line, `=` for `:`,
fences around it, a missing end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tersely.agent.tools.declaration import AgentTool
from tersely.capabilities.declaration.declaration import Parameter, Role
from tersely.foundation.limits import MAX_MODEL_CALLS
from tersely.foundation.types import JsonMapping, JsonObject, Strings

OPENING, CLOSING = "<call", "</call>"

_STRICT_START = re.compile(rf"^{OPENING}\b", re.MULTILINE)
_START = re.compile(rf"^[ \t]*{OPENING}\b", re.MULTILINE)
_SEPARATOR = re.compile(rf"({CLOSING}|/>)[ \t]*[,;]?\s*(?={OPENING}\b)")  # of two calls
_FIRST_LINE = re.compile(
    r"<call\b[ \t:=]*(?:(?:name|tool)[ \t]*=[ \t]*)?[\"'`]?([\w.-]*)[\"'`]?(.*)$"
)
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)")
_HEADER = re.compile(r"[ \t]*[`*\"']{0,2}([A-Za-z_]\w*)[`*\"']{0,2}[ \t]*[:=][ \t]*(.*)$")
_MARKER = re.compile(r"-{3,}[ \t]*(\w*)[ \t]*-*[ \t]*$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")


class WrittenCall(NamedTuple):
    """A call as it was written: `values` are texts, as they stand. `problem` says why it cannot be
    one.
    """

    tool: str
    values: JsonMapping
    repairs: Strings = ()
    problem: str = ""


def marker(name: str) -> str:
    """The line after which the lines of a raw parameter follow."""
    return f"--- {name}"


def written(tool: AgentTool, arguments: JsonMapping) -> str:
    """A call in this form; raw values end with a newline or are empty."""
    raw = _raw_names(tool)
    plain = [parameter.name for parameter in tool.parameters if parameter.name not in raw]
    lines = [f"{name}: {arguments[name]}\n" for name in plain if name in arguments]
    lines += [f"{marker(name)}\n{arguments[name]}" for name in raw if name in arguments]
    return f"{OPENING} {tool.name}>\n{''.join(lines)}{CLOSING}"


def _raw_names(tool: AgentTool) -> list[str]:
    """The names of the parameters whose lines are written as they are."""
    return [parameter.name for parameter in tool.parameters if parameter.role is Role.CONTENT]


def _is_text(parameter: Parameter) -> bool:
    """True if quotes around a value may have a meaning."""
    return parameter.type is str and parameter.role is Role.TEXT


def start_of(text: str, is_strict: bool) -> int:
    """The place where the first call begins: with a line, also an indented one if not `is_strict`.
    -1 where there is none.
    """
    found = (_STRICT_START if is_strict else _START).search(text)
    return found.start() if found else -1


def read(text: str, tools: Sequence[AgentTool], is_strict: bool = False) -> list[WrittenCall]:
    """The calls in a text, in order, at most MAX_MODEL_CALLS, the first alone if `is_strict`; none
    if none begins.
    """
    calls: list[WrittenCall] = []
    start = start_of(text, is_strict)
    own = text[start:] if is_strict else _SEPARATOR.sub(r"\1\n", text[start:])
    lines = own.split("\n") if start >= 0 else []
    while lines and len(calls) < MAX_MODEL_CALLS:
        call, used = _read_one(lines, tools)
        calls.append(call)
        lines = lines[used:]
        while lines and not lines[0].strip():
            lines = lines[1:]
        if is_strict or not lines or start_of(lines[0], is_strict=False) < 0:
            break
    return calls


def _read_one(lines: Sequence[str], tools: Sequence[AgentTool]) -> tuple[WrittenCall, int]:
    """The call that begins with the first line, and how many lines it takes."""
    first = _FIRST_LINE.match(lines[0].strip())
    name, rest = (first.group(1), first.group(2)) if first else ("", "")
    tool = next((each for each in tools if each.name == name), None)
    values: JsonObject = {key: _unquoted(value) for key, value in _ATTRIBUTE.findall(rest)}
    if CLOSING in rest or rest.rstrip().endswith("/>"):
        return WrittenCall(name, values, ("read the arguments from the first line",)), 1
    end = _end(lines)
    body = lines[1 : end if end > 0 else len(lines)]
    repairs: Strings = ("read the arguments from the first line",) if values else ()
    if end < 0:
        body = _without_fence(list(body))
        repairs += (f"added {CLOSING}",)
    problem = _read_body(body, tool, values)
    if end < 0 and tool is not None and _raw_names(tool) and not problem:
        problem = f"it does not end with {CLOSING}, so its lines may have been cut off"
    return WrittenCall(name, values, repairs, problem), end + 1 if end > 0 else len(lines)


def _end(lines: Sequence[str]) -> int:
    """The line that ends the call: after it comes nothing, or another call. -1 where none does."""
    ends = [at for at, line in enumerate(lines) if line.strip() == CLOSING]
    for at in ends:
        after = "\n".join(lines[at + 1 :]).strip().strip("`~").lstrip()
        if not after or after.startswith(OPENING):
            return at
    return ends[0] if ends else -1


def _read_body(lines: Sequence[str], tool: AgentTool | None, values: JsonObject) -> str:
    """Read the lines between the first and the last; what is wrong with them, "" for nothing."""
    known = {parameter.name: parameter for parameter in tool.parameters} if tool else {}
    raw = _raw_names(tool) if tool else []
    at = 0
    while at < len(lines):
        line = lines[at]
        header = _HEADER.match(line)
        begun = _raw_begun(line, raw)
        if begun:
            at = _read_raw(lines, at + 1, begun, raw, values)
        elif header and (header.group(1) in known or not raw):
            name, value = header.groups()
            is_text = name in known and _is_text(known[name])
            values[name] = value.strip(" \t") if is_text else _unquoted(value)
            at += 1
        elif len(raw) == 1 and raw[0] not in values and line.strip():
            at = _read_raw(lines, at, raw[0], raw, values)
        elif line.strip() and not _FENCE.match(line):
            return f"the line {line.strip()[:60]!r} is no `name: value`"
        else:
            at += 1
    return ""


def _raw_begun(line: str, raw: Sequence[str]) -> str:
    """The raw parameter that begins behind a line: its marker, or its name and a colon alone; ""
    for any other line.
    """
    marked = _MARKER.match(line)
    if marked and marked.group(1) in raw:
        return str(marked.group(1))
    if marked and not marked.group(1) and len(raw) == 1:
        return raw[0]
    header = _HEADER.match(line)
    is_empty = header is not None and header.group(2).strip() in {"", "|", "|-", ">"}
    return header.group(1) if header and is_empty and header.group(1) in raw else ""


def _read_raw(
    lines: Sequence[str], start: int, name: str, raw: Sequence[str], values: JsonObject
) -> int:
    """Read the lines of one raw parameter, up to the marker of the next; where that is."""
    at = start
    others = [marker(other) for other in raw if other != name and other not in values]
    while at < len(lines) and lines[at].rstrip() not in others:
        at += 1
    values[name] = "".join(f"{line}\n" for line in lines[start:at])
    return at


def _without_fence(lines: list[str]) -> list[str]:
    """The lines without blank ones and a closing fence at their end."""
    while lines and (not lines[-1].strip() or lines[-1].strip() in {"```", "~~~"}):
        lines = lines[:-1]
    return lines


def _unquoted(value: str) -> str:
    """A value without blanks around it, and without quotes where it is quoted as a whole."""
    plain = value.strip(" \t")
    if (
        len(plain) > 2
        and plain[0] == plain[-1]
        and plain[0] in "\"'`"
        and plain[0] not in plain[1:-1]
    ):
        return plain[1:-1]
    return plain
