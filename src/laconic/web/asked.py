"""Requests as values: what is in the path, behind the question mark, in the headers and in the body, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request

from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_KEY_CHARACTERS, MAX_WEB_BODY_BYTES
from laconic.protocols.relay.operations import Content, Operation, Query


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for an operation."""

    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any  # as the operation's `asks` has it, None where it asks for nothing
    agent: str
    key: str = ""  # of idempotency
    expected: str = ""  # version, of `If-Match`


async def read(operation: Operation, request: Request) -> Asked:
    """The request; raises `malformed_request`, `invalid_argument` or `payload_too_large`."""
    body = None
    if operation.asks is not None:
        body = _decoded(operation, await _body(request))
    key = request.headers.get("idempotency-key", "") if operation.repeatable else ""
    if len(key) > MAX_KEY_CHARACTERS:
        raise LaconicError("invalid_argument", f"Idempotency-Key has at most {MAX_KEY_CHARACTERS} characters")
    expected = request.headers.get("if-match", "").strip().strip('"') if operation.conditional else ""
    return Asked(request.path_params, _query(operation, request), body, request.scope["agent"], key, expected)


def _query(operation: Operation, request: Request) -> dict[str, Any]:
    known = {query.name: query for query in operation.query}
    given = {name: query.default for name, query in known.items()}
    for name, value in request.query_params.multi_items():
        if name not in known:
            hint = f"known: {', '.join(known)}" if known else "this operation has none"
            raise LaconicError("invalid_argument", f"there is no parameter {name[:80]!r}", hint)
        given[name] = _value(known[name], value)
    return given


def _value(query: Query, text: str) -> Any:
    if query.least is None:
        return text
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise LaconicError("invalid_argument", f"{query.name}: a whole number of at least {query.least}")
    number = int(text)
    if number < query.least or (query.most is not None and number > query.most):
        bound = f"to {query.most}" if query.most is not None else "on"
        raise LaconicError("invalid_argument", f"{query.name}: a whole number from {query.least} {bound}")
    return number


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"", Content.JSON, "application/json-patch+json"}:
        raise LaconicError("malformed_request", f"a body of {kind[:80]!r} is not read", f"send {Content.JSON}")
    held = bytearray()
    try:
        async for chunk in request.stream():
            held += chunk
            if len(held) > MAX_WEB_BODY_BYTES:
                hint = "send large content with PUT, as it is"
                raise LaconicError("payload_too_large", f"a body has at most {MAX_WEB_BODY_BYTES:,} bytes", hint)
    except ClientDisconnect:
        raise LaconicError("malformed_request", "the request ended before its body did") from None
    return bytes(held)


def _decoded(operation: Operation, body: bytes) -> Any:
    try:
        return _decoder(operation.asks).decode(body or b"null")
    except msgspec.ValidationError as error:
        raise LaconicError("invalid_argument", str(error), f"see {operation.name} in /openapi.json") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise LaconicError("malformed_request", f"the body is not JSON: {error}", "send JSON in UTF-8") from None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
