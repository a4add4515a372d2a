"""The beginning of a connection by which anybody on the machine could come."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable


class Secret(asyncio.Protocol):
    """Hands a connection on once it has begun with the secret; any other is closed."""

    def __init__(self, secret: bytes, connection: Callable[[], asyncio.Protocol]) -> None:
        self._secret = secret
        self._connection = connection
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has come."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Compare as soon as there is enough."""
        assert self._transport is not None
        self._received += data
        said, rest = self._received[: len(self._secret)], self._received[len(self._secret) :]
        if len(said) < len(self._secret):
            return
        if not hmac.compare_digest(said, self._secret):
            self._transport.abort()
            return
        protocol = self._connection()
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        if rest:
            protocol.data_received(rest)
