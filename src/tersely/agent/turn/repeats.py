"""Noticing that a model makes the same call again and again, and what is done about it."""

from __future__ import annotations

import json
import re
from enum import IntEnum

from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonMapping

_DURATION = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds?)\b")
SAME = "The same result as before, which you have."


class Repeated(IntEnum):
    """The number of times that a call gave the same result."""

    NO = 1
    TWICE = 2  # a hint
    EXCLUDED = 3  # it is not made any more
    STUCK = 4  # somebody has to say how to go on


HINTS = {
    Repeated.TWICE: "Answer the user from what you know, or call something else.",
    Repeated.EXCLUDED: "This call will not be made again: answer the user, or call something else.",
}


class CallRepeats:
    """The calls of a turn, what they gave last, and how often since something has changed."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[bytes, int]] = {}

    def before(self, tool: str, arguments: JsonMapping) -> Repeated:
        """The verdict on a call that may be a repetition: `STUCK` where it is excluded."""
        times = self._seen.get(_key(tool, arguments), (b"", 0))[1]
        return Repeated.STUCK if times >= Repeated.EXCLUDED else Repeated.NO

    def after(self, tool: str, arguments: JsonMapping, result: str) -> Repeated:
        """Take note of what a call gave; how often it gave the same by now."""
        key, digest = _key(tool, arguments), _digest(result)
        last, times = self._seen.get(key, (b"", 0))
        times = times + 1 if digest == last else 1
        self._seen[key] = (digest, times)
        return Repeated(min(times, Repeated.EXCLUDED))

    def changed(self, tool: str, arguments: JsonMapping, result: str) -> None:
        """Something may have been changed by this call: every other one may well be worth making
        again.

        Not so where it gave what it gave the last time: commands that take turns would never be
        noticed.
        """
        key = _key(tool, arguments)
        if self._seen.get(key, (b"", 0))[0] != _digest(result):
            self._seen = {
                each: (last, times if each == key else 0)
                for each, (last, times) in self._seen.items()
            }

    def forget(self) -> None:
        """Another turn begins."""
        self._seen = {}


def without_durations(result: str) -> str:
    """A result without the times that programs tell: they differ where nothing else does."""
    return _DURATION.sub("", result)


def _digest(result: str) -> bytes:
    return content_hash(without_durations(result).encode("utf-8", "replace"))


def _key(tool: str, arguments: JsonMapping) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
