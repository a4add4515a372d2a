"""Time enters the program here, so that tests can bring their own."""

from __future__ import annotations

import time
from collections.abc import Callable

wall_seconds = time.time
elapsed_seconds = time.perf_counter


class SteadyClock:
    """Seconds since 1970 that never go back: where the system's clock is set back, they go on from
    where they were.
    """

    def __init__(
        self,
        wall: Callable[[], float] = wall_seconds,
        elapsed: Callable[[], float] = elapsed_seconds,
    ) -> None:
        self._wall = wall
        self._elapsed = elapsed
        # the latest that the second clock can have begun by the first
        self._began = wall() - elapsed()

    def __call__(self) -> float:
        """The time now."""
        self._began = max(self._began, self._wall() - self._elapsed())
        return self._began + self._elapsed()


def local_time() -> str:
    """Now, for people who read a log."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def local_minute(seconds: float) -> str:
    """A moment in seconds since 1970, for people who look for it in a list."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


class Stopwatch:
    """Seconds since it was made."""

    __slots__ = ("_started_seconds",)

    def __init__(self) -> None:
        self._started_seconds = elapsed_seconds()

    def seconds(self) -> float:
        """Seconds since the start; never negative and unmoved by changes of the wall clock."""
        return elapsed_seconds() - self._started_seconds
