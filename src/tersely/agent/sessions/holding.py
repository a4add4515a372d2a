"""The process that talks in a session: one at a time, for as long as it lives.

A session is held by a lock on a file of its own. The system lets go of it when the process ends,
however it ends, so nothing that died is ever waited for. The file says which process it is, and is
deleted when the session is let go of.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from tersely.foundation.clock import local_minute
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Closing

FOLDER = "held"
# in which a child of a dead process lets go of what it has inherited: it begins a program
INHERITED_SECONDS = 2.0
_POLL_SECONDS = 0.01
_PID_BYTES = 20


class Hold(Closing):
    """A session that this process holds: once, or again where it is asked to share. Each is closed
    once.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self._times = 1

    @classmethod
    def take(cls, folder: Path, session: str) -> Self:
        """Hold a session of the store in a folder, by its full id.

        Raises `session_in_use`, and `database_unavailable` where nothing can be written.
        """
        try:
            return cls._taken(folder / FOLDER / session, session)
        except OSError as error:
            message = f"{folder / FOLDER} cannot be written: {error.strerror}"
            raise TerselyError(
                "database_unavailable", message, "look at the disk, and at who owns it"
            ) from error

    @classmethod
    def _taken(cls, path: Path, session: str) -> Self:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                if _is_locked(descriptor, path, session):
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, str(os.getpid()).encode())
                    return cls(descriptor, path)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def again(self) -> Self:
        """The same for another part of this process."""
        self._times += 1
        return self

    def close(self) -> None:
        """Let go of it, if nobody else in this process needs it."""
        self._times -= 1
        if self._times == 0:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)


def _is_locked(descriptor: int, path: Path, session: str) -> bool:
    """True if we hold the file now; not so if it was deleted meanwhile. Raises `session_in_use`."""
    until = time.monotonic() + INHERITED_SECONDS
    while not _is_free(descriptor):
        if _lives(_holder(descriptor)) or time.monotonic() > until:
            raise _in_use(descriptor, session)
        time.sleep(_POLL_SECONDS)
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _is_free(descriptor: int) -> bool:
    """True if the lock is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    """The process that the file names, "" where it names none yet."""
    return os.pread(descriptor, _PID_BYTES, 0).decode("ascii", "replace")


def _lives(pid: str) -> bool:
    """True if a process runs; of one that nothing is known of, it is taken to."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, PermissionError):
        return True
    return True


def _in_use(descriptor: int, session: str) -> TerselyError:
    pid = _holder(descriptor)
    since = local_minute(os.fstat(descriptor).st_mtime)
    hint = f"end it there, or go on in a copy: --resume {session} --fork"
    return TerselyError(
        "session_in_use", f"process {pid or 'unknown'} has this session open since {since}", hint
    )
