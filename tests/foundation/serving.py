"""A server that says exactly what a test wants."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple


class Server(NamedTuple):
    """Its address, the heads that it was sent, and how many connections it took."""

    url: str
    heads: list[bytes]
    connections: list[int]


@contextmanager
def serving(*answers: bytes, then_closes: bool = True, at: Path | None = None) -> Iterator[Server]:
    """A server that gives one answer to each request of a connection, and then waits for its end or
    ends it.

    It listens at a port, or at the socket `at`.
    """
    if at is None:
        listener = socket.create_server(("127.0.0.1", 0))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(at))
        listener.listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}" if at is None else ""
    server = Server(url, [], [])

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                server.connections.append(1)
                with connection, suppress(OSError):
                    for answer in answers:
                        head = connection.recv(65_536)
                        if not head:
                            break
                        server.heads.append(head)
                        connection.sendall(answer)
                    if not then_closes:
                        connection.recv(1)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
