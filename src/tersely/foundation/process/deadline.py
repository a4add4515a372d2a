"""Ending a computation that asks nobody whether it should end, such as a regular expression that
backtracks.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class DeadlineError(Exception):
    """The time is up."""


@contextmanager
def deadline(processor_seconds: float) -> Iterator[None]:
    """Raise `DeadlineError` in what is done within, once it has computed for so long.

    The system's timer tells the main thread, where commands and the daemon's tasks run; other
    threads have no bound, and neither has anything on Windows, which has no such timer.
    """
    with _timer("VIRTUAL", "SIGVTALRM", processor_seconds):
        yield


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise `DeadlineError` in what is done within, once so long has passed; 0 for any time.

    What was being changed may be left half changed: for processes that end with the answer.
    """
    with _timer("REAL", "SIGALRM", seconds):
        yield


@contextmanager
def _timer(timer_name: str, signal_name: str, seconds: float) -> Iterator[None]:
    is_told = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not (seconds and is_told):
        yield
        return
    timer: int = getattr(signal, f"ITIMER_{timer_name}")
    number: int = getattr(signal, signal_name)
    before = signal.signal(number, _expire)
    try:
        signal.setitimer(timer, seconds)
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def _expire(number: int, frame: FrameType | None) -> None:
    raise DeadlineError
