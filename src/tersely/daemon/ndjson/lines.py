"""Newline-delimited messages out of a stream of bytes, each of a bounded length."""

from __future__ import annotations

from collections.abc import Iterator


class Lines:
    """Cuts what arrives into lines. Of a line that is too long only the fact is kept, once it ends."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._begun = bytearray()
        self._is_too_long = False

    def feed(self, received: bytes) -> Iterator[bytes | None]:
        """The lines that `received` completes, without their ends; None stands for one that was too
        long.
        """
        start = 0
        while (end := received.find(b"\n", start)) >= 0:
            line = None if self._exceeds(end - start) else bytes(self._begun) + received[start:end]
            self._begun.clear()
            self._is_too_long = False
            start = end + 1
            yield line
        if self._exceeds(len(received) - start):
            self._begun.clear()
            self._is_too_long = True
        else:
            self._begun += received[start:]

    def _exceeds(self, more_bytes: int) -> bool:
        return self._is_too_long or len(self._begun) + more_bytes > self._most_bytes
