"""A message: what is sent in an envelope, and what is kept of it in an inbox. No IO."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from typing import Any

from .failures import TalkError
from .frames import MAX_HEADER_BYTES, MAX_MESSAGE_BYTES, Frame, encode, too_large

MAX_FIELD_CHARACTERS = 200  # of an id or a name
MAX_JSON_LEVELS = 100  # of a message of type json
TEXT, JSON, BINARY = TYPES = ("text", "json", "binary")
MESSAGE, RECEIPT = _KINDS = ("message", "receipt")
_VERSION = 1
_HIGHEST_PORT = 65_535


@dataclass(frozen=True)
class Message:
    """The message of somebody. Its sender is whom it names: nobody checks it."""

    body: bytes
    sender_port: int | None = None  # unknown of a bare frame
    sender: str = ""  # the name of the sender's listener
    to: str = ""  # the name that was written to
    id: str = ""
    type: str = TEXT
    thread: str = ""
    reply_to: str = ""  # the id of another message
    wants_receipt: bool = False  # when it is read
    key: str = ""  # that of the listener, which passes on to the relay what has it
    kind: str = MESSAGE  # a receipt says that the message `reply_to` was read


_FIELDS: dict[
    str, tuple[str, type, Any]
] = {  # of the header, and of what is stored: the attribute, its type, its default
    "id": ("id", str, ""),
    "from": ("sender", str, ""),
    "to": ("to", str, ""),
    "type": ("type", str, TEXT),
    "thread": ("thread", str, ""),
    "reply_to": ("reply_to", str, ""),
    "receipt": ("wants_receipt", bool, False),
    "key": ("key", str, ""),
    "kind": ("kind", str, MESSAGE),
    "from_port": ("sender_port", int, None),
}
_STORED = ("id", "from", "to", "type", "thread", "reply_to", "receipt")


def frame_of(message: Message) -> bytes:
    """The bytes that carry a message in an envelope; raises `MESSAGE_TOO_LARGE`, `INVALID_MESSAGE`."""
    check_size(message.body)
    said = {"v": _VERSION, **_said(message, tuple(_FIELDS))}
    header = json.dumps(said).encode()
    _checked_header(said)
    return encode(header + b"\n" + message.body, is_envelope=True)


def message_of(frame: Frame, max_bytes: int = MAX_MESSAGE_BYTES) -> Message:
    """The message that a frame carries; raises `INVALID_MESSAGE`, `MESSAGE_TOO_LARGE`."""
    message = _from_envelope(frame.content) if frame.is_envelope else Message(frame.content)
    if message is None:  # some write every length with zeros before it
        message = Message(frame.content)
    check_size(message.body, max_bytes)
    value_of(message)
    return message


def check_size(body: bytes, allowed: int = MAX_MESSAGE_BYTES) -> None:
    """Raise `MESSAGE_TOO_LARGE` where it is."""
    if len(body) > allowed:
        raise too_large(len(body), allowed)


def value_of(message: Message) -> Any:
    """The body as its type means it: text, a value of JSON, base64 of bytes; raises
    `INVALID_MESSAGE`.
    """
    if message.type == BINARY:
        return base64.b64encode(message.body).decode("ascii")
    try:
        text = message.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TalkError(
            "INVALID_MESSAGE", f"the message is not UTF-8 at byte {error.start}"
        ) from error
    return text if message.type == TEXT else _parsed(text)


def stored(message: Message, timestamp: str) -> dict[str, Any]:
    """The message as a line of an inbox."""
    line = {
        "timestamp": timestamp,
        "sender_port": message.sender_port,
        "message": value_of(message),
    }
    return {**line, **_said(message, _STORED)}


def timestamp(seconds: float | None = None, timespec: str = "microseconds") -> str:
    """A point of time as `2026-01-16T10:30:45.123456`, in local time; now, where none is given."""
    whole, fraction = divmod(time.time() if seconds is None else seconds, 1)
    said = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(whole))
    return said if timespec == "seconds" else f"{said}.{int(fraction * 1_000_000):06d}"


def _said(message: Message, names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the fields that are not as they are by default."""
    values = {name: getattr(message, _FIELDS[name][0]) for name in names}
    return {name: value for name, value in values.items() if value != _FIELDS[name][2]}


def _from_envelope(content: bytes) -> Message | None:
    """None where the content has no header of an envelope."""
    header, newline, body = content.partition(b"\n")
    if not newline or len(header) > MAX_HEADER_BYTES:
        return None
    try:
        said = json.loads(header)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get("v") != _VERSION:
        return None
    return Message(body, **_checked_header(said))


def _checked_header(said: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a message that a header gives; fields that we do not know are for others."""
    given: dict[str, Any] = {}
    for name, (attribute, kind, _) in _FIELDS.items():
        if name not in said:
            continue
        value: Any = said[name]
        if type(value) is not kind or (kind is str and not _is_word(str(value))):
            raise TalkError("INVALID_MESSAGE", f"{name} is no short {_WORD_OF[kind]}", field=name)
        given[attribute] = value
    if given.get("type", TEXT) not in TYPES or given.get("kind", MESSAGE) not in _KINDS:
        raise TalkError(
            "INVALID_MESSAGE", f"a message is {', '.join(TYPES)}; it is a {' or a '.join(_KINDS)}"
        )
    if not 0 < given.get("sender_port", 1) <= _HIGHEST_PORT:
        raise TalkError("INVALID_MESSAGE", "from_port is no port", field="from_port")
    return given


_WORD_OF = {str: "text in one line", bool: "true or false", int: "number"}


def _is_word(value: str) -> bool:
    return len(value) <= MAX_FIELD_CHARACTERS and (value.isprintable() or not value)


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if _is_deep(value):
            raise ValueError("it is nested too deeply")
        # raises for lone surrogates, and for 1e999
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise TalkError("INVALID_MESSAGE", f"the message is not JSON: {error}") from error
    return value


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_JSON_LEVELS):
        lists = [
            one.values() if isinstance(one, dict) else one
            for one in level
            if isinstance(one, (dict, list))
        ]
        level = [item for items in lists for item in items]
        if not level:
            return False
    return True
