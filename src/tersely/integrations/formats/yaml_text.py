"""Changing YAML as text: one entry more below a key of the top, on a line of its own, all else as
it is.

Only what can be done without reading the rest is done: the key has its entries on the lines below
it, or none. A value is written as JSON, which YAML includes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from tersely.integrations.formats.json_text import SettingsEntry

_USUAL_INDENT = "  "
_NOTHING_BELOW = re.compile(r"\s*(\{\s*\}|null|~)?\s*(#.*)?")


class _YamlPlace(NamedTuple):
    """The place of the entry of a name, or where it would be: its lines, and how far it is
    indented.
    """

    start: int
    end: int
    indent: str


def added(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text with some entries; raises `ValueError` where another one stands in the place."""
    for entry in entries:
        top, name = entry.path
        lines = text.splitlines(keepends=True)
        at = _top(lines, top)
        if at is None:
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += "\n"
            lines, at = [*lines, f"{top}:\n"], len(lines)
        place = _place(lines, at, name)
        line = f"{place.indent}{name}: {json.dumps(entry.value, ensure_ascii=False)}\n"
        if lines[place.start : place.end] not in ([], [line]):
            raise ValueError(f"{top} has a {name} that says something else")
        text = "".join(
            [*lines[:at], f"{top}:\n", *lines[at + 1 : place.start], line, *lines[place.end :]]
        )
    return text


def removed(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text without some entries, however they are laid out by now."""
    for entry in entries:
        top, name = entry.path
        lines = text.splitlines(keepends=True)
        at = _top(lines, top)
        if at is None:
            continue
        place = _place(lines, at, name)
        kept = [*lines[: place.start], *lines[place.end :]]
        if place.start < place.end and not _below(kept, at):
            kept[at] = f"{top}: {{}}\n"
        text = "".join(kept)
    return text


def _top(lines: Sequence[str], top: str) -> int | None:
    """The line of a key of the top, None where there is none; raises `ValueError` for one with a
    value beside it.
    """
    for number, line in enumerate(lines):
        if line.startswith(f"{top}:"):
            if not _NOTHING_BELOW.fullmatch(line.removeprefix(f"{top}:").rstrip("\r\n")):
                raise ValueError(f"line {number + 1}: {top} has its entries on one line")
            return number
    return None


def _place(lines: Sequence[str], at: int, name: str) -> _YamlPlace:
    below = _below(lines, at)
    indent = next((_indent(line) for line in below if _says_something(line)), _USUAL_INDENT)
    first = at + 1
    for offset, line in enumerate(below):
        if re.match(rf"{re.escape(indent)}[\"']?{re.escape(name)}[\"']?\s*:", line):
            more = _deeper(below[offset + 1 :], indent)
            return _YamlPlace(first + offset, first + offset + 1 + more, indent)
    return _YamlPlace(first, first, indent)


def _below(lines: Sequence[str], at: int) -> list[str]:
    """The lines of what stands below a key of the top."""
    found = []
    for line in lines[at + 1 :]:
        if _says_something(line) and not _indent(line):
            break
        found.append(line)
    return found


def _deeper(lines: Sequence[str], indent: str) -> int:
    """The number of lines that belong to an entry above them."""
    for number, line in enumerate(lines):
        if _says_something(line) and len(_indent(line)) <= len(indent):
            return number
    return len(lines)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]
