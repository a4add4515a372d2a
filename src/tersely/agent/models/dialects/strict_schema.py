"""JSON schemas as OpenAI and Azure define the strict ones, and the answers that were held to them.

Every property is required, an optional one may be null, objects are closed, and keywords that only
describe how long or large a value is are left out: Azure and fine-tuned models refuse them. A list
of values beyond the limits becomes a plain string. What is left out here is checked when a call is
read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tersely.foundation.types import JsonObject

# of one list; beyond it OpenAI counts characters, and 1,000 is the most of a whole schema
MAX_ENUM_VALUES = 250
MAX_ENUM_CHARACTERS = 15_000  # of one list
_KEPT = ("type", "description", "enum", "const", "$ref")


def strict_form(schema: Mapping[str, Any]) -> JsonObject:
    """The strict form of a schema. Objects have exactly the properties that they list."""
    made = {name: schema[name] for name in _KEPT if name in schema}
    if not _is_short(made.get("enum", ())):
        del made["enum"]
        made.setdefault("type", "string")
    if "anyOf" in schema:
        made["anyOf"] = [strict_form(each) for each in schema["anyOf"]]
    if "items" in schema:
        made["items"] = strict_form(schema["items"])
    if "$defs" in schema:
        made["$defs"] = {name: strict_form(each) for name, each in schema["$defs"].items()}
    if _is_object(schema):
        made |= _close_object(schema)
    return made


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object" or "properties" in schema


def _close_object(schema: Mapping[str, Any]) -> JsonObject:
    required = set(schema.get("required", ()))
    properties = {}
    for name, each in schema.get("properties", {}).items():
        made = strict_form(each)
        properties[name] = made if name in required else _allow_null(made)
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _allow_null(schema: JsonObject) -> JsonObject:
    """The schema of a value that may be null instead."""
    kind = schema.get("type")
    if not isinstance(kind, str) or "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    made = {**schema, "type": [kind, "null"]}
    if "enum" in schema:
        made["enum"] = [*schema["enum"], None]
    return made


def _is_short(values: Any) -> bool:
    return (
        len(values) < MAX_ENUM_VALUES
        and sum(len(str(value)) for value in values) <= MAX_ENUM_CHARACTERS
    )


def drop_nulls(arguments: str) -> str:
    """JSON text of an object without the properties that a strict schema made null; any other text
    as it is.
    """
    if "null" not in arguments:
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(value, dict):
        return arguments
    return json.dumps(
        {name: each for name, each in value.items() if each is not None}, ensure_ascii=False
    )
