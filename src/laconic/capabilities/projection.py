"""Plain frozen values as JSON: field names as they are, enums as their words, tuples as lists."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any


def to_json(value: object) -> Any:
    """The JSON value of a result; fails on anything that is not a plain value (a handle must never leave)."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple | list):
        return [to_json(element) for element in value]
    if isinstance(value, dict):
        return {str(key): to_json(element) for key, element in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} is not a plain value")
