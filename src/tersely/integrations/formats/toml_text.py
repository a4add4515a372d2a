"""Adding a table to TOML at its end, where it can belong to nothing else, and taking it out again.

All the rest of a text stays as it is, byte for byte: what a change gives is read again before it
counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from os.path import commonprefix
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from tersely.foundation.types import JsonMapping, JsonObject
from tersely.integrations.formats.json_text import SettingsEntry

# of a text that a table is taken out of: some seconds of tomlkit at worst
MAX_EDITED_CHARACTERS = 250_000


def read(text: str) -> JsonObject:
    """The tables of a text; raises `ValueError`."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def added(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text with a table for each entry; raises `ValueError` where another one stands at its
    path.
    """
    for entry in entries:
        tables = read(text)
        found = _found(tables, entry.path)
        if found == entry.value:
            continue
        if found is not None:
            raise ValueError(f"there is a table [{'.'.join(entry.path)}] that says something else")
        wanted = _having(tables, entry.path, entry.value)
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        text = f"{text}{gap}{tomlkit.dumps(_having({}, entry.path, entry.value))}"
        if not _says(text, wanted):
            raise ValueError(
                f"[{'.'.join(entry.path)}] cannot be added without touching what else is in it"
            )
    return text


def removed(text: str, entries: Sequence[SettingsEntry]) -> str:
    """The text without the tables, as far as they say what was added, however they are laid out by
    now.
    """
    for entry in entries:
        if _found(read(text), entry.path) == entry.value:
            text = _without(text, entry.path)
    return text


def _without(text: str, path: Sequence[str]) -> str:
    """The text without a table and the empty line before it. Comments after its last value belong
    to what follows.
    """
    if len(text) > MAX_EDITED_CHARACTERS:
        raise ValueError(
            f"[{'.'.join(path)}] cannot be taken out of more than {MAX_EDITED_CHARACTERS:,} characters"
        )
    try:
        rest = _rest(text, path)
    except (TOMLKitError, RecursionError) as error:
        raise ValueError(f"[{'.'.join(path)}] cannot be taken out: {error}") from error
    same = commonprefix([text, rest])  # noqa: RUF071 - characters are meant
    start = text.rfind("\n", 0, len(same)) + 1
    end = start + len(text) - len(rest)
    if text[:start] + text[end:] != rest:
        raise ValueError(
            f"[{'.'.join(path)}] cannot be taken out without touching what else is in it"
        )
    lines = text[start:end].splitlines(keepends=True)
    while lines and lines[-1].lstrip()[:1] in ("", "#"):
        end -= len(lines.pop())
    if text.endswith("\n\n", 0, start):
        start -= 1
    return text[:start] + text[end:]


def _rest(text: str, path: Sequence[str]) -> str:
    document = tomlkit.parse(text)
    above: Any = document
    for name in path[:-1]:
        above = above[name]
    del above[path[-1]]
    return tomlkit.dumps(document)


def _says(text: str, wanted: JsonMapping) -> bool:
    try:
        return read(text) == wanted
    except ValueError:
        return False


def _found(tables: JsonMapping, path: Sequence[str]) -> Any:
    found: Any = tables
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _having(tables: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    if not isinstance(tables, dict):
        return None
    return {**tables, path[0]: _having(tables.get(path[0], {}), path[1:], value)}
