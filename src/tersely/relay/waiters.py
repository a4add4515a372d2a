"""Those who wait for something: a future each, so that no thread waits with it, and one thread for
all of them, which ends the waiting of those whose time is over.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError

MAX_WAITERS = 2_000  # for things of one kind, at a time


class _Waiter:
    """Somebody who waits for what has a key."""

    def __init__(self, key: str, has_come: Callable[[], bool], until: float) -> None:
        self.key = key
        self.has_come = has_come
        self.until = until
        self.done: Future[None] = Future()

    def end(self) -> None:
        """The waiting is over, if whoever waits has not given up."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(None)


class Waiters:
    """Those who wait for things of one kind, which `what` names in the plural."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._waiting: dict[str, list[_Waiter]] = {}  # by key
        self._count = 0
        self._changed = Condition()
        self._watch: Thread | None = None

    def wait(self, key: str, has_come: Callable[[], bool], seconds: float) -> Future[None]:
        """The future that is done as soon as `has_come` is true, or the time is over; raises `busy`
        where too many wait.
        """
        waiter = _Waiter(key, has_come, elapsed_seconds() + seconds)
        with self._changed:
            if self._count >= MAX_WAITERS:
                raise TerselyError(
                    "busy", f"{MAX_WAITERS:,} wait for {self._what}", "try again later"
                )
            self._waiting.setdefault(key, []).append(waiter)
            self._count += 1
            if self._watch is None:
                self._watch = Thread(target=self._end_late, name="tersely-waiters", daemon=True)
                self._watch.start()
            self._changed.notify()
        waiter.done.add_done_callback(lambda _: self._forget(waiter))
        self.came(key)  # it may have before
        return waiter.done

    def came(self, key: str) -> None:
        """Tell those who wait for a key that it may have come."""
        with self._changed:
            waiters = list(self._waiting.get(key, ()))
        for waiter in waiters:
            if waiter.has_come():
                self._end(waiter)

    def keys(self) -> list[str]:
        """The keys for which somebody waits."""
        with self._changed:
            return list(self._waiting)

    def _end_late(self) -> None:
        """End the waiting of those whose time is over, until nobody waits."""
        while True:
            with self._changed:
                waiters = [one for waiting in self._waiting.values() for one in waiting]
                if not waiters:
                    self._watch = None
                    return
                soonest = min(waiters, key=lambda one: one.until)
                left = soonest.until - elapsed_seconds()
                if left > 0:
                    self._changed.wait(left)
                    continue
            self._end(soonest)

    def _end(self, waiter: _Waiter) -> None:
        if self._forget(waiter):
            waiter.end()

    def _forget(self, waiter: _Waiter) -> bool:
        """Have somebody wait no longer; whether it did."""
        with self._changed:
            waiting = self._waiting.get(waiter.key, [])
            if waiter not in waiting:
                return False
            waiting.remove(waiter)
            self._count -= 1
            if not waiting:
                del self._waiting[waiter.key]
            self._changed.notify()
            return True
