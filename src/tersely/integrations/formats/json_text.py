"""Changing JSON as text, so that comments, order and layout of all the rest stay as they are.

Comments (`//`, `/* */`) and commas before a closing bracket are read, as agents allow them in their
settings. A text that cannot be read is refused, and a changed text is read again: it has to say
what was said plus what was added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH_LEVELS = 60
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class NotJsonError(ValueError):
    """The text is no JSON; `str()` says where."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be in a text: a member at a path of names, or with `in_list` an element of the
    list there.
    """

    path: tuple[str, ...]
    value: Any
    in_list: bool = False


@dataclass(slots=True)
class _Node:
    """A value and where it stands. `key_start` is where its name begins, or itself in a list."""

    value: Any
    start: int
    end: int
    key_start: int
    parts: dict[str | int, _Node] = field(default_factory=dict)


def read(text: str) -> Any:
    """The value of a text; raises `NotJsonError`. Nothing at all is an empty object."""
    return _parse(text).value


def added(text: str, entries: Sequence[Entry]) -> str:
    """The text with some entries; what is there already stays as it is."""
    text = text if text.strip() else "{}\n"
    wanted = read(text)
    for entry in entries:
        wanted = _having(wanted, entry.path, entry)
        text = _with(text, entry)
    if read(text) != wanted:
        raise NotJsonError("it cannot be changed without touching what else is in it")
    return text


def removed(text: str, entries: Sequence[Entry]) -> str:
    """The text without some entries, as far as they are there as they were added."""
    for entry in entries:
        node = _find(_parse(text), entry.path)
        if node is None:
            continue
        if entry.in_list:
            places = [at for at, part in node.parts.items() if part.value == entry.value]
            text = _without(text, (*entry.path, places[0])) if places else text
        elif node.value == entry.value:
            text = _without(text, entry.path)
    return text


def _having(value: Any, path: tuple[str, ...], entry: Entry) -> Any:
    """The value with an entry, computed without the text."""
    if path:
        if not isinstance(value, dict):
            raise NotJsonError(
                f"there is no room for {'.'.join(entry.path)}: what is around it is no object"
            )
        empty: Any = {} if len(path) > 1 else [] if entry.in_list else None
        return {**value, path[0]: _having(value.get(path[0], empty), path[1:], entry)}
    if not entry.in_list:
        return entry.value
    if not isinstance(value, list):
        raise NotJsonError(f"{'.'.join(entry.path)} is no list")
    return value if entry.value in value else [*value, entry.value]


def _with(text: str, entry: Entry) -> str:
    node = _parse(text)
    value = [entry.value] if entry.in_list else entry.value
    for depth, name in enumerate(entry.path):
        inner = node.parts.get(name)
        if inner is None:
            for outer in reversed(entry.path[depth + 1 :]):
                value = {outer: value}
            return _inserted(text, node, f"{json.dumps(name)}: ", value)
        node = inner
    if entry.in_list:
        return text if entry.value in node.value else _inserted(text, node, "", entry.value)
    return (
        text
        if node.value == entry.value
        else text[: node.start] + _written(value, text, node) + text[node.end :]
    )


def _inserted(text: str, node: _Node, name: str, value: Any) -> str:
    """The text with one more member or element at the end of an object or list."""
    close = node.end - 1
    last = list(node.parts.values())[-1] if node.parts else None
    content_end = len(text[:close].rstrip())
    if last is not None and "\n" not in text[node.start : node.end]:
        comma = "" if text[last.end : close].strip().startswith(",") else ","
        body = json.dumps(value, ensure_ascii=False)
        return f"{text[: last.end]}{comma}{text[last.end : content_end]} {name}{body}{text[content_end:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of(text, node.key_start)
    unit = _unit(text)
    inner = _indent_of(text, last.key_start) if last is not None else outer + unit
    body = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + inner)
    if last is None:
        return f"{text[:content_end]}{newline}{inner}{name}{body}{newline}{outer}{text[close:]}"
    has_comma = re.match(rf"{_BLANK.pattern},", text[last.end : close], re.DOTALL) is not None
    head = text[: last.end] + ("" if has_comma else ",") + text[last.end : content_end]
    return f"{head}{newline}{inner}{name}{body}{text[content_end:]}"


def _without(text: str, path: tuple[str | int, ...]) -> str:
    """The text without one member or element, and without the comma that belonged to it."""
    node = _find(_parse(text), path)
    around = _find(_parse(text), path[:-1])
    if node is None or around is None:
        return text
    start, end = node.key_start, node.end
    rest = re.match(rf"({_BLANK.pattern}),", text[end:], re.DOTALL)
    parts = list(around.parts.values())
    before = [part for part in parts if part.end <= start]
    while start > around.start + 1 and text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    if rest is not None and not rest[1].strip():
        return text[:start] + text[end + rest.end() :]
    if before:
        comma = before[-1].end + text[before[-1].end : start].find(",")
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _written(value: Any, text: str, node: _Node) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indent_of(text, node.key_start)
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", newline + indent)


def _indent_of(text: str, at: int) -> str:
    """The blanks at the start of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _find(node: _Node, path: tuple[str | int, ...]) -> _Node | None:
    for name in path:
        inner = node.parts.get(name)
        if inner is None:
            return None
        node = inner
    return node


def _parse(text: str) -> _Node:
    start = 1 if text.startswith("\ufeff") else 0
    if not text[start:].strip():
        return _Node({}, len(text), len(text), len(text))
    node = _value(text, _after(text, start), 0)
    if _after(text, node.end) != len(text):
        raise _error(text, node.end, "there is more than one value")
    return node


def _after(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> _Node:
    if depth > MAX_DEPTH_LEVELS:
        raise _error(text, at, "it is nested too deeply")
    if text.startswith(("{", "["), at):
        return _container(text, at, depth)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if found is None:
        raise _error(text, at, "a value is missing")
    try:
        return _Node(json.loads(found[0]), at, found.end(), at)
    except ValueError:
        raise _error(text, at, "a text is broken") from None


def _container(text: str, start: int, depth: int) -> _Node:
    is_object = text[start] == "{"
    closing = "}" if is_object else "]"
    node = _Node({} if is_object else [], start, start, start)
    at = _after(text, start + 1)
    while not text.startswith(closing, at):
        key_start = at
        name: str | int = len(node.parts)
        if is_object:
            found = _STRING.match(text, at)
            at = _after(text, found.end()) if found else at
            if found is None or not text.startswith(":", at):
                raise _error(text, at, "a name and a colon are missing")
            name = json.loads(found[0])
            at = _after(text, at + 1)
            if name in node.parts:
                raise _error(text, key_start, f"{name!r} stands there twice")
        part = _value(text, at, depth + 1)
        part.key_start = key_start
        node.parts[name] = part
        if is_object:
            node.value[name] = part.value
        else:
            node.value.append(part.value)
        at = _after(text, part.end)
        if text.startswith(",", at):
            at = _after(text, at + 1)
        elif not text.startswith(closing, at):
            raise _error(text, at, "a comma or a closing bracket is missing")
    node.end = at + 1
    return node


def _error(text: str, at: int, what: str) -> NotJsonError:
    return NotJsonError(f"line {text.count(chr(10), 0, at) + 1}: {what}")
