"""Requests and replies of the code daemon: one JSON object a line.

A request is `{"cmd": …, "id": …, "timeout_ms": …}` with the parameters of the command beside these.
A reply is `{"success": true, "result": …}` or `{"success": false, "error": …, "code": …}` and
carries the request's `id` if it had one.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import NoReturn

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_REQUEST_BYTES, MAX_REQUEST_SECONDS, REQUEST_SECONDS
from tersely.foundation.types import JsonMapping, JsonObject, frozen

MAX_REQUEST_ID_CHARACTERS = 200

RequestId = str | int | float | None
MILLISECONDS = 1000


@frozen
class Request:
    """One line, understood."""

    id: RequestId
    command: str
    parameters: JsonObject
    seconds: float  # within which it is to be answered


class RefusedRequestError(Exception):
    """A line that cannot be answered; the `id` in it, if that much could be read."""

    def __init__(self, request_id: RequestId, error: TerselyError) -> None:
        super().__init__(error.message)
        self.request_id = request_id
        self.error = error


def parse(line: bytes | None) -> Request:
    """Read one line, None for one that was too long; raises `RefusedRequestError`."""
    if line is None:
        raise RefusedRequestError(
            None, _malformed(f"the line is longer than {MAX_REQUEST_BYTES:,} bytes")
        )
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise RefusedRequestError(None, _malformed("the line is nested too deeply")) from error
    except ValueError as error:
        raise RefusedRequestError(None, _malformed(f"the line is not JSON: {error}")) from error
    if not isinstance(value, dict):
        raise RefusedRequestError(None, _malformed("a request is a JSON object"))
    request_id = value.pop("id", None)
    if not _is_id(request_id):
        message = f"id is a number, or a text of at most {MAX_REQUEST_ID_CHARACTERS} characters"
        raise RefusedRequestError(None, _malformed(message))
    try:
        seconds = _seconds(value.pop("timeout_ms", None))
        command = value.pop("cmd", None)
        if not isinstance(command, str):
            raise _malformed('a request names its command: {"cmd": …}')
    except TerselyError as error:
        raise RefusedRequestError(request_id, error) from error
    return Request(request_id, command, value, seconds)


def encode(body: JsonMapping) -> bytes:
    """A JSON object without the end of its line, in ASCII: a lone surrogate in a file name must not
    stop a reply.
    """
    return json.dumps(body, separators=(",", ":")).encode()


def failure(error: TerselyError) -> JsonObject:
    """The form of every refusal."""
    refusal = {"success": False, "error": error.message, "code": error.code}
    return {**refusal, "hint": error.hint} if error.hint else refusal


def line(request_id: RequestId, encoded: bytes) -> bytes:
    """An encoded reply as it is sent, under its request's id."""
    if request_id is None:
        return encoded + b"\n"
    return b'{"id":' + json.dumps(request_id).encode() + b"," + encoded[1:] + b"\n"


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_REQUEST_ID_CHARACTERS
    if isinstance(value, float):
        return isfinite(value)  # JSON has no other, though 1e999 is read as one
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _seconds(milliseconds: object) -> float:
    if milliseconds is None:
        return REQUEST_SECONDS
    if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool):
        raise TerselyError("invalid_argument", "timeout_ms must be a number")
    if not 0 < milliseconds <= MAX_REQUEST_SECONDS * MILLISECONDS:
        raise TerselyError(
            "invalid_argument",
            f"timeout_ms: more than 0, at most {MAX_REQUEST_SECONDS * MILLISECONDS}",
        )
    return milliseconds / MILLISECONDS


def _malformed(message: str) -> TerselyError:
    return TerselyError("malformed_request", message, "one JSON object a line")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
