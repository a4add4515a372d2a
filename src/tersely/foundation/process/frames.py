"""Plain values between processes of the same program on the same Python: a length, then the value
marshalled.
"""

from __future__ import annotations

import marshal
from typing import Any, BinaryIO

LENGTH_BYTES = 8
# the first word of what comes before an answer, of the answer, and of what may come after it
PROGRESS, ANSWER, TIDIED = "progress", "answer", "tidied"


def encode_frame(value: Any) -> bytes:
    """A plain value as it is sent."""
    encoded = marshal.dumps(value)
    return len(encoded).to_bytes(LENGTH_BYTES, "big") + encoded


def write_frame(stream: BinaryIO, value: Any) -> None:
    """Send a plain value."""
    stream.write(encode_frame(value))
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Receive what `write_frame` sent; `EOFError` when the other end is gone."""
    length = int.from_bytes(_read_exactly(stream, LENGTH_BYTES), "big")
    return marshal.loads(_read_exactly(stream, length))  # noqa: S302


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    parts = []
    while size > 0:
        part = stream.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
