"""What tests of talk do beside commands: plain sockets."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any, Protocol

from tersely.ai_talk.messages import cut

ENOUGH_SECONDS = 60


class Talk(Protocol):
    """A command, its expected exit status, and the object that it prints."""

    def __call__(self, *words: object, status: int = 0) -> dict[str, Any]: ...


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


def answers(connection: socket.socket) -> list[dict[str, Any]]:
    """All that is answered until the listener closes."""
    connection.settimeout(ENOUGH_SECONDS)
    held, found = bytearray(), []
    with suppress(ConnectionResetError):
        while data := connection.recv(65_536):
            held += data
            while (frame := cut(held)) is not None:
                found.append(json.loads(frame.content))
    return found


def told(port: int, data: bytes, *, half_close: bool = True) -> list[dict[str, Any]]:
    """What a listener answers to bytes, after which no more come."""
    with socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS) as connection:
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has said why already
        return answers(connection)
