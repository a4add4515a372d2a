"""Previews of what has a shape: the keys and kinds of JSON, the headings of Markdown and HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import PREVIEW_BYTES
from tersely.foundation.types import JsonObject
from tersely.relay.artifacts.preview.lines import of_text
from tersely.relay.encoding import decode, encode

PREVIEW_LEVELS = 4  # of JSON
PREVIEW_MEMBERS = 24  # of one object, or elements of one array
_TEXT_CHARACTERS = 60
_FENCE = re.compile(r"^\s{0,3}(```|~~~)")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*)$")


def of_json(head: str, tail: str, size_bytes: int) -> str:
    """Members and elements with short values as they are and long ones by their kind and size."""
    if tail:
        return of_text(head, tail, size_bytes)
    try:
        value = decode(head.encode())
    except TerselyError:
        return of_text(head, tail, size_bytes)
    for levels in range(PREVIEW_LEVELS, 0, -1):
        shown = _shape(value, levels, 0)
        if len(shown.encode()) <= PREVIEW_BYTES:
            break
    return shown


def of_markdown(head: str, tail: str, size_bytes: int) -> str:
    """The outline with the line of each heading, then the beginning of the text."""
    outline: list[str] = []
    fence = ""
    for number, line in enumerate(head.splitlines(), start=1):
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1] == fence):
            fence = "" if fence else opened[1]
        elif not fence and (found := _HEADING.match(line)):
            outline.append(f"{number}: {found[1]} {found[2].strip()[:100]}")
    if not outline:
        return of_text(head, tail, size_bytes)
    listed = "\n".join(outline)[: PREVIEW_BYTES // 2]
    return f"{listed}\n⋯ {size_bytes:,} bytes; it begins:\n{head}"


def of_html(head: str, tail: str, size_bytes: int) -> str:
    """The title and the text without its markup."""
    reader = _Text()
    reader.feed(head)
    text = "\n".join(
        line for line in (re.sub(r"\s+", " ", part).strip() for part in reader.parts) if line
    )
    return of_text(text, "", size_bytes)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in {"script", "style", "noscript", "template"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style", "noscript", "template"} and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _shape(value: Any, levels: int, depth: int) -> str:
    if isinstance(value, dict):
        return _shape_of_object(value, levels, depth)
    if isinstance(value, list):
        return _shape_of_array(value, levels, depth)
    if isinstance(value, str) and len(value) > _TEXT_CHARACTERS:
        return f"{_quoted(value[:_TEXT_CHARACTERS] + '…')} ({len(value):,} characters)"
    return _quoted(value)


def _quoted(value: Any) -> str:
    """A text, number, truth value or null as JSON has it, on one line."""
    return encode(value).decode()


def _shape_of_object(value: JsonObject, levels: int, depth: int) -> str:
    if not value or not levels:
        return f"{{{len(value)} members}}" if value else "{}"
    indent = "  " * (depth + 1)
    lines = [
        f"{indent}{_quoted(key[:_TEXT_CHARACTERS])[1:-1]}: {_shape(member, levels - 1, depth + 1)}"
        for key, member in list(value.items())[:PREVIEW_MEMBERS]
    ]
    if len(value) > PREVIEW_MEMBERS:
        lines.append(f"{indent}⋯ {len(value) - PREVIEW_MEMBERS:,} more members")
    return "\n".join(["{", *lines, "  " * depth + "}"])


def _shape_of_array(value: list[Any], levels: int, depth: int) -> str:
    if not value or not levels:
        return f"[{len(value):,} elements]" if value else "[]"
    if all(not isinstance(element, dict | list) for element in value):
        shown = ", ".join(_shape(element, 0, depth) for element in value[:PREVIEW_MEMBERS])
        more = f", ⋯ {len(value) - PREVIEW_MEMBERS:,} more" if len(value) > PREVIEW_MEMBERS else ""
        return f"[{shown}{more}]"
    shown = _shape(value[0], levels - 1, depth)
    return f"[{len(value):,} elements, the first: {shown}]"
