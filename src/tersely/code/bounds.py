"""The bounds that a computation met, and the sentence about them.

Bounds are cached with the result that they limit, so an answer names the same bounds whichever
questions came before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TypeVar

Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)

NONE: frozenset[str] = frozenset()


class Bounds:
    """Collects the bounds met by a computation; a nested `hear` collects for itself."""

    def __init__(self) -> None:
        self._heard: list[frozenset[str]] = []

    def met(self, *bounds: str) -> None:
        """Say that something stays unknown because of some bounds."""
        if bounds and self._heard:
            self._heard[-1] = self._heard[-1].union(bounds)

    def hear(
        self, compute: Callable[..., Found], *arguments: object
    ) -> tuple[Found, frozenset[str]]:
        """The result of a function, and the bounds that it met, which enclosing calls do not
        receive.
        """
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
        """The result of a function, computed once a key; each call meets the bounds of the
        computation.
        """
        answer = known.get(key)
        if answer is None:
            answer = known[key] = self.hear(compute, *arguments)
        self.met(*answer[1])
        return answer[0]


def missing_text(bounds: Collection[str]) -> list[str]:
    """The one sentence about bounds for which an answer may lack something, none for no bounds."""
    wide = "search for the name in double quotes to see all places that write it"
    return [f"not complete: {min(bounds)}; {wide}"] if bounds else []
