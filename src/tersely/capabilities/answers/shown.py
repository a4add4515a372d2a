"""The files that an answer stands for: those whose code is in it, and the one that it is about as a
whole.

Read from any plain result, so that no capability has to say it; only doors that count what they
spare ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tersely.foundation.types import Strings, fields, has_fields

_CODE = ("code", "content", "text")  # fields that hold source
_CODE_DETAILS = frozenset({"body", "skeleton"})
_WHOLE = "whole_files"  # the paths of files that are shown as they are


def shown_files(result: object) -> Strings:
    """Paths from the root that may be files, each once: a result also names directories and modules
    so.
    """
    found: dict[str, None] = {}
    if path := _member(result, "path"):
        found[path] = None
    for path in _of(result, ""):
        found[path] = None
    return tuple(path for path in found if path)


def _of(value: object, place: str) -> Iterator[str]:
    """The files of which there is code in a value, `place` being the one that it belongs to."""
    if isinstance(value, tuple | list):
        for element in value:
            yield from _of(element, place)
    elif has_fields(value) and not isinstance(value, type):
        place = _place(value) or place
        if (
            any(_member(value, name) for name in _CODE)
            or getattr(value, "detail", "") in _CODE_DETAILS
        ):
            yield place
        for field in fields(value):
            inner = getattr(value, field.name)
            if field.name == _WHOLE and isinstance(inner, tuple):
                yield from inner
            else:
                yield from _of(inner, place)


def _place(value: Any) -> str:
    """The path that a value names, by itself or as the beginning of the id of a symbol."""
    return (
        _member(value, "path")
        or (_member(value, "id") or _member(value, "symbol")).partition(":")[0]
    )


def _member(value: object, name: str) -> str:
    """A field that is text or lines of text, empty for all others."""
    found = getattr(value, name, "")
    if isinstance(found, tuple | list):
        return "\n".join(line for line in found if isinstance(line, str))
    return found if isinstance(found, str) else ""
