"""Connections are accepted one by one, and only so many: whoever opens more than there is room for
takes the place of one who has not said who they are, or asks for nothing.

The server would take every connection, also those whose handshake never ends, until no file can be
opened any more: not even by the programs of the user to whom the relay belongs.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import nullcontext, suppress
from typing import Any

import uvicorn

from tersely.doors.http.connecting.idle_connections import (
    CONNECTION_SHARES,
    MAX_WEB_CONNECTIONS,
    REQUEST_HEAD_SECONDS,
)
from tersely.foundation.background import Background
from tersely.foundation.types import record

STANDING = "standing"  # of a connection, in the state of its requests
ACCEPT_AGAIN_SECONDS = 0.1  # after the system had no room for a connection


@record
class ConnectionStanding:
    """The findings of a door about one connection: whether it has shown once who it is."""

    is_known: bool = False


def recognize(scope: Any) -> None:
    """Have the connection of a request stay, however many others come, while it asks something."""
    standing = scope.get("state", {}).get(STANDING)
    if standing is not None:
        standing.is_known = True


class AcceptingServer(uvicorn.Server):
    """A server that accepts connections at its sockets itself. Signals are left to its process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        # oldest first, with what they are served by; those in a handshake have no transport yet
        self._sockets: dict[socket.socket, Any] = {}
        self._tasks = Background()
        self._most = MAX_WEB_CONNECTIONS

    def capture_signals(self) -> Any:
        """Nothing is captured."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept at sockets that listen."""
        await super().startup(sockets=[])
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            self._most = min(MAX_WEB_CONNECTIONS, files // CONNECTION_SHARES)
        for one in sockets or ():
            self._tasks.begin(self._accept(one))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and end when what is asked is answered."""
        self._tasks.cancel()
        await super().shutdown(sockets=sockets)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        while True:
            try:
                connected, _ = await loop.sock_accept(listening)
            except OSError:  # it is gone again, or too many files are open
                await asyncio.sleep(ACCEPT_AGAIN_SECONDS)
                continue
            if len(self._sockets) >= self._most and not self._has_room():
                connected.close()
                continue
            self._tasks.begin(self._admit(connected))

    async def _admit(self, connected: socket.socket) -> None:
        """Serve a connection, unless its handshake fails or takes too long."""
        config, loop = self.config, asyncio.get_running_loop()
        served: Any = config.http_protocol_class(  # type: ignore[call-arg]
            config=config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            forget=lambda: self._sockets.pop(connected, None),
        )
        self._sockets[connected] = served
        seconds = REQUEST_HEAD_SECONDS if config.ssl is not None else None
        try:
            await loop.connect_accepted_socket(
                lambda: served, connected, ssl=config.ssl, ssl_handshake_timeout=seconds
            )
        except OSError:  # of TLS as well, and where it takes too long
            self._sockets.pop(connected, None)
            connected.close()

    def _has_room(self) -> bool:
        """True if there is room for one more, once the oldest that may be hung up on is."""
        for connected in [one for one in self._sockets if one.fileno() < 0]:
            del self._sockets[connected]  # a WebSocket that has ended
        if len(self._sockets) < self._most:
            return True
        for connected, served in self._sockets.items():
            if served.may_be_ended:
                del self._sockets[connected]
                with suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)
                return True
        return False
