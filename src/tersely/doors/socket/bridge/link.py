"""A connection to a server that speaks JSON, one object a line, and answers with or without the id
of a request.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import count
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from tersely.daemon.ndjson.lines import Lines
from tersely.foundation.limits import MAX_ANSWER_BYTES
from tersely.foundation.network.credentials import is_same_user
from tersely.foundation.types import JsonMapping

BRIDGE_CONNECT_SECONDS = 2.0


class UnreachableError(Exception):
    """Nothing listens, or it belongs to somebody else. To ask again would not help."""


class LostError(Exception):
    """The connection was lost before the answer came."""


class BridgeReply(Struct):
    """The fields of a reply that are looked at, in the words of both spellings."""

    id: Any = None
    success: bool | None = None
    status: str | None = None
    result: Raw | UnsetType = UNSET
    error: Any = None
    message: Any = None
    code: str = ""
    hint: str = ""
    progress: Any = None  # such a line is no answer yet
    raw: bytes = b""

    @property
    def is_success(self) -> bool:
        """True if it is an answer rather than a failure."""
        return self.success if self.success is not None else self.status != "error"


_REPLIES = msgspec.json.Decoder(BridgeReply)


class BridgeLink(asyncio.Protocol):
    """One connection. `gives_ids` is whether replies say which request they are to; else they come
    in order.
    """

    def __init__(self) -> None:
        self._lines = Lines(MAX_ANSWER_BYTES)
        self._transport: asyncio.Transport | None = None
        self._waiting: OrderedDict[str, asyncio.Future[BridgeReply]] = OrderedDict()
        self._ids = count(1)
        self.gives_ids = False

    @classmethod
    async def open(cls, path: str) -> BridgeLink:
        """Connect; raises `UnreachableError`."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(BRIDGE_CONNECT_SECONDS):
                transport, link = await loop.create_unix_connection(cls, path)
        except (OSError, ValueError) as error:  # `TimeoutError` is one
            why = getattr(error, "strerror", None) or "it does not answer"
            raise UnreachableError(f"{path}: {why}") from None
        if not is_same_user(transport.get_extra_info("socket")):
            transport.abort()
            raise UnreachableError(f"{path} belongs to another user")
        return link

    @property
    def is_open(self) -> bool:
        """True if something can be asked."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: JsonMapping) -> BridgeReply:
        """The reply to a request; raises `LostError`. Who is cancelled is not waited for any more."""
        if self._transport is None or self._transport.is_closing():
            raise LostError("the connection is closed")
        sent_id = str(next(self._ids))
        answer: asyncio.Future[BridgeReply] = asyncio.get_running_loop().create_future()
        self._waiting[sent_id] = answer
        self._transport.write(msgspec.json.encode({**request, "id": sent_id}) + b"\n")
        try:
            return await answer
        except asyncio.CancelledError:
            if not self.gives_ids:  # its late answer would be taken for that to the next request
                self.close()
            raise
        finally:
            self._waiting.pop(sent_id, None)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody answers."""
        # those of uvloop are none by inheritance
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand out the replies that are complete."""
        for line in self._lines.feed(data):
            if line is None:
                self._lose(f"a reply has more than {MAX_ANSWER_BYTES:,} bytes")
                self.close()
                return
            if line.strip():
                self._take(line)

    def connection_lost(self, error: Exception | None) -> None:
        """Whoever waits will get no answer."""
        self._lose("the server has hung up")

    def _take(self, line: bytes) -> None:
        try:
            reply = _REPLIES.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            self._lose(f"a reply is not JSON: {error}")
            self.close()
            return
        if reply.progress is not None and reply.success is None:
            return
        reply.raw = line
        answer = self._waiting.get(str(reply.id))
        if answer is not None and reply.id is not None:
            self.gives_ids = True
        elif reply.id is None and not self.gives_ids and self._waiting:
            answer = next(iter(self._waiting.values()))
        if answer is not None and not answer.done():
            answer.set_result(reply)

    def _lose(self, why: str) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(LostError(why))
