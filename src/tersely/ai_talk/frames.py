"""Frames: the length of a message in bytes as a decimal number, a colon, the message.

`13:Hello, World!` is a bare frame. A frame whose length begins with a zero, `013:…`, is an
envelope: a header as one line of JSON, a newline, the message. No number is written with a zero
before it, so a bare frame is never taken for an envelope; and who only knows bare frames reads the
same length, and has the message below its header.
"""

from __future__ import annotations

import re
import socket
import time
from typing import NamedTuple

from .failures import TalkError

MAX_MESSAGE_BYTES = 1_048_576
MAX_HEADER_BYTES = 16_384  # of an envelope, beside its message
_READ_BYTES = 65_536
_LENGTH = re.compile(rb"(0(?=\d))?(\d{1,8}):")
_BEGINNING = re.compile(rb"\d{0,9}")  # of a length that has not come whole


class Frame(NamedTuple):
    """The content of one frame."""

    content: bytes
    is_envelope: bool


def encode(content: bytes, *, is_envelope: bool = False) -> bytes:
    """The frame of a content."""
    return b"%b%d:%b" % (b"0" if is_envelope else b"", len(content), content)


class FrameReader:
    """Cuts what comes over a connection into frames; holds one frame and what came with it."""

    def __init__(self, connection: socket.socket, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._connection, self._max_bytes = connection, max_bytes
        self._held = bytearray()

    def next(self, seconds: float) -> Frame | None:
        """The next frame; None at the end of the connection.

        Raises `TimeoutError`, after which it may be asked again, `MALFORMED_FRAME`,
        `MESSAGE_TOO_LARGE` as soon as the length is known, and `OSError`.
        """
        until = time.monotonic() + seconds
        while (found := self._whole()) is None:
            data = receive(self._connection, until)
            if not data:
                if self._held:
                    raise _malformed()
                return None
            self._held += data
        return found

    def _whole(self) -> Frame | None:
        length = _LENGTH.match(self._held)
        if length is None:
            if _BEGINNING.fullmatch(self._held):
                return None
            raise _malformed()
        is_envelope, size, begins_at = bool(length[1]), int(length[2]), length.end()
        if size > self._max_bytes + (MAX_HEADER_BYTES if is_envelope else 0):
            raise too_large(size, self._max_bytes)
        if len(self._held) < begins_at + size:
            return None
        content = bytes(self._held[begins_at : begins_at + size])
        del self._held[: begins_at + size]
        return Frame(content, is_envelope)


def receive(connection: socket.socket, until: float) -> bytes:
    """The next bytes; none at the end. Raises `TimeoutError`, `OSError`."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return connection.recv(_READ_BYTES)


def too_large(size: int, allowed: int) -> TalkError:
    """The failure of a message of that many bytes."""
    why = f"a message has at most {allowed} bytes"
    return TalkError("MESSAGE_TOO_LARGE", why, size=size, max_size=allowed)


def _malformed() -> TalkError:
    return TalkError("MALFORMED_FRAME", "a frame is the length in bytes, a colon, and the message")
