"""Time enters the program here, so that tests can bring their own."""

from __future__ import annotations

import time

wall_seconds = time.time
elapsed_seconds = time.perf_counter


def wall_ms() -> int:
    """Now, in ms since 1970."""
    return int(wall_seconds() * 1000)


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
