"""A message: the frame that carries it, and what is kept of it in an inbox. No IO.

A frame is the length of its content in bytes as a decimal number, a colon, the content:
`13:Hello, World!`. One whose length begins with a zero, `013:…`, is an envelope: a header as one
line of JSON, a newline, the message. No number is written with a zero before it, so a bare frame
is never taken for an envelope, and who knows bare frames alone reads the same length.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from typing import Any, NamedTuple

from .failures import TalkError

MAX_MESSAGE_BYTES = 1_048_576
MAX_HEADER_BYTES = 16_384  # of an envelope, beside its message
MAX_FIELD_CHARACTERS = 200  # of an id or a name
# a receipt says that the message `reply_to` was read
TEXT, JSON, BINARY, RECEIPT = TYPES = ("text", "json", "binary", "receipt")
MAX_JSON_LEVELS = 100  # of lists and objects in each other: whoever reads it has room for them
_LENGTH = re.compile(rb"(0(?=\d))?(\d{1,8}):")
_BEGINNING = re.compile(rb"\d{0,9}")  # of a length that has not come whole
_VERSION = 1
_PORTS = range(1, 65_536)
_STORED = ("id", "from", "to", "type", "thread", "reply_to", "receipt")
_FIELDS = {**dict.fromkeys(_STORED, str), "receipt": bool, "from_port": int}


class TalkFrame(NamedTuple):
    """The content of one frame."""

    content: bytes
    is_envelope: bool


class Message(NamedTuple):
    """The message of somebody. Its sender is whom the header names: nobody checks it."""

    body: bytes
    header: dict[str, Any]  # see "On the wire" in docs/talk.md


def encode(content: bytes, *, is_envelope: bool = False) -> bytes:
    """The frame of a content."""
    return b"%b%d:%b" % (b"0" if is_envelope else b"", len(content), content)


def cut(held: bytearray, max_bytes: int = MAX_MESSAGE_BYTES) -> TalkFrame | None:
    """The first frame of what has come, which is taken out of it; None where it is not whole.
    Raises `MALFORMED_FRAME`, and `MESSAGE_TOO_LARGE` as soon as the length is known.
    """
    length = _LENGTH.match(held)
    if length is None:
        if _BEGINNING.fullmatch(held):
            return None
        raise malformed()
    is_envelope, size, begins_at = bool(length[1]), int(length[2]), length.end()
    if size > max_bytes + (MAX_HEADER_BYTES if is_envelope else 0):
        raise _too_large(size, max_bytes)
    if len(held) < begins_at + size:
        return None
    content = bytes(held[begins_at : begins_at + size])
    del held[: begins_at + size]
    return TalkFrame(content, is_envelope)


def malformed() -> TalkError:
    """The failure of what is no frame."""
    return TalkError("MALFORMED_FRAME", "a frame is the length in bytes, a colon, and the message")


def frame_of(message: Message) -> bytes:
    """The bytes that carry a message in an envelope; raises `INVALID_MESSAGE`."""
    header = json.dumps({"v": _VERSION, **_checked(message.header)}).encode()
    return encode(header + b"\n" + message.body, is_envelope=True)


def message_of(frame: TalkFrame) -> Message:
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
        raise _too_large(len(message.body), max_bytes)
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


def _too_large(size: int, allowed: int) -> TalkError:
    why = f"a message has at most {allowed} bytes"
    return TalkError("MESSAGE_TOO_LARGE", why, size=size, max_size=allowed)


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
