"""Channels: who is in them. Members stay members while they are away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings
from tersely.relay.store import mailboxes as boxes
from tersely.relay.store.store import Store
from tersely.relay.store.tables import Tables

MAX_CHANNELS = 10_000
MAX_CHANNEL_MEMBERS = 1_000

Write = Callable[[Tables], None]


class Channel(NamedTuple):
    """One channel."""

    name: str
    members: Strings
    created_ms: int


class ChannelMembers:
    """The channels of one relay. Every change says how it is written down, None where nothing has
    changed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changing = Lock()  # they change by the socket and over HTTP
        self._members: dict[str, dict[str, int]] = {}
        self.reload()

    def reload(self, names: Iterable[str] | None = None) -> None:
        """Read again who is in some channels, or in all."""
        reader = self._store.reader
        rows = (
            boxes.members(reader)
            if names is None
            else [row for one in names for row in boxes.members(reader, one)]
        )
        found: dict[str, dict[str, int]] = {name: {} for name in names or ()}
        for channel, name, at_ms in rows:
            found.setdefault(channel, {})[name] = at_ms
        with self._changing:
            kept = (
                {}
                if names is None
                else {name: one for name, one in self._members.items() if name not in found}
            )
            self._members = kept | {name: one for name, one in found.items() if one}

    def get(self, name: str) -> Channel | None:
        """A channel that has members."""
        members = self._members.get(name)
        return Channel(name, tuple(members), min(members.values())) if members else None

    def all(self) -> list[Channel]:
        """All channels, by name."""
        found = (self.get(name) for name in sorted(self._members))
        return [one for one in found if one is not None]

    def join(self, channel: str, name: str) -> Write | None:
        """Make somebody a member; raises `busy` where there are too many."""
        with self._changing:
            members = self._members.get(channel)
            if members is None and len(self._members) >= MAX_CHANNELS:
                raise TerselyError("busy", f"there are {MAX_CHANNELS:,} channels")
            if members is not None and name in members:
                return None
            if members is not None and len(members) >= MAX_CHANNEL_MEMBERS:
                raise TerselyError("busy", f"{channel} has {MAX_CHANNEL_MEMBERS:,} members")
            self._members.setdefault(channel, {})[name] = self._store.now_ms()
        return partial(boxes.join, channel=channel, name=name)

    def forget(self, name: str) -> None:
        """Have somebody be a member of nothing; the store forgets it with the name."""
        for channel in [one.name for one in self.all() if name in one.members]:
            self.leave(channel, name)

    def leave(self, channel: str, name: str) -> Write | None:
        """Make somebody a member no longer."""
        with self._changing:
            members = self._members.get(channel, {})
            if members.pop(name, None) is None:
                return None
            if not members:
                del self._members[channel]
        return partial(boxes.leave, channel=channel, name=name)
