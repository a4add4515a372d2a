"""Files of this user's that several processes use: opened without following links, locked, replaced
in one step.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .failures import TalkError

LOCK_SECONDS = 5.0  # for another process to let go of a file
_RETRY_SECONDS = 0.005


def open_own(path: Path, flags: int) -> int:
    """A descriptor of a regular file; raises `UNSAFE_PATH` for a link or anything else, `OSError`
    as `os.open` does.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
            raise _unsafe(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unsafe(path)
    return descriptor


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """A descriptor of the file, which is made where it is missing, while nobody else has it so.

    Who replaces the file by another does it while holding it, so whoever got hold of one that was
    replaced meanwhile tries again. Raises `INBOX_BUSY` where another process does not let go of it.
    """
    descriptor = lock(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def lock(path: Path, seconds: float = LOCK_SECONDS) -> int:
    """The descriptor alone: the file is held until it is closed. Raises `INBOX_BUSY`."""
    until = time.monotonic() + seconds
    while True:
        descriptor = try_lock(path)
        if descriptor is not None:
            return descriptor
        if time.monotonic() > until:
            raise TalkError("INBOX_BUSY", f"another process holds {path}", path=str(path))
        time.sleep(_RETRY_SECONDS)


def try_lock(path: Path) -> int | None:
    """The same without waiting, for as long as the descriptor is open; None where another process
    holds it.
    """
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if not _is_at(descriptor, path):
        os.close(descriptor)
        return try_lock(path)
    return descriptor


def is_locked(path: Path) -> bool:
    """True if a process holds the file."""
    try:
        descriptor = open_own(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def read(path: Path) -> bytes | None:
    """The content of a file; None where there is none."""
    try:
        descriptor = open_own(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def replace(path: Path, content: bytes) -> None:
    """Put a content in the place of the file, or leave all as it was."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = open_own(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def append(descriptor: int, line: bytes) -> None:
    """Add to the end of an open file, or leave it as it was: a full disk leaves no half line."""
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, size, os.SEEK_SET)
    try:
        left = memoryview(line)
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _is_at(descriptor: int, path: Path) -> bool:
    """True if the open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _unsafe(path: Path) -> TalkError:
    return TalkError("UNSAFE_PATH", f"{path} is a link or no regular file", path=str(path))
