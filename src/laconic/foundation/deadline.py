"""Ending a computation that asks nobody whether it should end, such as a regular expression that backtracks."""

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

    The system's timer tells the main thread, where commands and the daemon's tasks run; other threads have no bound.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _expire)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, processor_seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _expire(number: int, frame: FrameType | None) -> None:
    raise DeadlineError
