"""One question to a program at a Unix socket, which has to be this user's."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tersely.foundation.clock import Stopwatch
from tersely.foundation.network.credentials import is_same_user

CONNECT_SECONDS = 2.0
_CHUNK_BYTES = 65_536


def is_own_socket(path: str) -> bool:
    """True if a path is a socket that this user has made; a link is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid()


@contextmanager
def connected(path: str) -> Iterator[socket.socket]:
    """A connection; raises `OSError`, also where another user listens."""
    if not is_own_socket(path):
        raise PermissionError(f"{path} is no socket of this user")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(path)
        if not is_same_user(connection):
            raise PermissionError(f"another user listens at {path}")
        yield connection


def received(
    connection: socket.socket,
    seconds: float,
    most_bytes: int,
    is_whole: Callable[[bytearray], bool],
) -> bytearray:
    """The bytes that come until they are whole; raises `OSError` where that takes too long, is too
    much, or never comes.
    """
    watch, data = Stopwatch(), bytearray()
    while not is_whole(data):
        left = seconds - watch.seconds()
        if left <= 0:
            raise TimeoutError(f"no answer in {seconds:g} s")
        connection.settimeout(left)
        chunk = connection.recv(_CHUNK_BYTES)
        if not chunk:
            raise ConnectionResetError("it hung up")
        data += chunk
        if len(data) > most_bytes:
            raise OSError(f"the answer has more than {most_bytes:,} bytes")
    return data
