"""Frames: the length of a message in bytes as a decimal number, a colon, the message. No IO.

`13:Hello, World!` is a bare frame. A frame whose length begins with a zero, `013:…`, is an
envelope: a header as one line of JSON, a newline, the message. No number is written with a zero
before it, so a bare frame is never taken for an envelope; and who only knows bare frames reads the
same length, and has the message below its header.
"""

from __future__ import annotations

from typing import NamedTuple

from .failures import TalkError

MAX_MESSAGE_BYTES = 1_048_576
MAX_HEADER_BYTES = 16_384  # of an envelope, beside its message
_DIGITS = frozenset(b"0123456789")
_COLON = b":"
_ENVELOPE_MARK = b"0"
MAX_LENGTH_DIGITS = 8  # enough for any length that is allowed, and a mark


class Frame(NamedTuple):
    """The content of one frame."""

    content: bytes
    is_envelope: bool


def encode(content: bytes, *, is_envelope: bool = False) -> bytes:
    """The frame of a content."""
    mark = _ENVELOPE_MARK if is_envelope else b""
    return b"%b%d:%b" % (mark, len(content), content)


class FrameReader:
    """Cuts a stream of bytes into frames, however it arrives; holds one frame at most."""

    __slots__ = ("_held", "_max_bytes")

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._held = bytearray()
        self._max_bytes = max_message_bytes

    @property
    def is_between_frames(self) -> bool:
        """True if nothing of a frame has come that is not whole yet."""
        return not self._held

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now; raises `MALFORMED_FRAME` and `MESSAGE_TOO_LARGE`, after
        which it is spent.

        What is too large is refused as soon as its length is known. Frames before a bad one are
        given first: the failure is raised by the next call, which may bring no data.
        """
        self._held += data
        frames: list[Frame] = []
        try:
            while (frame := self._next()) is not None:
                frames.append(frame)
        except TalkError:
            if not frames:
                raise
        return frames

    def _next(self) -> Frame | None:
        colon = self._held.find(_COLON, 0, MAX_LENGTH_DIGITS + 1)
        digits = bytes(self._held[: colon if colon >= 0 else MAX_LENGTH_DIGITS + 1])
        if (
            not _DIGITS.issuperset(digits)
            or colon == 0
            or (colon < 0 and len(digits) > MAX_LENGTH_DIGITS)
        ):
            raise TalkError(
                "MALFORMED_FRAME", "a frame is the length in bytes, a colon, and the message"
            )
        if colon < 0:
            return None
        is_envelope = digits.startswith(_ENVELOPE_MARK) and len(digits) > 1
        length = int(digits)
        allowed = self._max_bytes + (MAX_HEADER_BYTES if is_envelope else 0)
        if length > allowed:
            raise too_large(length, self._max_bytes)
        end = colon + 1 + length
        if len(self._held) < end:
            return None
        content = bytes(self._held[colon + 1 : end])
        del self._held[:end]
        return Frame(content, is_envelope)


def too_large(size: int, allowed: int) -> TalkError:
    """The failure of a message of that many bytes."""
    return TalkError(
        "MESSAGE_TOO_LARGE", f"a message has at most {allowed} bytes", size=size, max_size=allowed
    )
