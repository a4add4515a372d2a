"""The bounds that are met while something is found out, in words.

They belong to what is found out: whoever keeps it keeps them with it, so that it says the same
whatever was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TypeVar

Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)

NONE: frozenset[str] = frozenset()


class Bounds:
    """What hears of bounds that are met, the innermost who asked."""

    def __init__(self) -> None:
        self._heard: list[frozenset[str]] = []

    def met(self, *bounds: str) -> None:
        """Say that something stays unknown because of some bounds."""
        if bounds and self._heard:
            self._heard[-1] = self._heard[-1].union(bounds)

    def hear(
        self, compute: Callable[..., Found], *arguments: object
    ) -> tuple[Found, frozenset[str]]:
        """What a function returns, and the bounds that it met, which nobody else hears of."""
        heard = self._heard
        heard.append(NONE)
        try:
            found = compute(*arguments)
            return found, heard[-1]
        finally:
            heard.pop()

    def once(
        self,
        known: dict[Key, tuple[Found, frozenset[str]]],
        key: Key,
        compute: Callable[..., Found],
        *arguments: object,
    ) -> Found:
        """What a function returns, found out once; all who ask hear of the bounds that it met."""
        answer = known.get(key)
        if answer is None:
            answer = known[key] = self.hear(compute, *arguments)
        self.met(*answer[1])
        return answer[0]


def missing_text(bounds: Collection[str]) -> list[str]:
    """The one sentence about bounds for which an answer may lack something, none for no bounds."""
    wide = "search for the name in double quotes to see all places that write it"
    return [f"not complete: {min(bounds)}; {wide}"] if bounds else []
