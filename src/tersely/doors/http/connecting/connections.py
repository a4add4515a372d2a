"""The server of HTTP: whom it takes connections from, and what it says to bytes that are no
request.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tersely.doors.http.connecting.accepting import STANDING, AcceptingServer, ConnectionStanding
from tersely.doors.http.failures import body_of, status_of
from tersely.doors.http.request_parsing import PEER
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.foundation.network.credentials import is_same_user, process_of
from tersely.foundation.types import JsonObject
from tersely.relay.wire.addresses import Address

MAX_REQUEST_HEAD_BYTES = 65_536  # of one request, before its body, that has not come whole
RELAY_DRAIN_SECONDS = 10  # for requests that are being answered when it ends


def make_server(app: Any) -> uvicorn.Server:
    """A server of an application, which leaves signals to its process."""
    return AcceptingServer(uvicorn.Config(app, ws="none", proxy_headers=False, **_COMMON))


def make_remote_server(
    app: Any, address: Address, trusted_proxies: Sequence[str]
) -> uvicorn.Server:
    """A server of an application for whoever comes from elsewhere, over TLS where the address has a
    certificate.

    `trusted_proxies` are addresses whose word is taken for where a request comes from. Raises
    `OSError` where the files of the certificate cannot be used.
    """
    config = uvicorn.Config(
        app, ws="websockets-sansio" if find_spec("websockets") else "none", ws_max_size=MAX_FRAME_BYTES,
        ssl_certfile=address.certificate or None, ssl_keyfile=address.key or None,
        proxy_headers=bool(trusted_proxies), forwarded_allow_ips=list(trusted_proxies), **_COMMON,
    )  # fmt: skip
    config.load()
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    return AcceptingServer(config)


class _Protocol(H11Protocol):
    """One connection. At a socket in the home, nobody but this user is listened to."""

    def __init__(
        self, *, app_state: JsonObject, forget: Callable[[], object], **parts: Any
    ) -> None:
        """`forget` is called when it ends, unless it has become a WebSocket."""
        self._standing = ConnectionStanding()
        super().__init__(app_state={**app_state, STANDING: self._standing}, **parts)
        self._forget = forget
        self._is_websocket = False

    @property
    def may_be_ended(self) -> bool:
        """True if another may have its place: it asks for nothing, or has not said who it is."""
        cycle: Any = self.cycle  # None before the first request
        has_answered = cycle is None or cycle.response_complete
        asks_nothing = has_answered and not self._is_websocket
        return asks_nothing or not self._standing.is_known

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._is_websocket = True
        super().handle_websocket_upgrade(event)

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
        """Answer what is no request as any other failure is answered, unless an answer is on its
        way already.
        """
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
_COMMON: JsonObject = {
    "http": _Protocol, "lifespan": "off", "log_config": None, "access_log": False,
    "timeout_graceful_shutdown": RELAY_DRAIN_SECONDS, "server_header": False,
    "h11_max_incomplete_event_size": MAX_REQUEST_HEAD_BYTES,
}  # fmt: skip
