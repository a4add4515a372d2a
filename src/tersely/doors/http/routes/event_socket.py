"""Streams of events over a WebSocket: the request that a GET of the same address is, answered in
text messages.

The endpoint is that of server-sent events, so that parameters, rights and bounds are the same. Each
message is an object with the `id`, `event` and `data` of one server-sent event.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from tersely.capabilities.relay.contract.operations import Content, operations
from tersely.doors.http.guard import safely

EVENT_MESSAGES = "event_messages"  # in the scope of a request whose events are sent as messages
_EVENT_PATHS = [one.path for one in operations() if one.gives is Content.EVENTS]
_EVENT_PATH = re.compile("|".join(re.sub(r"\{\w+\}", "[^/]+", path) for path in _EVENT_PATHS))
_NORMAL = 1000  # why a WebSocket is closed, as RFC 6455 numbers it
# of ASGI, in which the end of a request is received
_HTTP_VERSION = {"version": "3.0", "spec_version": "2.3"}


def is_event_path(path: str) -> bool:
    """True if a path is that of a stream of events."""
    return _EVENT_PATH.fullmatch(path) is not None


async def serve_events(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one WebSocket until either side ends it; what the other side says is not listened to.

    An answer of `app` that is no stream, as every refusal, is sent in place of the handshake.
    """
    await receive()  # that somebody wants to connect
    request = {
        **scope,
        "type": "http",
        "method": "GET",
        "http_version": "1.1",
        "asgi": _HTTP_VERSION,
    }
    is_streaming = False

    async def received() -> Any:
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return {"type": "http.disconnect"}

    async def sent(message: Any) -> None:
        nonlocal is_streaming
        if message["type"] == "http.response.start":
            is_streaming = message["status"] == 200
            await send({"type": "websocket.accept"} if is_streaming else _of_websocket(message))
        elif not is_streaming:
            await send(_of_websocket(message))
        elif message["body"]:
            await send({"type": "websocket.send", "text": message["body"].decode()})
        elif not message.get("more_body"):
            await send({"type": "websocket.close", "code": _NORMAL})

    await app({**request, EVENT_MESSAGES: True}, received, safely(sent))


def _of_websocket(message: Any) -> Any:
    """A part of an answer in place of the handshake."""
    return {**message, "type": f"websocket.{message['type']}"}
