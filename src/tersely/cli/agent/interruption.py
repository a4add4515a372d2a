"""Signals that ask the program to end: the first one lets it end well, the second one ends it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OF_SIGNAL = 128  # and its number: the exit status, as a shell says it


class Interruption:
    """A context that listens for the signals; `number` is the one that came, 0 for none.

    A signal raises `KeyboardInterrupt`; after a call of `within`, it calls the function given there
    instead. A signal that was ignored when the program started stays ignored.
    """

    def __init__(self) -> None:
        self.number = 0
        self._before: dict[signal.Signals, Any] = {}

    def within(self, stop: Callable[[], object]) -> None:
        """Have the running event loop call `stop`."""
        loop = asyncio.get_running_loop()
        for each in self._before:
            loop.add_signal_handler(each, self._stopping, each, stop)

    @property
    def status(self) -> int:
        """The exit status of a program that was asked to end."""
        return OF_SIGNAL + self.number

    @property
    def name(self) -> str:
        """The signal as people know it."""
        return signal.Signals(self.number).name

    def __enter__(self) -> Self:
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                self._before[each] = signal.signal(each, self._raising)
        return self

    def __exit__(self, *_: object) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _raising(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        raise KeyboardInterrupt

    def _stopping(self, number: int, stop: Callable[[], object]) -> None:
        self.number = number
        loop = asyncio.get_running_loop()
        for each in self._before:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        stop()
