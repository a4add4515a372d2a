"""A file that one process holds as long as it lives, and what that process wrote into it about
itself.

The system lets go of the lock when the process ends, however it ends. The record is a hint for
readers: it outlives the process, so only the lock tells whether anybody holds the file.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_RECORD_BYTES = 10_000


@contextmanager
def held(path: str, *, waits: bool = False) -> Iterator[int]:
    """The descriptor of a file that this process holds; `BlockingIOError` where another does and
    `waits` is false.

    Raises `OSError` where the file cannot be made, or is a link.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: str) -> bool:
    """True if a process holds the file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def release(descriptor: int) -> None:
    """Let another process hold the file, before the descriptor is closed."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def write_record(descriptor: int, record: Mapping[str, Any]) -> None:
    """Replace what a held file says of its process."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(record, ensure_ascii=False).encode(), 0)


def read_record(path: str) -> dict[str, Any]:
    """The record in the file, whether or not that process still runs; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            record = json.loads(file.read(_RECORD_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
