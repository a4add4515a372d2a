"""Envelopes: what every frame holds, and the payloads of each type, as version 1 of agent-relay has
them.

What is forwarded stays as it came (`Raw`): it is checked, not rewritten. Members that are not named
here are skipped, so that clients may send more than we know.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from tersely.foundation.limits import (
    MAX_HOPS,
    MAX_INFLIGHT_MESSAGES,
    MAX_JSON_LEVELS,
    MAX_SCREEN_CHARACTERS,
    MAX_TTL_MILLISECONDS,
)

VERSION = 1
CHANNEL_PATTERN = r"[#A-Za-z0-9_][A-Za-z0-9._:@/#-]{0,99}"

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Short = Annotated[str, Meta(max_length=200)]
Given = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=4_000)]
Kind = Literal["message", "action", "state", "thinking"]
Entity = Literal["agent", "user", "service"]
_NOTHING = Raw(b"{}")
_LEVELS = re.compile(
    reduce(lambda inner, _: rb"(?:\[" + inner + rb"\])*+", range(MAX_JSON_LEVELS), b"")
)
_SMALL_BYTES = 4_096
# which may be no number of 64 bits
_LARGE_NUMBER = re.compile(rb"[0-9.eE+-]{20,}|[0-9.]+[eE][+]?[0-9]{3,}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE_SURROGATE = re.compile(_HIGH + b"(?!" + _LOW + b")|(?<!" + _HIGH + b")" + _LOW)
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class MalformedError(Exception):
    """A frame that holds no envelope, or an envelope whose payload is not what its type asks for."""


class AboutFrame(Struct):
    """The readable fields of an envelope that is none: enough to answer it."""

    type: str = ""
    id: Id = ""


class Treatment(Struct, omit_defaults=True):
    """The wishes of a sender about a message. `durability` "memory" is for what nobody misses after
    a crash.
    """

    requires_ack: bool | None = None  # tell the sender of each stage that the message reaches
    ttl_ms: Annotated[int, Meta(ge=1, le=MAX_TTL_MILLISECONDS)] | None = None
    importance: float | None = None
    replyTo: Short | None = None  # noqa: N815 - as it is sent
    queue: bool | None = None  # keep it for a recipient that was never seen
    durability: Literal["memory", "disk"] | None = None


class Delivered(Struct, omit_defaults=True):
    """The place of a delivery in its order: its number among those of one sender and topic, 0 where
    it is not numbered.
    """

    seq: int
    session_id: str
    originalTo: str | None = None  # noqa: N815 - as it is sent
    attempt: int = 1
    sent_id: str = ""  # what the sender called it
    sender_kind: str = "agent"


class SocketEnvelope(Struct, rename={"from_": "from"}, omit_defaults=True):
    """One frame. Who it is from is written by the relay, whatever a client sends."""

    type: Annotated[str, Meta(max_length=40)]
    id: Id
    v: int = 0
    ts: float = 0
    from_: str | None = None
    to: Short | None = None
    topic: Short | None = None
    payload: Raw = _NOTHING
    payload_meta: Treatment | None = None
    delivery: Delivered | None = None


class _Sent(Struct, omit_defaults=True, rename={"from_": "from"}):
    """An envelope as it is written: the same, with what readers want to see first in front."""

    v: int
    type: str
    id: str
    ts: int
    from_: str | UnsetType = UNSET
    to: str | UnsetType = UNSET
    topic: str | UnsetType = UNSET
    payload: Any = _NOTHING
    payload_meta: Any = UNSET
    delivery: Delivered | UnsetType = UNSET


# From clients


class HelloCapabilities(Struct):
    """The abilities of a client."""

    ack: bool = True
    resume: bool = True
    max_inflight: Annotated[int, Meta(ge=1)] = MAX_INFLIGHT_MESSAGES
    supports_topics: bool = True
    channel_ack: bool = False  # it acknowledges CHANNEL_MESSAGE as well


class HelloSession(Struct):
    """The token with which a client goes on where it was."""

    resume_token: Short = ""


class Auth(Struct):
    """The token that a name is bound to, or the wish for one."""

    token: Short = ""
    bind: bool = False


class HelloService(Struct):
    """The description that a service gives of itself."""

    name: Short = ""
    version: Short = ""
    capabilities: list[Any] = msgspec.field(default_factory=list)


class Hello(Struct):
    """The first envelope of a client: its name, and what it can do."""

    agent: Given
    capabilities: HelloCapabilities = msgspec.field(default_factory=HelloCapabilities)
    entityType: Entity | None = None  # noqa: N815 - as it is sent
    cli: Short | None = None
    program: Short | None = None
    model: Short | None = None
    task: Text | None = None
    workingDirectory: Text | None = None  # noqa: N815 - as it is sent
    project: Short | None = None
    displayName: Short | None = None  # noqa: N815 - as it is sent
    avatarUrl: Text | None = None  # noqa: N815 - as it is sent
    session: HelloSession | None = None
    auth: Auth | None = None
    service: HelloService | None = None


class Resume(Struct):
    """A client that shows its resume token alone."""

    resume_token: Annotated[str, Meta(min_length=1, max_length=200)]
    capabilities: HelloCapabilities = msgspec.field(default_factory=HelloCapabilities)


class Send(Struct):
    """The fields that are looked at of a message, which is forwarded as it is."""

    body: str
    kind: Kind = "message"
    data: Raw = _NOTHING  # a union with `Raw` would take null alone
    thread: Short | None = None


class Acknowledged(Struct):
    """A message that a client has, or all of its stream up to a number."""

    ack_id: Id
    seq: int = 0
    cumulative_seq: int | None = None
    sack: Annotated[list[int], Meta(max_length=MAX_INFLIGHT_MESSAGES)] | None = None
    stage: Literal["delivered", "injected", "seen"] = "delivered"


class RefusedDelivery(Struct):
    """A message that a client does not take: BUSY means later, all else never."""

    ack_id: Id
    code: Literal["BUSY", "INVALID", "FORBIDDEN", "STALE"] | None = None
    reason: Short | None = None
    message: Text | None = None


class ToldActivity(Struct):
    """The activity of a client: working, idle, waits for permission; and what its terminal shows,
    "" for no news of it.
    """

    state: Short
    screen: Annotated[str, Meta(max_length=MAX_SCREEN_CHARACTERS)] = ""


class InChannel(Struct):
    """A channel, and who is meant."""

    channel: Annotated[str, Meta(pattern=f"^{CHANNEL_PATTERN}\\Z")]
    member: Given | None = None


class ChannelSend(Struct):
    """The fields that are looked at of a message to a channel."""

    channel: Annotated[str, Meta(pattern=f"^{CHANNEL_PATTERN}\\Z")]
    body: str
    data: Raw = _NOTHING
    thread: Short | None = None


class SyncStream(Struct, omit_defaults=True):
    """The last number that one has of the messages of a sender and topic."""

    peer: Short
    topic: Short = ""
    last_seq: int = 0
    server_last_seq: int | None = None


class Sync(Struct):
    """The last numbers that one has, of each sender and topic."""

    streams: Annotated[list[SyncStream], Meta(max_length=1_000)]
    session_id: Short = ""


class ServiceRequest(Struct, omit_defaults=True):
    """A question to a service."""

    service: Short
    method: Short
    params: Raw = _NOTHING
    timeout_ms: Annotated[int, Meta(ge=1)] | None = None
    # text: in words, as a command prints it, where the service has words
    format: Literal["json", "text"] = "json"
    hops: Annotated[int, Meta(ge=0, le=MAX_HOPS)] = 0  # questions and calls that led to this one
    traceparent: Short = ""  # the trace that it is part of (W3C Trace Context)


class ServiceFailure(Struct, omit_defaults=True):
    """The error of a service that gives no result."""

    code: Short
    message: str
    hint: str = ""  # what to do instead
    error: str = ""  # its code at every other door, where it has one


class ServiceResponse(Struct, omit_defaults=True):
    """The answer of a service: a result or an error."""

    request_id: Id
    success: bool
    result: Raw | UnsetType = UNSET
    error: ServiceFailure | None = None


_ENVELOPES = msgspec.json.Decoder(SocketEnvelope)
_ABOUTS = msgspec.json.Decoder(AboutFrame)
_ANYTHING = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    one: msgspec.json.Decoder(one)
    for one in (
        Hello, Resume, Send, Acknowledged, RefusedDelivery, ToldActivity, InChannel, ChannelSend, Sync, ServiceRequest,
        ServiceResponse,
    )
}  # fmt: skip


def read(body: bytes) -> SocketEnvelope:
    """The envelope in a frame; raises `MalformedError`."""
    try:
        text = body.decode()  # also what is forwarded unread has to be UTF-8
        if _is_too_deep(body):
            raise MalformedError(
                f"JSON is nested deeper than {MAX_JSON_LEVELS} levels, or its brackets do not match"
            )
        envelope = _ENVELOPES.decode(text)
        _check_values(body, envelope.payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"no envelope: {error}") from None
    return envelope


def about(body: bytes) -> AboutFrame:
    """The type and id in a frame that `read` refuses, as far as they can be made out."""
    try:
        return _ABOUTS.decode(_SURROGATE.sub(rb"\\ufffd", body).decode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError):
        return AboutFrame()


def payload_of(envelope: SocketEnvelope, kind: type[Any]) -> Any:
    """The payload of an envelope, read; raises `MalformedError`."""
    try:
        return _DECODERS[kind].decode(envelope.payload)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise MalformedError(f"{envelope.type}: {error}") from None


def write(
    type: str,
    id: str,
    ts: int,
    payload: Any,
    *,
    from_: str | UnsetType = UNSET,
    to: str | UnsetType = UNSET,
    topic: str | UnsetType = UNSET,
    payload_meta: Any = UNSET,
    delivery: Delivered | UnsetType = UNSET,
) -> bytes:
    """An envelope as the body of a frame. Its payload is a plain value, a struct, or JSON as it
    came (`Raw`).
    """
    return _ENCODER.encode(
        _Sent(VERSION, type, id, ts, from_, to, topic, payload, payload_meta, delivery)
    )


def _check_values(body: bytes, payload: Raw) -> None:
    """Raise where readers would fail, which `Raw` lets pass: large numbers, and halves of surrogate
    pairs.
    """
    if len(body) <= _SMALL_BYTES:
        _ANYTHING.decode(payload)
        return
    # Of a large frame the values are not made: that takes much longer.
    if _LARGE_NUMBER.search(body):
        for number in _LARGE_NUMBER.findall(_without_strings(body)):
            _ANYTHING.decode(number)
    if _SURROGATE.search(body) and _LONE_SURROGATE.search(body.replace(b"\\\\", b"")):
        raise MalformedError("no envelope: half a surrogate pair is no character")


def _is_too_deep(body: bytes) -> bool:
    """True if JSON has so many levels that some reader of what is forwarded would fail.

    It takes a few milliseconds for a megabyte of whatever: a flood of brackets must hold up nobody
    else.
    """
    if body.count(b"{") + body.count(b"[") <= MAX_JSON_LEVELS:
        return False
    return _LEVELS.fullmatch(_without_strings(body).translate(_SQUARE, _NO_BRACKETS)) is None


def _without_strings(body: bytes) -> bytes:
    return b"".join(body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
