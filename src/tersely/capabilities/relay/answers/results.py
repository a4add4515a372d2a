"""The answers of services, written for reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping

_PATHS = ("file", "path")
_TITLES = ("signature", "name", "qualified_name", "content", "caller", "id")
_LISTS = ("results", "hits", "items")
_SHARES = ("score", "share")


def result_text(result: Any) -> str:
    """A text as it is, places a line each, `file:line signature (87%)`, anything else as JSON."""
    if isinstance(result, str):
        return result
    if isinstance(result, Mapping):
        if isinstance(result.get("text"), str):
            return str(result["text"])
        listed = next((result[name] for name in _LISTS if isinstance(result.get(name), list)), None)
        if listed is not None and _are_places(listed):
            return _places(listed)
    if isinstance(result, list) and _are_places(result):
        return _places(result)
    return json.dumps(result, ensure_ascii=False, indent=2)


def error_text(service: str, error: TerselyError) -> str:
    """A line about what went wrong, and what to do instead."""
    return f"[{service} error] {error.message}" + (f" ({error.hint})" if error.hint else "")


def _are_places(listed: Sequence[Any]) -> bool:
    return all(
        isinstance(one, Mapping) and any(isinstance(one.get(name), str) for name in _PATHS)
        for one in listed
    )


def _places(listed: Sequence[JsonMapping]) -> str:
    return "\n".join(map(_place, listed)) if listed else "no results"


def _place(one: JsonMapping) -> str:
    path = next(str(one[name]) for name in _PATHS if isinstance(one.get(name), str))
    line = one.get("line")
    title = next(
        (" ".join(one[name].split()) for name in _TITLES if isinstance(one.get(name), str)), ""
    )
    share = next((one[name] for name in _SHARES if isinstance(one.get(name), int | float)), None)
    shown = f"{path}:{line}" if isinstance(line, int) else path
    return " ".join(
        part for part in (shown, title, "" if share is None else f"({share * 100:.0f}%)") if part
    )
