"""Changing JSON as text, so that comments, order and layout of all the rest stay as they are.

Comments (`//`, `/* */`) and commas before a closing bracket are read, as agents allow them in their
settings. A text that cannot be read is refused, and a changed text is read again: it has to say
what was said plus what was added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tersely.foundation.types import Strings, frozen

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENTS = re.compile(rf"{_STRING}|(//[^\n]*|/\*.*?\*/|\A\ufeff)", re.DOTALL)
_LAST_COMMAS = re.compile(rf"{_STRING}|(,)(?=\s*[}}\]])", re.DOTALL)
_BLANKS = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class NotJsonError(ValueError):
    """The text is no JSON; `str()` says where."""


@frozen
class SettingsEntry:
    """One thing to be in a text: a member at a path of names, or with `in_list` an element of the
    list there.
    """

    path: Strings
    value: Any
    in_list: bool = False


@frozen
class _JsonNode:
    """A value and where it stands in a `plain` text. `key_start` is where its name begins, or itself
    in a list.
    """

    plain: str
    value: Any
    start: int
    end: int
    key_start: int

    def parts(self) -> dict[str | int, _JsonNode]:
        """Its members or elements, in order."""
        found: dict[str | int, _JsonNode] = {}
        is_object = isinstance(self.value, dict)
        at = _after(self.plain, self.start + 1)
        count = len(self.value) if isinstance(self.value, dict | list) else 0
        while len(found) < count:
            key_start = at
            name: str | int = len(found)
            if is_object:
                name, at = _DECODER.raw_decode(self.plain, at)
                at = _after(self.plain, _after(self.plain, at) + 1)
            value, end = _DECODER.raw_decode(self.plain, at)
            found[name] = _JsonNode(self.plain, value, at, end, key_start)
            at = _after(self.plain, _after(self.plain, end) + 1)
        return found


def read(text: str) -> Any:
    """The value of a text; raises `NotJsonError`. Nothing at all is an empty object."""
    return _parse(text).value


def added(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text with some entries; what is there already stays as it is."""
    text = text if text.strip() else "{}\n"
    wanted = read(text)
    for entry in entries:
        wanted = _having(wanted, entry.path, entry)
        text = _with(text, entry)
    if read(text) != wanted:
        raise NotJsonError("it cannot be changed without touching what else is in it")
    return text


def removed(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text without some entries, as far as they are there as they were added."""
    for entry in entries:
        node = _find(_parse(text), entry.path)
        if node is None:
            continue
        if entry.in_list:
            places = [at for at, part in node.parts().items() if part.value == entry.value]
            text = _without(text, (*entry.path, places[0])) if places else text
        elif node.value == entry.value:
            text = _without(text, entry.path)
    return text


def without_emptied(text: str, was: str, entries: Sequence[SettingsEntry]) -> str:
    """The text without the lists and objects around some entries that hold nothing any more, but
    for those that stood in what it `was`.
    """
    before = _parse(was)
    for entry in entries:
        for depth in range(len(entry.path), 0, -1):
            path = entry.path[:depth]
            node = _find(_parse(text), path)
            if node is not None and node.value in ([], {}) and _find(before, path) is None:
                text = _without(text, path)
    return text


def _having(value: Any, path: Strings, entry: SettingsEntry) -> Any:
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


def _with(text: str, entry: SettingsEntry) -> str:
    node = _parse(text)
    value = [entry.value] if entry.in_list else entry.value
    for depth, name in enumerate(entry.path):
        inner = node.parts().get(name)
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


def _inserted(text: str, node: _JsonNode, name: str, value: Any) -> str:
    """The text with one more member or element at the end of an object or list."""
    close = node.end - 1
    last = next(reversed(node.parts().values()), None)
    content_end = len(text[:close].rstrip())
    has_comma = last is None or "," in _blank(_COMMENTS, text)[last.end : close]
    comma = "" if has_comma else ","
    if last is not None and "\n" not in text[node.start : node.end]:
        body = json.dumps(value, ensure_ascii=False)
        return f"{text[: last.end]}{comma}{text[last.end : content_end]} {name}{body}{text[content_end:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of(text, node.key_start)
    unit = _unit(text)
    inner = _indent_of(text, last.key_start) if last is not None else outer + unit
    body = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + inner)
    if last is None:
        return f"{text[:content_end]}{newline}{inner}{name}{body}{newline}{outer}{text[close:]}"
    head = text[: last.end] + comma + text[last.end : content_end]
    return f"{head}{newline}{inner}{name}{body}{text[content_end:]}"


def _without(text: str, path: tuple[str | int, ...]) -> str:
    """The text without one member or element, and without the comma that belonged to it."""
    node = _find(_parse(text), path)
    around = _find(_parse(text), path[:-1])
    if node is None or around is None:
        return text
    start, end = node.key_start, node.end
    rest = re.match(r"\s*,", text[end:])
    before = [part for part in around.parts().values() if part.end <= start]
    while start > around.start + 1 and text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    if rest is not None:
        return text[:start] + text[end + rest.end() :]
    if before:
        comma = _blank(_COMMENTS, text).index(",", before[-1].end)
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _written(value: Any, text: str, node: _JsonNode) -> str:
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


def _find(node: _JsonNode, path: tuple[str | int, ...]) -> _JsonNode | None:
    for name in path:
        inner = node.parts().get(name)
        if inner is None:
            return None
        node = inner
    return node


def _parse(text: str) -> _JsonNode:
    plain = _blank(_LAST_COMMAS, _blank(_COMMENTS, text))
    start = _after(plain, 0)
    if start == len(plain):
        return _JsonNode(plain, {}, start, start, start)
    try:
        value = json.loads(plain, object_pairs_hook=_members)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    return _JsonNode(plain, value, start, len(plain.rstrip()), start)


def _members(pairs: Sequence[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
        raise NotJsonError(f"{twice!r} stands there twice")
    return members


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with blanks in the place of what a pattern has in its group; lines stay lines."""
    return pattern.sub(
        lambda found: re.sub(r"[^\n]", " ", found[0]) if found[1] else found[0], text
    )


def _after(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at
