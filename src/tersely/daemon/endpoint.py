"""Where a daemon listens: a Unix socket at a path.

Windows has none that Python knows. There a file at the path, which the user alone can read, names a
port of the loopback interface, and a secret with which every connection begins. Imported by every
command, so the top needs `_socket` alone, which takes a tenth of the time that `socket` takes.
"""

from __future__ import annotations

import _socket
import os
import sys

TYPE_CHECKING = False  # `typing` has one too, but it would have to be imported
if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable

_LOOPBACK = "127.0.0.1"
_SECRET_BYTES = 32  # of random bytes as hexadecimal digits: too many to be guessed
_MAX_FILE_BYTES = 100


def connect(path: str, seconds: float) -> _socket.socket:
    """A connection that waits at most so long for each step; `OSError` where nobody listens."""
    connected = _socket.socket(_family(), _socket.SOCK_STREAM)
    try:
        connected.settimeout(seconds)
        if sys.platform == "win32":
            port, secret = _read(path)
            connected.connect((_LOOPBACK, port))
            connected.sendall(secret)
        else:
            connected.connect(path)
    except OSError:
        connected.close()
        raise
    return connected


async def open_connection(
    path: str, line_bytes: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The same on the event loop, for lines of at most so many bytes."""
    import asyncio

    if sys.platform == "win32":
        port, secret = _read(path)
        reader, writer = await asyncio.open_connection(_LOOPBACK, port, limit=line_bytes)
        writer.write(secret)
        return reader, writer
    return await asyncio.open_unix_connection(path, limit=line_bytes)


def listen(path: str, most_waiting: int) -> socket.socket:
    """Listen at a path that nobody serves: what lies there is left over."""
    import socket
    from contextlib import suppress

    listening = socket.socket(_family(), socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with suppress(FileNotFoundError):
            os.unlink(path)
        if sys.platform == "win32":
            listening.bind((_LOOPBACK, 0))
            _write(path, listening.getsockname()[1])
        else:
            listening.bind(path)
        listening.listen(most_waiting)
    finally:
        os.umask(before)
    listening.setblocking(False)
    return listening


def checked(
    path: str, connection: Callable[[], asyncio.Protocol]
) -> Callable[[], asyncio.Protocol]:
    """What makes a protocol for each connection: of who comes by a port, after the secret."""
    if sys.platform == "win32":
        from tersely.daemon.secret import Secret

        _, secret = _read(path)
        return lambda: Secret(secret, connection)
    return connection


def _family() -> int:
    if sys.platform == "win32":
        return _socket.AF_INET
    return _socket.AF_UNIX


def _write(path: str, port: int) -> None:
    with open(path, "x", encoding="ascii") as file:
        file.write(f"{port} {os.urandom(_SECRET_BYTES // 2).hex()}")


def _read(path: str) -> tuple[int, bytes]:
    """The port and the secret; `OSError` for what is no such file."""
    with open(path, "rb") as file:
        port, _, secret = file.read(_MAX_FILE_BYTES).partition(b" ")
    if not port.isdigit() or len(secret) != _SECRET_BYTES:
        raise OSError(f"{path} names no daemon")
    return int(port), secret
