"""Server-sent events, read as the WHATWG standard says (HTML, section "Parsing an event stream")."""

from __future__ import annotations

from collections.abc import Iterator

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_EVENT_BYTES

_BOM = b"\xef\xbb\xbf"


class EventReader:
    """Cuts bytes, however they were split on their way, into the data of events. What no blank line
    ends is none.
    """

    def __init__(self) -> None:
        self._line = bytearray()  # not ended yet
        self._data: list[bytes] = []  # of the event that is being read
        self._size = 0  # of that data, in bytes
        self._after_return = False  # whether a line feed would belong to the line end before it
        self._is_start = True

    def feed(self, received: bytes) -> Iterator[str]:
        """The data of every event that is complete now; raises `model_failed` for one that is too
        large.
        """
        for part in received.splitlines(keepends=True):
            yield from self._part(part)

    def _part(self, part: bytes) -> Iterator[str]:
        if self._after_return and part == b"\n":
            self._after_return = False
            return
        self._after_return = part.endswith(b"\r")
        content = part.rstrip(b"\r\n")
        self._line += content
        if self._size + len(self._line) > MAX_MODEL_EVENT_BYTES:
            raise TerselyError(
                "model_failed",
                f"the server sent an event of more than {MAX_MODEL_EVENT_BYTES:,} bytes",
            )
        if content != part:
            line = bytes(self._line)
            self._line.clear()
            yield from self._ended(line)

    def _ended(self, line: bytes) -> Iterator[str]:
        if self._is_start:
            self._is_start = False
            line = line.removeprefix(_BOM)
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
                self._size += len(value) + 1
            return
        data, self._data, self._size = self._data, [], 0
        if data:
            yield b"\n".join(data).decode("utf-8", "replace")
