"""Reasoning that a provider wants back: sealed items, kept with the calls that they led to.

They are handed back while the tools of one turn run, and mean nothing to anybody else, so they are
kept in memory: a session that goes on in another process begins with a message of the user, after
which no provider misses them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tersely.agent.models.protocol import ModelMessage, RawCall
from tersely.foundation.types import JsonMapping

MAX_KEPT_ANSWERS = 256  # whose reasoning is kept, the newest

Item = JsonMapping


class SealedReasoning:
    """The reasoning before calls, by the id of the first one."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[Item, ...]] = {}

    def keep(self, calls: Sequence[RawCall], items: Sequence[Item]) -> None:
        """Keep the reasoning of one answer. Without a call nobody wants it back."""
        if not calls or not items:
            return
        self._items[calls[0].id] = tuple(items)
        if len(self._items) > MAX_KEPT_ANSWERS:
            del self._items[next(iter(self._items))]

    def before(self, message: ModelMessage) -> tuple[Item, ...]:
        """The reasoning that led to the calls of a message, as it was received."""
        return self._items.get(message.calls[0].id, ()) if message.calls else ()
