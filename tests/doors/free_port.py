"""A port of this machine that nobody listens at."""

from __future__ import annotations

import socket


def free_port() -> int:
    """The system's choice; nobody else of the tests is given it soon again."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
