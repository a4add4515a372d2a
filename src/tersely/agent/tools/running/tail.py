"""The last lines of what a program has printed so far, for whoever looks on while it runs."""

from __future__ import annotations

from tersely.agent.tools.observation import clipped, plain
from tersely.foundation.text.escape import visible

MAX_PROGRESS_LINES = 10  # of its output, shown while it runs
MAX_PROGRESS_BYTES = 8_192  # of its output, kept for that


class Tail:
    """The end of an output, within a bound however much comes."""

    def __init__(self) -> None:
        self._kept = b""
        self._is_cut = False
        self.is_new = False  # something has come since the last `text`

    def add(self, chunk: bytes) -> None:
        """Take what was printed next."""
        whole = self._kept + chunk
        self._is_cut = self._is_cut or len(whole) > MAX_PROGRESS_BYTES
        self._kept = whole[-MAX_PROGRESS_BYTES:]
        self.is_new = True

    def text(self) -> str:
        """The last lines as they stand in a terminal now, harmless."""
        self.is_new = False
        lines = plain(self._kept.decode("utf-8", "replace")).rstrip().split("\n")
        if self._is_cut and len(lines) > 1:
            del lines[0]  # its beginning is gone
        return "\n".join(clipped(visible(line)) for line in lines[-MAX_PROGRESS_LINES:])
