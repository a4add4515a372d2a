"""A server that says exactly what a test wants."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple


class Server(NamedTuple):
    """Its address, the heads that it was sent, how many connections it took, and those that it has
    closed, to be waited for.
    """

    url: str
    heads: list[bytes]
    connections: list[int]
    closed: threading.Semaphore


@contextmanager
def serving(
    *answers: bytes,
    then_closes: bool = True,
    at: Path | None = None,
    shows: Sequence[Path] = (),
) -> Iterator[Server]:
    """A server that gives one answer to each request of a connection, and then waits for its end or
    ends it.

    It listens at a port, or at the socket `at`; over TLS where it `shows` a certificate, of which
    the key is the second file.
    """
    if at is None:
        listener = socket.create_server(("127.0.0.1", 0))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(at))
        listener.listen()
    scheme = "https" if shows else "http"
    url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}" if at is None else ""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if shows else None
    if tls is not None:
        tls.load_cert_chain(*shows)
    server = Server(url, [], [], threading.Semaphore(0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                server.connections.append(1)
                with connection, suppress(OSError):
                    if tls is not None:
                        connection = tls.wrap_socket(connection, server_side=True)
                    for answer in answers:
                        head = connection.recv(65_536)
                        if not head:
                            break
                        server.heads.append(head)
                        connection.sendall(answer)
                    if not then_closes:
                        connection.recv(1)
                server.closed.release()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
