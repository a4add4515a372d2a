"""What a transaction has changed that others keep in memory, and who is connected somewhere."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Here(NamedTuple):
    """Somebody who is connected: their kind, what they say that they do, and the topics that they
    subscribe to.
    """

    kind: str
    activity: str = ""
    topics: frozenset[str] = frozenset()


class News(msgspec.Struct):
    """What has changed. `loads` are the messages and bytes by which what waits in each mailbox has
    grown.
    """

    streams: set[str] = msgspec.field(default_factory=set)  # and documents
    names: set[str] = msgspec.field(default_factory=set)
    channels: set[str] = msgspec.field(default_factory=set)
    loads: dict[str, list[int]] = msgspec.field(default_factory=dict)
    # a dead letter of each mailbox, the oldest
    revived: dict[str, int] = msgspec.field(default_factory=dict)
    is_presence_changed: bool = False
    is_cut: bool = False  # it was too much to be told

    def load(self, mailbox: str, size: int, messages: int = 1) -> None:
        """Messages have come to a mailbox, or have left it where there are fewer than none."""
        load = self.loads.setdefault(mailbox, [0, 0])
        load[0] += messages
        load[1] += messages * size

    def length(self) -> int:
        """How many names it has."""
        return len(self.streams) + len(self.names) + len(self.channels) + len(self.loads)

    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not (self.length() or self.is_presence_changed or self.is_cut)


class Everything(frozenset[str]):
    """The names of what has changed, where that may be anything."""

    def __contains__(self, name: object) -> bool:
        """Always."""
        return True
