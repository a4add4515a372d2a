"""A progress bar for work that takes longer than a moment."""

from __future__ import annotations

from typing import TextIO

from tersely.foundation.clock import Stopwatch

SHOWN_AFTER_SECONDS = 0.3
REDRAWN_AFTER_SECONDS = 0.05
WIDTH_CHARACTERS = 30


class ProgressBar:
    """Draws `indexing ███░░░ 1,204/2,818` on one line of a terminal, and wipes it when the work is
    done.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._watch = Stopwatch()
        self._drawn_seconds = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Say how far the work has come."""
        seconds = self._watch.seconds()
        if done >= total:
            self._wipe()
        elif (
            seconds > SHOWN_AFTER_SECONDS and seconds - self._drawn_seconds > REDRAWN_AFTER_SECONDS
        ):
            self._drawn_seconds = seconds
            filled = WIDTH_CHARACTERS * done // total
            bar = "█" * filled + "░" * (WIDTH_CHARACTERS - filled)
            self._stream.write(f"\r\x1b[Kindexing {bar} {done:,}/{total:,}")
            self._stream.flush()

    def _wipe(self) -> None:
        if self._drawn_seconds:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn_seconds = 0.0
