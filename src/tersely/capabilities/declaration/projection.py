"""Plain frozen values as JSON: enums as their words, named tuples as objects, other tuples as
lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, TypeVar

from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.types import JsonObject, fields, has_fields, replace

ValueT = TypeVar("ValueT")

# The fields of results that hold several lines; all other texts have to stay on theirs.
_OF_LINES = frozenset({"text", "body", "code", "content", "diff", "doc", "signature"})


def to_json(value: object) -> Any:
    """The JSON value of a result; fails on anything that is not a plain value (a handle must never
    leave).
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str(value)
    if _is_document(value):
        import msgspec  # only doors of the relay pay for it

        return msgspec.to_builtins(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, tuple | list):
        return [to_json(element) for element in value]
    if isinstance(value, dict):
        return {str(key): to_json(element) for key, element in value.items()}
    if has_fields(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is not a plain value")


def harmless(value: ValueT) -> ValueT:
    """A copy of a result for people: no name or text in it can steer a terminal, hide, or pass for
    another line.

    Documents of the relay stay as they are, since JSON is what some are read as: who renders one
    escapes it.
    """
    copy: ValueT = _harmless(value, visible_line)
    return copy


def _is_document(value: object) -> bool:
    """True if a value is a struct of msgspec, told without importing it."""
    return hasattr(value, "__struct_fields__") and not isinstance(value, type)


def _harmless(value: Any, written: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, Enum) else written(value)
    if isinstance(value, tuple | list):
        elements = [_harmless(element, written) for element in value]
        make = getattr(value, "_make", type(value))
        return make(elements)
    if isinstance(value, dict):
        return {
            _harmless(key, written): _harmless(element, written) for key, element in value.items()
        }
    if has_fields(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return replace(value, **_harmless_fields(value, names, written))
    return value


def _harmless_fields(value: Any, names: Iterable[str], written: Callable[[str], str]) -> JsonObject:
    return {
        name: _harmless(getattr(value, name), visible if name in _OF_LINES else written)
        for name in names
    }
