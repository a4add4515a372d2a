"""One client of the server, over any transport: which revision it speaks, and what is being done
for it.

Four revisions begin with a handshake (`initialize`). The fifth has none: every request says in its
`_meta` which revision it is of, and what the client is able to.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from tersely import __version__
from tersely.doors.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Id,
    RpcError,
    RpcNotification,
    RpcRequest,
    RpcResponse,
    failure,
    id_of,
    message,
    success,
)
from tersely.foundation.types import JsonMapping, JsonObject

BATCHING_VERSION = "2025-03-26"  # the one revision with batches of messages
HANDSHAKE_VERSIONS = ("2024-11-05", BATCHING_VERSION, "2025-06-18", "2025-11-25")
# revisions whose requests each carry version and abilities of the client
ENVELOPE_VERSIONS = ("2026-07-28",)
UNSUPPORTED_VERSION = -32_022
SERVER_BUSY = -32_000  # of the codes that are left to implementations

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
MAX_OPEN_REQUESTS = 64  # of one client, not yet answered

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_ABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_SERVER = {"name": "tersely", "version": __version__}
_CAPABILITIES: JsonMapping = {"tools": {}, "resources": {}}
# what answers say of keeping them, where a revision wants it said
_UNCACHED = {"ttlMs": 0, "cacheScope": "private"}

_LOG = logging.getLogger("tersely.mcp")

Send = Callable[[JsonMapping], None]
Method = Callable[["OpenRequest"], Awaitable[JsonObject]]


class ServedMethods(NamedTuple):
    """The service behind a session: a text for the model, methods by name, and what is to be done
    when the client's roots move.
    """

    instructions: Callable[[], Awaitable[str]]
    methods: Mapping[str, Method]
    roots_changed: Callable[[], None]


class OpenRequest(NamedTuple):
    """A request while it is being answered."""

    session: ClientSession
    params: JsonObject
    has_envelope: bool

    def progress(self, done: int, total: int, text: str) -> None:
        """Tell the client how far it is, where it wants to know."""
        token = self._meta.get("progressToken")
        if isinstance(token, str | int) and self.session.send is not None:
            told = {"progressToken": token, "progress": done, "total": total, "message": text}
            self.session.send(
                {"jsonrpc": "2.0", "method": "notifications/progress", "params": told}
            )

    @property
    def traceparent(self) -> str:
        """The trace that the client says the request is part of (W3C Trace Context), "" for none."""
        said = self._meta.get("traceparent")
        return said if isinstance(said, str) and _TRACEPARENT.fullmatch(said) else ""

    @property
    def _meta(self) -> JsonObject:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def has_roots(self) -> bool:
        """True if the client can be asked in which directories it works."""
        can_ask = self.session.send is not None and not self.has_envelope
        return can_ask and isinstance(self.session.abilities.get("roots"), dict)


class ClientSession:
    """Answers the messages of one client. `send` takes what we say without being asked, None where
    nothing can be.
    """

    def __init__(self, service: ServedMethods, send: Send | None) -> None:
        self._service = service
        self.send = send
        self.version = ""  # as agreed upon by the handshake, empty before
        self.abilities: JsonMapping = {}
        self._open: dict[Id, asyncio.Future[Any]] = {}
        self._asked: dict[Id, asyncio.Future[Any]] = {}
        self._asked_count = 0

    async def answer(self, value: Any) -> JsonObject | list[JsonObject] | None:
        """The answer to a message or a batch; None where there is none: to notifications, and what
        was cancelled.
        """
        if not isinstance(value, list):
            return await self._answer(value)
        if self.version != BATCHING_VERSION or not 0 < len(value) <= MAX_OPEN_REQUESTS:
            told = f"batches are of {BATCHING_VERSION}, and of 1 to {MAX_OPEN_REQUESTS} messages"
            return failure(None, RpcError(INVALID_REQUEST, told))
        answers = await asyncio.gather(*map(self._answer, value))
        return [one for one in answers if one is not None] or None

    async def ask(self, method: str, seconds: float) -> Any:
        """The result of a request to a client that can be asked; raises `RpcError`, and
        `TimeoutError`.
        """
        assert self.send is not None
        self._asked_count += 1
        own_id = f"tersely-{self._asked_count}"
        future = self._asked[own_id] = asyncio.get_running_loop().create_future()
        try:
            self.send({"jsonrpc": "2.0", "id": own_id, "method": method})
            return await asyncio.wait_for(future, seconds)
        finally:
            del self._asked[own_id]

    async def _answer(self, value: Any) -> JsonObject | None:
        try:
            read = message(value)
            match read:
                case RpcRequest():
                    return await self._served(read)
                case RpcNotification():
                    self._note(read)
                case RpcResponse():
                    self._take(read)
        except RpcError as error:
            return failure(id_of(value), error)
        return None

    async def _served(self, request: RpcRequest) -> JsonObject | None:
        """The answer to a request, None if the client cancels it."""
        if request.id in self._open:
            raise RpcError(
                INVALID_REQUEST, f"the id {request.id!r} is of a request that is not yet answered"
            )
        if len(self._open) >= MAX_OPEN_REQUESTS:
            raise RpcError(SERVER_BUSY, f"{MAX_OPEN_REQUESTS} requests are not yet answered")
        working = self._open[request.id] = asyncio.ensure_future(self._result(request))
        try:
            return success(request.id, await working)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():  # it is we who are given up
                raise
            return None
        except RpcError:
            raise
        except Exception as error:
            _LOG.exception("%s has failed", request.method)
            raise RpcError(
                INTERNAL_ERROR, "internal error: standard error of the server says more"
            ) from error
        finally:
            del self._open[request.id]

    async def _result(self, request: RpcRequest) -> JsonObject:
        has_envelope = request.method != "initialize" and _has_envelope(request.params)
        if has_envelope:
            _check_envelope(request.params["_meta"])
        own = (_OF_ENVELOPES if has_envelope else _OF_HANDSHAKES).get(request.method)
        if own is not None:
            return await own(self, request.params)
        method = self._service.methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method!r}")
        if not has_envelope and not self.version:
            raise RpcError(INVALID_REQUEST, "a session begins with initialize")
        result = await method(OpenRequest(self, request.params, has_envelope))
        return (
            _with_envelope(result, is_kept=request.method != "tools/call")
            if has_envelope
            else result
        )

    async def _initialize(self, params: JsonMapping) -> JsonObject:
        wanted, abilities = params.get("protocolVersion"), params.get("capabilities", {})
        if not isinstance(wanted, str) or not isinstance(abilities, dict):
            raise RpcError(
                INVALID_PARAMS,
                "initialize takes protocolVersion, a text, and capabilities, an object",
            )
        self.version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        self.abilities = abilities
        return {
            "protocolVersion": self.version,
            "capabilities": _CAPABILITIES,
            "serverInfo": _SERVER,
            "instructions": await self._service.instructions(),
        }

    async def _discover(self, params: JsonMapping) -> JsonObject:
        told = {"supportedVersions": list(ENVELOPE_VERSIONS), "capabilities": _CAPABILITIES}
        return _with_envelope(
            {**told, "instructions": await self._service.instructions()}, is_kept=True
        )

    async def _ping(self, params: JsonMapping) -> JsonObject:
        return {}

    def _note(self, notification: RpcNotification) -> None:
        if notification.method == "notifications/cancelled":
            cancelled = notification.params.get("requestId")
            working = self._open.get(cancelled) if isinstance(cancelled, str | int) else None
            if working is not None:
                working.cancel()
        elif notification.method == "notifications/roots/list_changed":
            self._service.roots_changed()

    def _take(self, response: RpcResponse) -> None:
        waiting = self._asked.get(response.id)
        if waiting is None or waiting.done():
            return
        if response.error is None:
            waiting.set_result(response.result)
        else:
            waiting.set_exception(
                RpcError(INTERNAL_ERROR, f"the client has failed: {response.error}")
            )


Own = Callable[[ClientSession, JsonMapping], Awaitable[JsonObject]]
_OF_HANDSHAKES: Mapping[str, Own] = {
    "initialize": ClientSession._initialize,
    "ping": ClientSession._ping,
}
_OF_ENVELOPES: Mapping[str, Own] = {"server/discover": ClientSession._discover}


def _has_envelope(params: JsonMapping) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _check_envelope(meta: JsonMapping) -> None:
    """Raise `RpcError` for a request of a revision that is not served, or that does not say enough."""
    version = meta[VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta.get(_ABILITIES_KEY), dict):
        raise RpcError(
            INVALID_PARAMS, f"_meta has {VERSION_KEY}, a text, and {_ABILITIES_KEY}, an object"
        )
    if version not in ENVELOPE_VERSIONS:
        told = {"supported": list(ENVELOPE_VERSIONS), "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", told)


def _with_envelope(result: JsonMapping, *, is_kept: bool) -> JsonObject:
    """A result as revisions without a handshake want it."""
    meta = {**result.get("_meta", {}), _SERVER_KEY: _SERVER}
    return {**result, "_meta": meta, "resultType": "complete", **(_UNCACHED if is_kept else {})}
