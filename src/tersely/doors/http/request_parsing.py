"""Requests as values: what is in the path, behind the question mark, in the headers and in the
body, checked.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import msgspec
from starlette.requests import ClientDisconnect, Request

from tersely.capabilities.declaration.binding import checked, from_text
from tersely.capabilities.declaration.declaration import Parameter
from tersely.capabilities.relay.contract.operations import (
    AGENT_TOKEN,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    Content,
    HttpOperation,
)
from tersely.doors.http.connecting.idle_connections import REQUEST_HEAD_SECONDS
from tersely.doors.http.guard import PRINCIPAL
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_WEB_BODY_BYTES, UPLOAD_CHUNK_SECONDS
from tersely.foundation.process.ancestry import is_of_agent, is_of_person
from tersely.foundation.types import JsonMapping, JsonObject, frozen, without_none
from tersely.relay.access.principals import Principal, PrincipalKind

MAX_OPEN_BODY_BYTES = 10_000  # of who has shown no token
MAX_HELD_BODY_BYTES = 64_000_000  # of all requests of one token, in memory until they are answered
ROOM = "room"  # the `BodyRoom` of a request, in its scope
# by which a machine that has joined says that a person asks at its socket
PERSON_HEADER = "x-relay-person"
PEER = "peer"  # what a connection at the socket in the home says of itself: the process that asks


class BodyRoom:
    """The bytes of one request's body, among those of all requests of its token."""

    def __init__(self, held: dict[str, int], principal: Principal | None) -> None:
        self._held = held  # by the id of the token, "" for the relay's own user
        self._token_id = "" if principal is None else principal.token_id
        self._size = 0

    def take(self, size: int) -> None:
        """Have so many more bytes in memory until the request is answered; raises `busy`."""
        held = self._held.get(self._token_id, 0) + size
        if held > MAX_HELD_BODY_BYTES:
            message = f"the requests of this token that are not answered have {MAX_HELD_BODY_BYTES:,} bytes"
            raise TerselyError("busy", message, "send fewer at a time")
        self._held[self._token_id] = held
        self._size += size

    def let_go(self) -> None:
        """The request is answered."""
        held = self._held.pop(self._token_id, 0) - self._size
        if held:
            self._held[self._token_id] = held


@frozen
class AskedOperation:
    """One request for an operation."""

    path: JsonMapping
    query: JsonMapping
    body: Any  # as the operation's `asks` has it, None where it asks for nothing
    agent: str
    key: str = ""  # of idempotency
    expected: str = ""  # version, of `If-Match`
    peer: int = 0  # the process that asks, where the system says which
    principal: Principal | None = None  # the identity that asks; None: the relay's own user
    token: str = ""  # that shows that the name of the agent is its own
    of_person: bool = False  # the machine of the identity has seen that a person asks

    def is_typed(self) -> bool:
        """True if the person has typed it, at a terminal that no agent was started in."""
        is_of_identity = self.principal is not None and self.principal.kind is PrincipalKind.PERSON
        return (is_of_identity and self.of_person) or is_of_person(self.peer)

    def is_of_agent(self) -> bool:
        """True if an agent has started the program that asks, at the socket in the home."""
        return self.principal is None and is_of_agent(self.peer)

    def arguments(self) -> JsonObject:
        """The parameters by which is decided whether it is permitted."""
        body = self.body if isinstance(self.body, dict) else {}
        named = {
            "capability": body.get("capability") or body.get("to_capability"),
            "thread": body.get("thread_id"),
        }
        return without_none({**named, **self.query, **self.path})


async def read(operation: HttpOperation, request: Request) -> AskedOperation:
    """The request; raises `malformed_request`, `invalid_argument` or `payload_too_large`."""
    body = None
    if operation.asks is not None:
        body = _decoded(operation, await _body(request, _most_of(operation)))
        body = checked(operation.given, body) if operation.given else body
    path = checked(operation.in_path, request.path_params)
    key = _header(request, IDEMPOTENCY_KEY) if operation.repeatable else ""
    expected = _header(request, IF_MATCH) if operation.conditional else ""
    agent, peer = request.scope["agent"], request.scope.get("state", {}).get(PEER, 0)
    principal = request.scope.get(PRINCIPAL)
    query = _query(operation, request)
    of_person = principal is not None and request.headers.get(PERSON_HEADER) == "1"
    return AskedOperation(
        path,
        query,
        body,
        agent,
        key,
        expected.strip('"'),
        peer,
        principal,
        token_shown(request),
        of_person,
    )


def token_shown(request: Request) -> str:
    """The token that a request shows for the name of its agent, "" for none."""
    return _header(request, AGENT_TOKEN)


def _header(request: Request, parameter: Parameter) -> str:
    """A header, empty if there is none."""
    value = request.headers.get(parameter.name)
    return (
        "" if value is None else str(checked([parameter], {parameter.name: value})[parameter.name])
    )


def _query(operation: HttpOperation, request: Request) -> JsonObject:
    """The parameters behind the question mark, with the defaults of the rest."""
    known = {one.name: one for one in operation.query}
    given: dict[str, object] = {}
    for name, text in request.query_params.multi_items() if request.scope["query_string"] else ():
        given[name] = _value(known[name], text) if name in known else text
    defaults = {one.name: one.default for one in operation.query}
    return {**defaults, **checked(operation.query, given)}


def _value(parameter: Parameter, text: str) -> object:
    try:
        return from_text(parameter, text)
    except TerselyError as error:
        raise TerselyError("invalid_argument", error.message, error.hint) from None


class _Most(NamedTuple):
    """The most bytes of a body, and the time in which it has to come."""

    size: int
    seconds: float


def _most_of(operation: HttpOperation) -> _Most:
    """Of who has shown no token, little."""
    if operation.is_open:
        return _Most(MAX_OPEN_BODY_BYTES, REQUEST_HEAD_SECONDS)
    return _Most(MAX_WEB_BODY_BYTES, UPLOAD_CHUNK_SECONDS)


async def _body(request: Request, most: _Most) -> bytearray:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"", Content.JSON, "application/json-patch+json"}:
        raise TerselyError(
            "malformed_request", f"a body of {kind[:80]!r} is not read", f"send {Content.JSON}"
        )
    held = bytearray()
    try:
        _check_size(_announced(request), most)
        async with asyncio.timeout(most.seconds):
            async for chunk in request.stream():
                _check_size(len(held) + len(chunk), most)
                request.scope[ROOM].take(len(chunk))
                held += chunk
    except TimeoutError:
        raise TerselyError(
            "malformed_request", f"the body did not come in {most.seconds} s"
        ) from None
    except ClientDisconnect:
        raise TerselyError("malformed_request", "the request ended before its body did") from None
    return held


def _announced(request: Request) -> int:
    """The length that a request says its body to have, 0 where it says none."""
    return int(request.headers.get("content-length", "0"))


def _check_size(size: int, most: _Most) -> None:
    if size > most.size:
        hint = "send large content with PUT, as it is"
        raise TerselyError("payload_too_large", f"a body has at most {most.size:,} bytes", hint)


def _decoded(operation: HttpOperation, given: bytearray) -> Any:
    body = given or b"null"
    try:
        return _with_whole_numbers(_decoder(operation.asks).decode(body))
    except msgspec.ValidationError as error:
        with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return msgspec.convert(_with_whole_numbers(_decoder(Any).decode(body)), operation.asks)
        raise TerselyError(
            "invalid_argument", str(error), f"see {operation.name} in /openapi.json"
        ) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise TerselyError(
            "malformed_request", f"the body is not JSON: {error}", "send JSON in UTF-8"
        ) from None


def _with_whole_numbers(body: Any) -> Any:
    """A body whose members that are written as `1.0` are the whole numbers that they are to JSON."""
    if not isinstance(body, dict):
        return body
    whole = {
        name: int(value)
        for name, value in body.items()
        if isinstance(value, float) and value.is_integer()
    }
    return {**body, **whole}


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
