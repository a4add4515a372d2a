"""Events as they happen, of one thread or of all.

An event of all threads is named by a *cursor*: its time, its number, its thread. Behind it comes
what is later in its thread, and in the others what is of its time or later: of the others, what
happened in the same millisecond may come twice to whoever goes on from a cursor, and nothing is
missed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Self

from tersely.relay.store.store import Store
from tersely.relay.store.streams import THREAD, Event, event


def cursor(one: Event) -> str:
    """The cursor of an event of all threads: time in ms, number and thread."""
    return f"{one.at_ms}-{one.number}-{one.thread_id}"


class Follower:
    """The place of one reader among the events. `next` is for one thread at a time; what is new may
    come from any.
    """

    def __init__(self, store: Store, since_ms: int, thread_id: str = "") -> None:
        """Events since a time (ms since 1970), of a thread where one is named."""
        self._store = store
        self._since_ms = since_ms
        self._stream = THREAD + thread_id if thread_id else ""
        self._positions: dict[str, int] = {}  # the last number that was read, by stream
        self._grown: set[str] = set()
        self._changing = Lock()

    @classmethod
    def of_thread(cls, store: Store, thread_id: str, after: int) -> Self:
        """The events of a thread behind a number."""
        made = cls(store, 0, thread_id)
        made._positions[THREAD + thread_id] = after
        return made

    @classmethod
    def behind(cls, store: Store, text: str) -> Self:
        """The events of all threads behind a cursor."""
        at_ms, number, thread_id = text.split("-", 2)
        made = cls(store, int(at_ms))
        made._positions[THREAD + thread_id] = int(number)
        return made

    def watch(self, then: Callable[[], object]) -> Callable[[], None]:
        """Have a function called, on the thread of the store, whenever there may be more; the way
        to end it.
        """
        end = self._store.watch(partial(self._touched, then))
        with self._changing:
            self._grown |= (
                {self._stream}
                if self._stream
                else set(self._store.grown_since(THREAD, self._since_ms))
            )
        return end

    def next(self) -> list[Event]:
        """The next events, in the order in which they happened; none before something new has, as
        `watch` tells.
        """
        with self._changing:
            grown, self._grown = self._grown, set()
        found = [event for stream in sorted(grown) for event in self._read(stream)]
        return sorted(found, key=lambda one: (one.at_ms, one.thread_id, one.number))

    def _touched(self, then: Callable[[], object], touched: frozenset[str]) -> None:
        streams = {
            name
            for name in touched
            if (name == self._stream if self._stream else name.startswith(THREAD))
        }
        if streams:
            with self._changing:
                self._grown |= streams
            then()

    def _read(self, stream: str) -> list[Event]:
        """The new events of a stream, as many as are read at once; the rest follows with the next."""
        if stream not in self._positions:
            self._positions[stream] = self._store.last_before(stream, self._since_ms)
        thread_id, after = stream.removeprefix(THREAD), self._positions[stream]
        found = [event(thread_id, entry) for entry in self._store.entries(stream, after)]
        if found:
            self._positions[stream] = found[-1].number
            with self._changing:
                self._grown.add(stream)
        return found
