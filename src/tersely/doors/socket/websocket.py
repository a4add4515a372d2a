"""The same envelopes over a WebSocket: each message is one, without the length that goes before it
at the socket.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from starlette.types import Receive, Send

from tersely.doors.socket.connection import SOCKET_OUTPUT_BYTES, SocketConnection
from tersely.doors.socket.router import Router
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.relay.access.principals import Principal
from tersely.relay.wire.frames import Frames, framed

_NORMAL = 1000  # why a WebSocket is closed, as RFC 6455 numbers it


async def serve_websocket(
    router: Router, principal: Principal, receive: Receive, send: Send
) -> None:
    """Serve one WebSocket, which is accepted here, until either side has closed it."""
    await receive()  # that somebody wants to connect
    await send({"type": "websocket.accept"})
    connection = SocketConnection(router, principal)
    transport = _Transport(connection, send)
    connection.connection_made(transport)
    writing = asyncio.create_task(transport.write_out())
    reading = asyncio.create_task(_read(connection, transport, receive))
    try:
        await asyncio.wait({writing, reading}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        writing.cancel()
        connection.connection_lost(None)


async def _read(connection: SocketConnection, transport: _Transport, receive: Receive) -> None:
    while True:
        await transport.may_read.wait()
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        text = message.get("text")
        connection.data_received(framed(message["bytes"] if text is None else text.encode()))


class _Transport(asyncio.Transport):
    """The writer of a connection: frames become messages, in their order."""

    def __init__(self, connection: SocketConnection, send: Send) -> None:
        super().__init__()
        self._connection = connection
        self._send = send
        self._frames = Frames(MAX_FRAME_BYTES)
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_full = False
        self._is_closing = False
        self._has_more = asyncio.Event()
        self.may_read = asyncio.Event()
        self.may_read.set()

    async def write_out(self) -> None:
        """Send what is written, until it is closed and all has been sent."""
        while True:
            while self._waiting:
                body = self._waiting.popleft()
                await self._send({"type": "websocket.send", "text": body.decode()})
                self._took(len(body))
            if self._is_closing:
                await self._send({"type": "websocket.close", "code": _NORMAL})
                return
            self._has_more.clear()
            await self._has_more.wait()

    def write(self, data: Any) -> None:
        """Send frames, soon."""
        for body in self._frames.feed(bytes(data)):
            self._waiting.append(body)
            self._waiting_bytes += len(body)
        self._has_more.set()
        if self._waiting_bytes > SOCKET_OUTPUT_BYTES and not self._is_full:
            self._is_full = True
            self._connection.pause_writing()

    def _took(self, size: int) -> None:
        self._waiting_bytes -= size
        if self._is_full and self._waiting_bytes < SOCKET_OUTPUT_BYTES // 2:
            self._is_full = False
            self._connection.resume_writing()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """They are those of the socket in the home."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Nothing is known that a connection asks for."""
        return default

    def is_closing(self) -> bool:
        """True if it is on its way out."""
        return self._is_closing

    def close(self) -> None:
        """Hang up once everything is sent."""
        self._is_closing = True
        self._has_more.set()

    def abort(self) -> None:
        """Hang up at once."""
        self._waiting.clear()
        self.close()

    def pause_reading(self) -> None:
        """Let what comes wait."""
        self.may_read.clear()

    def resume_reading(self) -> None:
        """Go on."""
        self.may_read.set()
