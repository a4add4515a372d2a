"""The refusals that a client is sent."""

from __future__ import annotations

from tersely.doors.socket.connection import SocketConnection
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MESSAGE_RETRY_SECONDS
from tersely.relay.wire.envelopes import AboutFrame, MalformedError, SocketEnvelope

_NACK_CODES = {"denied": "FORBIDDEN", "unauthorized": "FORBIDDEN", "name_taken": "FORBIDDEN"}
_ANSWERED_BY_NACK = frozenset(
    {"SEND", "CHANNEL_MESSAGE", "CHANNEL_JOIN", "CHANNEL_LEAVE", "SUBSCRIBE"}
)
_ANSWERED_BY_BUSY = frozenset({"busy", "database_locked", "database_unavailable"})
_NACK_REASONS = {"FORBIDDEN": "forbidden", "BUSY": "busy"}
_RETRY_MS = round(MESSAGE_RETRY_SECONDS * 1000)


def refuse(
    connection: SocketConnection,
    envelope: SocketEnvelope | AboutFrame,
    error: MalformedError | TerselyError,
) -> None:
    """Answer what cannot be done in the manner of its type."""
    if connection.name and envelope.id and envelope.type in _ANSWERED_BY_NACK:
        nack(connection, envelope.id, error)
    elif connection.name:
        connection.error("BAD_REQUEST", _message(error), about=envelope.id)
    else:
        connection.fail("BAD_REQUEST", _message(error), about=envelope.id)


def nack(connection: SocketConnection, about: str, error: Exception) -> None:
    """Say that a message is not accepted: not now (BUSY), or never (NACK)."""
    code = error.code if isinstance(error, TerselyError) else "malformed_request"
    is_defect = not isinstance(error, TerselyError | MalformedError)
    if code in _ANSWERED_BY_BUSY or is_defect:
        told = {
            "ack_id": about,
            "retry_after_ms": _RETRY_MS,
            "queue_depth": 0,
            "message": _message(error),
        }
        connection.send("BUSY", told)
        return
    nack = _NACK_CODES.get(code, "INVALID")
    reason = _NACK_REASONS.get(nack, "invalid")
    told = {
        "ack_id": about,
        "code": nack,
        "reason": reason,
        "message": _message(error),
        "error": code,
    }
    if isinstance(error, TerselyError) and error.hint:
        told["hint"] = error.hint
    connection.send("NACK", told)


def _message(error: Exception) -> str:
    return error.message if isinstance(error, TerselyError) else str(error)
