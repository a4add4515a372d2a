"""The server of HTTP: whom it takes connections from, and what it says to bytes that are no request."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tersely.doors.http.failures import body_of, status_of
from tersely.doors.http.request_parsing import PEER
from tersely.foundation.credentials import is_same_user, process_of
from tersely.foundation.errors import TerselyError

RELAY_DRAIN_SECONDS = 10  # for requests that are being answered when it ends


def make_server(app: Any) -> uvicorn.Server:
    """A server of an application, which leaves signals to its process."""
    config = uvicorn.Config(
        app, http=_Protocol, lifespan="off", ws="none", log_config=None, access_log=False,
        timeout_graceful_shutdown=RELAY_DRAIN_SECONDS, server_header=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    return server


class _Protocol(H11Protocol):
    """One connection. At a socket in the home, nobody but this user is listened to."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        connected = transport.get_extra_info("socket")
        if connected.family != socket.AF_UNIX:
            return
        if is_same_user(connected):
            self.app_state = {**self.app_state, PEER: process_of(connected)}
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request as any other failure is answered, unless an answer is on its way already."""
        cycle: Any = self.cycle  # None before the first request
        is_answering = cycle is not None and cycle.response_started and not cycle.response_complete
        if not is_answering:
            self.transport.write(_REFUSAL)
        self.transport.close()


def _refusal() -> bytes:
    error = TerselyError("malformed_request", "this is no request of HTTP/1.1", "see /openapi.json")
    body = body_of(error)
    head = [
        f"HTTP/1.1 {status_of(error.code)} Bad Request",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


_REFUSAL = _refusal()
