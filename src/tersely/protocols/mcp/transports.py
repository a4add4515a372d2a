"""How a server is reached: over the standard streams of its process, or over HTTP on this machine alone."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server

from tersely.foundation.errors import TerselyError

HOST = "127.0.0.1"
PATH = "/mcp"
_BACKLOG = 64


async def serve_streams(server: Server[Any]) -> None:
    """Serve one client until it closes our standard input."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def serve_http(server: Server[Any], port: int, told: Callable[[str], None]) -> None:
    """Serve any number of clients on a port, 0 for any that is free, until a signal; `told` is given the URL.

    Requests whose `Host` or `Origin` is not this machine are refused: a page in a browser must not reach us by a name
    that it has made resolve here.
    """
    try:
        listening = socket.create_server((HOST, port), backlog=_BACKLOG)
    except OSError as error:
        message = f"port {port} of {HOST} cannot be used: {error.strerror}"
        raise TerselyError("port_unavailable", message, "name another with --port") from error
    with listening:
        app = server.streamable_http_app(host=HOST, streamable_http_path=PATH)
        told(f"http://{HOST}:{listening.getsockname()[1]}{PATH}")
        config = uvicorn.Config(app, log_config=None, access_log=False)
        await uvicorn.Server(config).serve(sockets=[listening])
