"""Noticing that a model makes the same call again and again, and what is done about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from laconic.foundation.hashing import content_hash

HINT = "You have made this call before, with the same result. Use what you know, or try something else."
EXCLUDED = "This call gave the same result three times. It will not be made again: do something else, or answer."


class Repeated(IntEnum):
    """How often a call gave the same result."""

    NO = 1
    TWICE = 2  # a hint
    EXCLUDED = 3  # it is not made any more
    STUCK = 4  # somebody has to say how to go on


class Repeats:
    """The calls since something has changed, and what they gave last."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[bytes, int]] = {}

    def before(self, tool: str, arguments: Mapping[str, Any]) -> Repeated:
        """Whether a call may be made: `STUCK` where it is excluded."""
        times = self._seen.get(_key(tool, arguments), (b"", 0))[1]
        return Repeated.STUCK if times >= Repeated.EXCLUDED else Repeated.NO

    def after(self, tool: str, arguments: Mapping[str, Any], result: str) -> Repeated:
        """Take note of what a call gave; how often it gave the same by now."""
        key, digest = _key(tool, arguments), content_hash(result.encode("utf-8", "replace"))
        last, times = self._seen.get(key, (b"", 0))
        times = times + 1 if digest == last else 1
        self._seen[key] = (digest, times)
        return Repeated(min(times, Repeated.EXCLUDED))

    def changed(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Something was changed by this call: every other one may well be worth making again."""
        key = _key(tool, arguments)
        self._seen = {key: self._seen[key]} if key in self._seen else {}

    def forget(self) -> None:
        """Another turn begins."""
        self._seen = {}


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
