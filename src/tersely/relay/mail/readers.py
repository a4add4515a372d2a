"""Who waits for a message: a future each, so that no thread waits with it, and one thread for all of
them, which ends the waiting of those whose time is over.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError

MAX_WAITING_READERS = 2_000  # of mailboxes, at a time


class _Reader:
    """Somebody who waits for a message in a mailbox, behind a number."""

    def __init__(self, mailbox: str, after: int, until: float) -> None:
        self.mailbox = mailbox
        self.after = after
        self.until = until
        self.done: Future[None] = Future()

    def end(self) -> None:
        """The waiting is over, if whoever waits has not given up."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(None)


class Readers:
    """Those who wait. `is_there` says whether a message waits in a mailbox, behind a number."""

    def __init__(self, is_there: Callable[[str, int], bool]) -> None:
        self._is_there = is_there
        self._waiting: dict[str, list[_Reader]] = {}  # by mailbox
        self._count = 0
        self._changed = Condition()
        self._watch: Thread | None = None

    def wait(self, mailbox: str, after: int, seconds: float) -> Future[None]:
        """What is done as soon as a message waits, or the time is over; raises `busy` where too many
        wait.
        """
        reader = _Reader(mailbox, after, elapsed_seconds() + seconds)
        with self._changed:
            if self._count >= MAX_WAITING_READERS:
                raise TerselyError(
                    "busy", f"{MAX_WAITING_READERS:,} wait for messages", "try again later"
                )
            self._waiting.setdefault(mailbox, []).append(reader)
            self._count += 1
            if self._watch is None:
                self._watch = Thread(target=self._end_late, name="tersely-readers", daemon=True)
                self._watch.start()
            self._changed.notify()
        reader.done.add_done_callback(lambda _: self._forget(reader))
        self.came(mailbox)  # it may have before
        return reader.done

    def came(self, mailbox: str) -> None:
        """Messages may have come to a mailbox."""
        with self._changed:
            readers = list(self._waiting.get(mailbox, ()))
        for reader in readers:
            if self._is_there(mailbox, reader.after):
                self._end(reader)

    def mailboxes(self) -> list[str]:
        """Those at which somebody waits."""
        with self._changed:
            return list(self._waiting)

    def _end_late(self) -> None:
        """End the waiting of those whose time is over, until nobody waits."""
        while True:
            with self._changed:
                readers = [one for waiting in self._waiting.values() for one in waiting]
                if not readers:
                    self._watch = None
                    return
                soonest = min(readers, key=lambda one: one.until)
                left = soonest.until - elapsed_seconds()
                if left > 0:
                    self._changed.wait(left)
                    continue
            self._end(soonest)

    def _end(self, reader: _Reader) -> None:
        if self._forget(reader):
            reader.end()

    def _forget(self, reader: _Reader) -> bool:
        """Have somebody wait no longer; whether it did."""
        with self._changed:
            waiting = self._waiting.get(reader.mailbox, [])
            if reader not in waiting:
                return False
            waiting.remove(reader)
            self._count -= 1
            if not waiting:
                del self._waiting[reader.mailbox]
            self._changed.notify()
            return True
