"""Texts of others made short enough to be shown."""

from __future__ import annotations

from collections.abc import Sequence


def shortened(text: str, characters: int) -> str:
    """The text, or its beginning and an ellipsis: at most so many characters."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def one_line(text: str, characters: int) -> str:
    """The text on one line, runs of white space as one blank, at most so many characters."""
    return shortened(" ".join(text.split()), characters)


def listed(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more


class KeptOutput:
    """What is kept of bytes that come in any number: the first half of a bound, and the last."""

    def __init__(self, most_bytes: int) -> None:
        self._half = most_bytes // 2
        self._head, self._tail, self._size = bytearray(), bytearray(), 0

    def add(self, chunk: bytes) -> None:
        """Take what came next."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        self._size += len(chunk)
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def left_out(self) -> int:
        """The bytes that are left out of the middle."""
        return max(0, self._size - 2 * self._half)

    def content(self, gap: str = "") -> bytes:
        """All that is kept, with `gap`, or else a line of its own, where something is left out."""
        if not self.left_out:
            return bytes(self._head + self._tail)
        said = gap or f"\n… {self.left_out:,} bytes are left out here\n"
        return b"".join([self._head, said.encode(), self._tail[-self._half :]])
