"""Messages of JSON-RPC 2.0: reading one, writing one, and the codes of its errors."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

from tersely.foundation.types import JsonMapping, JsonObject

PARSE_ERROR = -32_700
INVALID_REQUEST = -32_600
METHOD_NOT_FOUND = -32_601
INVALID_PARAMS = -32_602
INTERNAL_ERROR = -32_603

MAX_MESSAGE_BYTES = 1_000_000  # of one line, or one body

Id = str | int | None


class RpcError(Exception):
    """A refusal with its code; `data` is any JSON value."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RpcRequest(NamedTuple):
    """A request, to be answered under its id."""

    id: Id
    method: str
    params: JsonObject


class RpcNotification(NamedTuple):
    """A message that has no answer."""

    method: str
    params: JsonObject


class RpcResponse(NamedTuple):
    """The answer to a request of ours; `error` is None where it succeeded."""

    id: Id
    result: Any
    error: Any


Message = RpcRequest | RpcNotification | RpcResponse


def decode(text: bytes | None) -> Any:
    """The JSON value of a line or a body, None being one that was too long; raises `RpcError`."""
    if text is None:
        raise RpcError(INVALID_REQUEST, f"the message is longer than {MAX_MESSAGE_BYTES:,} bytes")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise RpcError(PARSE_ERROR, "the message is nested too deeply") from error
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"the message is not JSON: {error}") from error


def id_of(value: Any) -> Id:
    """The id under which a value is to be answered, None where it has no valid one."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) or type(found) is int else None


def message(value: Any) -> Message:
    """The message that a JSON value is; raises `RpcError`."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a message is a JSON object with "jsonrpc": "2.0"')
    if "method" not in value and ("result" in value or "error" in value):
        return RpcResponse(id_of(value), value.get("result"), value.get("error"))
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "a request names its method, a text")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params is an object")
    if "id" not in value:
        return RpcNotification(method, params)
    if id_of(value) is None:
        raise RpcError(INVALID_REQUEST, "an id is a text or a whole number")
    return RpcRequest(id_of(value), method, params)


def encode(value: JsonMapping | list[JsonObject]) -> bytes:
    """A message or a batch in one line without its end, in ASCII: a lone surrogate in a file name
    stops no answer.
    """
    return json.dumps(value, separators=(",", ":")).encode()


def success(request_id: Id, result: JsonMapping) -> JsonObject:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: Id, error: RpcError) -> JsonObject:
    """The refusal of a request; of a message without a valid id the id is null."""
    told = {"code": error.code, "message": error.message}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": told if error.data is None else {**told, "data": error.data},
    }


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
