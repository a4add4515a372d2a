"""A message: what is sent in an envelope, and what is kept of it in an inbox. No IO."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any, NamedTuple

from .failures import TalkError
from .frames import MAX_HEADER_BYTES, MAX_MESSAGE_BYTES, Frame, encode, too_large

MAX_FIELD_CHARACTERS = 200  # of an id or a name
# a receipt says that the message `reply_to` was read
TEXT, JSON, BINARY, RECEIPT = TYPES = ("text", "json", "binary", "receipt")
MAX_JSON_LEVELS = 100  # of lists and objects in each other: whoever reads it has room for them
_VERSION = 1
_PORTS = range(1, 65_536)
_STORED = ("id", "from", "to", "type", "thread", "reply_to", "receipt")
_FIELDS = {**dict.fromkeys(_STORED, str), "receipt": bool, "from_port": int}


class Message(NamedTuple):
    """The message of somebody. Its sender is whom the header names: nobody checks it."""

    body: bytes
    header: dict[str, Any]  # see "On the wire" in docs/talk.md


def frame_of(message: Message) -> bytes:
    """The bytes that carry a message in an envelope; raises `INVALID_MESSAGE`."""
    header = json.dumps({"v": _VERSION, **_checked(message.header)}).encode()
    return encode(header + b"\n" + message.body, is_envelope=True)


def message_of(frame: Frame) -> Message:
    """The message that a frame carries; raises `INVALID_MESSAGE`.

    What has no header of an envelope is text: some write every length with zeros before it.
    """
    header, _, body = frame.content.partition(b"\n")
    said = parsed_object(header) if frame.is_envelope and len(header) <= MAX_HEADER_BYTES else {}
    if said.get("v") != _VERSION:
        return Message(frame.content, {})
    return Message(body, _checked(said))


def stored(message: Message, max_bytes: int = MAX_MESSAGE_BYTES) -> dict[str, Any]:
    """The message as a line of an inbox; raises `MESSAGE_TOO_LARGE`, `INVALID_MESSAGE`."""
    if len(message.body) > max_bytes:
        raise too_large(len(message.body), max_bytes)
    return {
        "timestamp": timestamp("microseconds"),
        "sender_port": message.header.get("from_port"),
        "message": _value(message.body, message.header.get("type", TEXT)),
        **{name: message.header[name] for name in _STORED if name in message.header},
    }


def timestamp(timespec: str) -> str:
    """This point of time as `2026-01-16T10:30:45.123456`, in local time."""
    return datetime.now().astimezone().replace(tzinfo=None).isoformat(timespec=timespec)


def parsed_object(text: bytes) -> dict[str, Any]:
    """The object of JSON that a text is; empty where it is none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _value(body: bytes, kind: str) -> Any:
    """The body as its type means it: text, a value of JSON, base64 of bytes."""
    if kind == BINARY:
        return base64.b64encode(body).decode("ascii")
    try:
        value = json.loads(body) if kind == JSON else body.decode("utf-8")
        # raises for lone surrogates, and for what is no number
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        if _levels(value) > MAX_JSON_LEVELS:
            raise ValueError(f"more than {MAX_JSON_LEVELS} levels of lists and objects")
    except (ValueError, RecursionError) as error:
        raise TalkError("INVALID_MESSAGE", f"the message is no {kind}: {error}") from error
    return value


def _levels(value: Any) -> int:
    """How many lists and objects there are in each other; raises `RecursionError`."""
    is_list = isinstance(value, list)
    inner = value.values() if isinstance(value, dict) else value if is_list else ()
    return 1 + max(map(_levels, inner), default=-1)


def _checked(said: dict[str, Any]) -> dict[str, Any]:
    """The fields of a header that we know; others are for others."""
    given = {name: said[name] for name in _FIELDS if name in said}
    for name, value in given.items():
        known = {"type": TYPES, "from_port": _PORTS}.get(name, (value,))
        is_meant = type(value) is _FIELDS[name] and value in known
        if not (is_meant and len(str(value)) <= MAX_FIELD_CHARACTERS and str(value).isprintable()):
            raise TalkError("INVALID_MESSAGE", f"{name} cannot be that", field=name)
    return given
