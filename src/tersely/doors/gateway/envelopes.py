"""Envelopes between the socket of a home and the relay that its machine has joined: one WebSocket a
connection.

Where the relay cannot be reached, whoever connects is hung up on, as by a relay that is gone: they
keep what they have to say and come again. Questions to the code daemon of this machine are answered
here.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader, StreamWriter
from typing import Any

import msgspec

from tersely.client.joining import JoinedRelay
from tersely.doors.gateway.code import LocalCode
from tersely.foundation.background import Background
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.foundation.network import http
from tersely.foundation.network.credentials import is_same_user
from tersely.foundation.types import JsonObject
from tersely.relay.wire.envelopes import VERSION
from tersely.relay.wire.frames import Frames, FrameTooLargeError, framed

GATEWAY_CONNECT_SECONDS = 10.0
GATEWAY_READ_BYTES = 65_536
_LOG = logging.getLogger("tersely.doors.gateway")
_QUESTION = b"SERVICE_REQUEST"


class Envelopes:
    """Serves the connections at the socket of a home. Used on one loop."""

    def __init__(self, membership: JoinedRelay, code: LocalCode) -> None:
        self._membership = membership
        self._context = http.system_trust() if membership.url.startswith("https:") else None
        self._code = code

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection, until either side has gone."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        try:
            if not is_same_user(writer.get_extra_info("socket")):
                return
            url = f"ws{self._membership.url.removeprefix('http')}/socket"
            async with connect(
                url, ssl=self._context, max_size=MAX_FRAME_BYTES, open_timeout=GATEWAY_CONNECT_SECONDS, proxy=None,
                additional_headers={"Authorization": f"Bearer {self._membership.token}"},
            ) as far:  # fmt: skip
                up = asyncio.create_task(self._up(reader, writer, far))
                down = asyncio.create_task(_down(far, writer))
                try:
                    await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    up.cancel()
                    down.cancel()
                    await asyncio.gather(up, down, return_exceptions=True)
        except (OSError, TimeoutError, WebSocketException) as error:
            _LOG.info("%s cannot be reached: %s", self._membership.url, error)
        finally:
            writer.close()

    async def _up(self, reader: StreamReader, writer: StreamWriter, far: Any) -> None:
        frames = Frames(MAX_FRAME_BYTES)
        answering = Background()
        try:
            while data := await reader.read(GATEWAY_READ_BYTES):
                for body in frames.feed(data):
                    question = self._local_question(body)
                    if question is None:
                        await far.send(body.decode())
                        continue
                    answering.begin(self._answer(question, writer))
        except FrameTooLargeError:
            return
        finally:
            answering.cancel()

    def _local_question(self, body: bytes) -> JsonObject | None:
        """A question that this machine answers itself; None for every other envelope."""
        if _QUESTION not in body:
            return None
        try:
            envelope = msgspec.json.decode(body)
            is_local = (
                envelope["type"] == _QUESTION.decode()
                and envelope["payload"]["service"] in self._code.names
            )
        except (msgspec.MsgspecError, KeyError, TypeError):
            return None
        return dict(envelope) if is_local else None

    async def _answer(self, envelope: JsonObject, writer: StreamWriter) -> None:
        payload = await self._code.response(str(envelope.get("id", "")), envelope["payload"])
        answer = {
            "v": VERSION, "type": "SERVICE_RESPONSE", "id": new_id(), "from": envelope["payload"]["service"],
            "payload": payload,
        }  # fmt: skip
        writer.write(framed(msgspec.json.encode(answer)))
        await writer.drain()


async def _down(far: Any, writer: StreamWriter) -> None:
    async for message in far:
        writer.write(framed(message.encode() if isinstance(message, str) else message))
        await writer.drain()
