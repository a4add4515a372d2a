"""Arguments as models write them: numbers, booleans, lists and objects in quotes, `300.0` for 300."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tersely.foundation.types import JsonMapping

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
# which models write as JSON or Python does
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None, "none": None}


def unquoted(value: Any, schema: JsonMapping) -> Any:
    """A value as its JSON Schema wants it, where its text is one, and whole numbers however they are
    written; else as it is, to be refused by whoever checks it. A text that may be a text stays one.
    """
    named = schema.get("type", ())
    kinds = {named} if isinstance(named, str) else set(named)
    if isinstance(value, str) and kinds and "string" not in kinds:
        meant = _value_of(value, kinds)
        value = meant if _holds_texts(meant) or not _takes_texts(schema) else value
    if _is_whole(value, kinds):
        return int(value)
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return [unquoted(one, items) for one in value]
    if isinstance(value, dict) and isinstance(inner := schema.get("properties"), dict):
        return {name: unquoted(one, _schema_of(inner, name)) for name, one in value.items()}
    return value


def _schema_of(properties: JsonMapping, name: str) -> JsonMapping:
    found = properties.get(name)
    return found if isinstance(found, dict) else {}


def _value_of(text: str, kinds: set[str]) -> Any:
    """The value of one of some kinds that a text is, else the text."""
    word = text.strip()
    try:
        value = _WORDS[word.lower()] if word.lower() in _WORDS else json.loads(word)
    except (ValueError, RecursionError):
        return text
    return value if _is_whole(value, kinds) or _is_one_of(value, kinds) else text


def _is_whole(value: Any, kinds: set[str]) -> bool:
    """True for a whole number that is written as a fraction, where only a whole one is wanted."""
    wants_whole = "integer" in kinds and "number" not in kinds
    return wants_whole and isinstance(value, float) and value.is_integer()


def _takes_texts(schema: JsonMapping) -> bool:
    """True for a list of texts: one text that looks like a list of something else is a text of it."""
    items = schema.get("items")
    return isinstance(items, dict) and items.get("type") == "string"


def _holds_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_one_of(value: Any, kinds: set[str]) -> bool:
    if value is None or isinstance(value, bool):
        return ("null" if value is None else "boolean") in kinds
    return any(isinstance(value, _KINDS[kind]) for kind in kinds & _KINDS.keys())
