"""Adding a table to TOML as text: at the end, where it can belong to nothing else."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from typing import Any

from tersely.agents.json_text import Entry


def read(text: str) -> dict[str, Any]:
    """The tables of a text; raises `ValueError`."""
    return tomllib.loads(text)


def added(text: str, entries: Sequence[Entry]) -> str:
    """The text with a table for each entry; raises `ValueError` where another one stands at its path."""
    for entry in entries:
        tables = read(text)
        found: Any = tables
        for name in entry.path:
            found = found.get(name) if isinstance(found, dict) else None
        if found == entry.value:
            continue
        if found is not None:
            raise ValueError(f"there is a table [{'.'.join(entry.path)}] that says something else")
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        text = f"{text}{gap}{block(entry)}"
        if read(text) != _having(tables, entry.path, entry.value):
            raise ValueError("it cannot be changed without touching what else is in it")
    return text


def removed(text: str, entries: Sequence[Entry]) -> str:
    """The text without the tables, as far as they stand there as they were added."""
    for entry in entries:
        own = block(entry)
        text = text.replace(f"\n{own}", "", 1) if f"\n{own}" in text else text.replace(own, "", 1)
    return text


def block(entry: Entry) -> str:
    """One table; its values are texts, numbers, booleans and lists of them, which TOML writes as JSON does."""
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.value.items()]
    return "\n".join([f"[{'.'.join(entry.path)}]", *lines]) + "\n"


def _having(tables: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    inner = value if len(path) == 1 else _having(tables.get(path[0], {}), path[1:], value)
    return {**tables, path[0]: inner}
