"""News of a transaction: changes to what others keep in memory, and who is connected somewhere."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import msgspec

MAX_DOUBTFUL_TRANSACTIONS = 1_000  # that are remembered


class Here(NamedTuple):
    """Somebody who is connected: their kind, what they say that they do, and the topics that they
    subscribe to.
    """

    kind: str
    activity: str = ""
    topics: frozenset[str] = frozenset()


class News(msgspec.Struct):
    """The changes of one transaction. `loads` are the messages and bytes by which what waits in
    each mailbox has grown.
    """

    streams: set[str] = msgspec.field(default_factory=set)  # and documents
    names: set[str] = msgspec.field(default_factory=set)
    channels: set[str] = msgspec.field(default_factory=set)
    loads: dict[str, list[int]] = msgspec.field(default_factory=dict)
    # a dead letter of each mailbox, the oldest
    revived: dict[str, int] = msgspec.field(default_factory=dict)
    present: set[str] = msgspec.field(default_factory=set)  # who has come, gone or says something
    is_process_gone: bool = False  # and whoever was connected to it
    is_cut: bool = False  # it was too much to be told

    def load(self, mailbox: str, size: int, messages: int = 1) -> None:
        """Messages have come to a mailbox, or have left it where there are fewer than none."""
        load = self.loads.setdefault(mailbox, [0, 0])
        load[0] += messages
        load[1] += messages * size

    def length(self) -> int:
        """The number of names that it has."""
        named = (self.streams, self.names, self.channels, self.present, self.loads)
        return sum(map(len, named))

    def is_empty(self) -> bool:
        """True if nothing has changed."""
        return not (self.length() or self.is_process_gone or self.is_cut)


class OwnNews:
    """The news that this process is told of its own transactions. Of one that was written it knows
    already; one that has failed here may be there all the same, and then it is news.
    """

    def __init__(self) -> None:
        self._changing = Lock()
        self._settled = 0  # the latest transaction of which it is known how it ended
        self._doubtful: set[int] = set()
        self._early: list[tuple[int, News | None]] = []  # told of transactions behind that one

    def is_news(self, serial: int, news: News | None) -> bool:
        """True if what was told of a transaction is to be followed; what is told before it is known
        how it ended waits for that.
        """
        with self._changing:
            if serial > self._settled:
                self._early.append((serial, news))
                return False
            return serial in self._doubtful

    def settle(self, serial: int, *, has_failed: bool) -> list[News | None]:
        """Note how a transaction has ended; what was told of it already and is to be followed."""
        with self._changing:
            self._settled = max(self._settled, serial)
            if has_failed:
                latest = sorted(self._doubtful)[-MAX_DOUBTFUL_TRANSACTIONS:]
                self._doubtful = {*latest, serial}
            told, self._early = self._early, []
        return [news for _, news in told] if has_failed else []


class Everything(frozenset[str]):
    """The names of what has changed, where that may be anything."""

    def __contains__(self, name: object) -> bool:
        """Always."""
        return True
