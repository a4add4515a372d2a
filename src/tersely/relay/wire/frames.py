"""Frames: a length of 4 bytes, the most significant first, and as many bytes of JSON."""

from __future__ import annotations

LENGTH_BYTES = 4


class FrameTooLargeError(Exception):
    """A length that no frame may have. Nothing behind it can be read any more."""


def framed(body: bytes) -> bytes:
    """A body as it is sent."""
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Cuts what comes in into the bodies of frames, however it was split on the way. Holds at most
    one unfinished.
    """

    __slots__ = ("_held", "_most_bytes")

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies that are complete now; raises `FrameTooLargeError` as soon as a length says
        so.
        """
        held = self._held
        if held:
            held += data
            bodies, end = self._cut(held)
            del held[:end]
        else:  # what mostly happens: whole frames, which need not be copied together first
            bodies, end = self._cut(data)
            held += data[end:]
        return bodies

    def _cut(self, data: bytes | bytearray) -> tuple[list[bytes], int]:
        bodies, start, total = [], 0, len(data)
        while total - start >= LENGTH_BYTES:
            body = start + LENGTH_BYTES
            length = int.from_bytes(data[start:body], "big")
            if length > self._most_bytes:
                raise FrameTooLargeError(
                    f"a frame has at most {self._most_bytes:,} bytes, this one {length:,}"
                )
            if total - body < length:
                break
            start = body + length
            bodies.append(bytes(data[body:start]))
        return bodies, start
