"""A file that one process holds as long as it lives, and what that process wrote into it about
itself.

The system lets go of the lock when the process ends, however it ends. The record is a hint for
readers: it outlives the process, so only the lock tells whether anybody holds the file.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tersely.foundation.system import NO_LINK, UNCHANGED

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_RECORD_BYTES = 10_000
_LOCKED_BYTE = 1 << 30  # on Windows, beyond the record: nobody else can read what is locked
_AGAIN_SECONDS = 0.05  # between two attempts there


@contextmanager
def held(path: str, *, waits: bool = False) -> Iterator[int]:
    """The descriptor of a file that this process holds; `BlockingIOError` where another does and
    `waits` is false.

    Raises `OSError` where the file cannot be made, or is a link.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | UNCHANGED | NO_LINK, 0o600)
    try:
        _lock(descriptor, waits=waits)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: str) -> bool:
    """True if a process holds the file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | UNCHANGED | NO_LINK)
    except OSError:
        return False
    try:
        _lock(descriptor, is_shared=True)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def release(descriptor: int) -> None:
    """Let another process hold the file, before the descriptor is closed."""
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def write_record(descriptor: int, record: Mapping[str, Any]) -> None:
    """Replace what a held file says of its process."""
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps(record, ensure_ascii=False).encode())


def read_record(path: str) -> dict[str, Any]:
    """The record in the file, whether or not that process still runs; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            record = json.loads(file.read(_RECORD_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _lock(descriptor: int, *, is_shared: bool = False, waits: bool = False) -> None:
    """Lock an open file; `BlockingIOError` where another process holds it and `waits` is false."""
    if sys.platform == "win32":
        while not _has_locked(descriptor):
            if not waits:
                raise BlockingIOError("another process holds the file")
            time.sleep(_AGAIN_SECONDS)
    else:
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if waits else kind | fcntl.LOCK_NB)


if sys.platform == "win32":

    def _has_locked(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
