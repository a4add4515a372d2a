"""Waiting for a pipe."""

from __future__ import annotations

import select
import sys
import time

if sys.platform == "win32":
    import _winapi
    import msvcrt

_LOOK_AGAIN_SECONDS = 0.01  # on Windows, where nobody tells


def is_readable(descriptor: int, seconds: float) -> bool:
    """True once reading a pipe would not wait, because of bytes or its end; False if that takes
    longer.
    """
    if sys.platform == "win32":
        until = time.monotonic() + seconds
        while not _has_bytes(descriptor):
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_AGAIN_SECONDS)
        return True
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(max(seconds, 0) * 1000))


if sys.platform == "win32":

    def _has_bytes(descriptor: int) -> bool:
        try:
            return bool(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor), 0)[0])
        except BrokenPipeError:  # its end
            return True
