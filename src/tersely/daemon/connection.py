"""One client: its lines become requests, answered as they are done, in whatever order that is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tersely.daemon.ndjson.lines import Lines
from tersely.daemon.ndjson.messages import (
    RefusedRequestError,
    Request,
    encode,
    failure,
    line,
    parse,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_CLIENT_REQUESTS, MAX_REQUEST_BYTES
from tersely.foundation.network.credentials import is_same_user

MAX_UNSENT_BYTES = 32_000_000  # answers that one client does not take


class Connection(asyncio.Protocol):
    """Reads requests while there is room for their answers."""

    def __init__(
        self,
        answer: Callable[[Connection, Request], Coroutine[Any, Any, bytes]],
        on_close: Callable[[Connection], None],
    ) -> None:
        self._answer = answer
        self._on_close = on_close
        self._lines = Lines(MAX_REQUEST_BYTES)
        self._transport: asyncio.Transport | None = None
        self._is_full = False  # the client does not take what is sent
        self.requests: dict[asyncio.Task[None], Request] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has come; nobody but the user that the daemon belongs to is listened to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not is_same_user(transport.get_extra_info("socket")):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Answer every line that is complete."""
        for received in self._lines.feed(data):
            if received is not None and not received.strip():
                continue
            try:
                request = parse(received)
            except RefusedRequestError as error:
                self.send(line(error.request_id, encode(failure(error.error))))
                continue
            if len(self.requests) >= MAX_CLIENT_REQUESTS:
                message = f"{MAX_CLIENT_REQUESTS} requests of this connection are not yet answered"
                self.send(line(request.id, encode(failure(TerselyError("busy", message)))))
                continue
            task = asyncio.get_running_loop().create_task(self._reply(request))
            self.requests[task] = request
            task.add_done_callback(self.requests.pop)
        self._throttle()

    def send(self, encoded: bytes) -> None:
        """Send a line; a client that has left too many untaken is left."""
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(encoded)
        if self._transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            self._transport.abort()

    def close(self) -> None:
        """Say good-bye once everything is sent."""
        if self._transport is not None:
            self._transport.close()

    def pause_writing(self) -> None:
        """The client is slow: its next requests can wait."""
        self._is_full = True
        self._throttle()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._is_full = False
        self._throttle()

    def connection_lost(self, error: Exception | None) -> None:
        """The client is gone, and with it whoever waits for its answers."""
        for task in list(self.requests):
            task.cancel()
        self._on_close(self)

    async def _reply(self, request: Request) -> None:
        try:
            encoded = await self._answer(self, request)
        except TerselyError as error:
            encoded = encode(failure(error))
        except asyncio.CancelledError:
            self.send(
                line(
                    request.id,
                    encode(failure(TerselyError("cancelled", "the request was cancelled"))),
                )
            )
            raise
        self.send(line(request.id, encoded))

    def _throttle(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if self._is_full:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
