"""Ending a computation that asks nobody whether it should end, such as a regular expression that
backtracks.
"""

from __future__ import annotations

import signal
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
    threads have no bound.
    """
    with _timer(signal.ITIMER_VIRTUAL, signal.SIGVTALRM, processor_seconds):
        yield


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise `DeadlineError` in what is done within, once so long has passed; 0 for any time.

    What was being changed may be left half changed: for processes that end with the answer.
    """
    with _timer(signal.ITIMER_REAL, signal.SIGALRM, seconds):
        yield


@contextmanager
def _timer(timer: int, number: signal.Signals, seconds: float) -> Iterator[None]:
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, _expire)
    try:
        signal.setitimer(timer, seconds)
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


def _expire(number: int, frame: FrameType | None) -> None:
    raise DeadlineError
