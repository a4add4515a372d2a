"""Somebody who talks through the relay's socket.

    async with await Peer.connect("ann") as ann:
        await ann.send("ben", "can you look at auth.py?")
        async for delivery in ann.deliveries():
            print(delivery.sender, delivery.body)
            await ann.ack(delivery)

A message that is not acknowledged comes again, with the same id and a higher `attempt`, at the next
connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import msgspec

from tersely.client.hops import passed_on
from tersely.foundation.errors import EXIT_OF_CODE, TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import (
    CLIENT_SECONDS,
    HELLO_SECONDS,
    MAX_FRAME_BYTES,
    MAX_SCREEN_CHARACTERS,
    REQUEST_SECONDS,
)
from tersely.foundation.network.credentials import is_same_user
from tersely.foundation.types import JsonMapping, JsonObject, Strings, without_none
from tersely.relay.wire.envelopes import VERSION, ServiceFailure
from tersely.relay.wire.failures import error_of
from tersely.relay.wire.frames import Frames, FrameTooLargeError, framed
from tersely.relay.wire.home import home_directory, socket_path

_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder().decode
_GONE = "tersely up starts a relay"


class Busy(TerselyError):  # noqa: N818 - an error whose name says what to do
    """The relay takes nothing now; `retry_seconds` says when to try again."""

    def __init__(self, message: str, retry_seconds: float) -> None:
        super().__init__("busy", message, f"try again in {retry_seconds:g} s")
        self.retry_seconds = retry_seconds


class Sent(NamedTuple):
    """A message that the relay has: committed as `durability` says, for so many `recipients`."""

    id: str
    seq: int
    durability: str
    recipients: int
    message_id: str
    refused: Strings = ()  # recipients whose mailboxes are full
    is_repetition: bool = False


class Delivery(NamedTuple):
    """A message that has come. `kind` is "channel" for what was posted in a channel, which `to`
    then names.
    """

    id: str
    seq: int
    sender: str
    sender_kind: str
    to: str
    kind: str
    body: str
    thread: str
    topic: str
    data: Any
    attempt: int
    at_ms: int
    reply_to: str = ""
    importance: float | None = None


class Receipt(NamedTuple):
    """The stage of a message that was sent with `receipts`: delivered, injected, seen or dead."""

    sent_id: str
    stage: str
    by: str
    note: str = ""


RequestHandler = Callable[[str, str, JsonMapping], None]


class Peer:
    """One connection under one name. For one event loop; several tasks may use it."""

    def __init__(self, name: str, home: Path, hello: JsonMapping) -> None:
        self.name = name
        self.token = ""
        self.session_id = ""
        self.resume_token = ""
        self._shows_screens = False  # the relay is one of this machine
        self._home = home
        self._hello = dict(hello)
        self._wire: _Wire | None = None
        self._waiting: dict[str, asyncio.Future[JsonObject]] = {}
        self._deliveries: asyncio.Queue[Delivery | None] = asyncio.Queue()
        self._is_closed = False
        self.on_receipt: Callable[[Receipt], None] = lambda receipt: None
        self._on_request: RequestHandler | None = None
        # requests that came before anybody could answer; the relay bounds them
        self._early: list[JsonObject] = []
        # of every other type
        self.on_envelope: Callable[[JsonMapping], None] = lambda envelope: None

    @classmethod
    async def connect(
        cls,
        name: str,
        *,
        home: Path | None = None,
        kind: str = "agent",
        token: str = "",
        program: str = "",
        task: str = "",
        service: JsonMapping | None = None,
        binds: bool = False,
        project: str = "",
        directory: str = "",
        max_inflight: int | None = None,
        resume_token: str = "",
    ) -> Self:
        """Connect under a name; raises `daemon_not_running`, `name_taken` or `unauthorized`.

        With `binds`, the name is bound to a token, which is then in `token` and is to be shown the
        next time. `resume_token` is that of the session to go on with, where there is one.
        """
        can: JsonObject = {
            "ack": True,
            "resume": True,
            "supports_topics": True,
            "channel_ack": True,
        }
        if max_inflight is not None:
            can["max_inflight"] = max_inflight
        hello: JsonObject = {
            "agent": name, "entityType": kind, "program": program, "task": task, "capabilities": can,
            "project": project, "workingDirectory": directory, "auth": {"token": token, "bind": binds},
        }  # fmt: skip
        if service is not None:
            hello["service"] = dict(service)
        peer = cls(name, home or home_directory(), hello)
        peer.token, peer.resume_token = token, resume_token
        await peer.resume()
        return peer

    @property
    def on_request(self) -> RequestHandler | None:
        """As a service, who is given each request: its id, who asks, and the payload."""
        return self._on_request

    @on_request.setter
    def on_request(self, handler: RequestHandler) -> None:
        """From now on they are given to this one; those that have come already, at once."""
        self._on_request = handler
        early, self._early = self._early, []
        for envelope in early:
            self._requested(envelope)

    async def resume(self) -> None:
        """Connect again, as the same: what was not acknowledged comes again."""
        self.drop()
        self._deliveries, self._early = asyncio.Queue(), []
        loop = asyncio.get_running_loop()
        wire = _Wire(self._received, self._lost)
        path = socket_path(self._home)
        try:
            await loop.create_unix_connection(lambda: wire, str(path))
        except OSError as error:
            message = f"no relay listens at {path}: {error.strerror}"
            raise TerselyError("daemon_not_running", message, _GONE) from error
        if not wire.is_own:
            raise TerselyError(
                "not_a_relay", f"another user listens at {path}", "nothing was sent to it"
            )
        self._wire = wire
        hello = {**self._hello, "session": {"resume_token": self.resume_token}}
        hello["auth"] = {**hello["auth"], "token": self.token}
        try:
            welcome = (await self._asked("HELLO", HELLO_SECONDS, payload=hello))["payload"]
        except BaseException:
            self.drop()
            raise
        self.session_id, self.resume_token = welcome["session_id"], welcome.get("resume_token", "")
        self.token = welcome.get("token", self.token)
        self._shows_screens = welcome.get("server", {}).get("screens") is True

    async def send(
        self,
        to: str,
        body: str,
        *,
        kind: str = "message",
        thread: str = "",
        topic: str = "",
        data: JsonMapping | None = None,
        importance: float | None = None,
        ttl_ms: int | None = None,
        reply_to: str = "",
        id: str = "",
        queue: bool = False,
        receipts: bool = False,
        durability: str = "",
    ) -> Sent:
        """Send a message and wait until the relay has it; raises what refuses it, `Busy` where it
        is to be sent again.

        Sent again with the same `id`, it is accepted once. `durability` "memory" is for what is not
        to be kept.
        """
        payload: JsonObject = {"kind": kind, "body": body}
        if data is not None:
            payload["data"] = data
        if thread:
            payload["thread"] = thread
        meta = {
            "requires_ack": receipts or None, "ttl_ms": ttl_ms, "importance": importance, "replyTo": reply_to or None,
            "queue": queue or None, "durability": durability or None,
        }  # fmt: skip
        given = without_none(meta)
        parts: JsonObject = {"to": to, "payload": payload}
        if given:
            parts["payload_meta"] = given
        if topic:
            parts["topic"] = topic
        return _sent(await self._asked("SEND", CLIENT_SECONDS, id=id, **parts))

    async def post(self, channel: str, body: str, *, thread: str = "", id: str = "") -> Sent:
        """Send a message to a channel."""
        payload = {"channel": channel, "body": body, **({"thread": thread} if thread else {})}
        return _sent(await self._asked("CHANNEL_MESSAGE", CLIENT_SECONDS, id=id, payload=payload))

    async def deliveries(self) -> AsyncIterator[Delivery]:
        """The messages that come, until `close`; raises `daemon_unavailable` where the connection
        is lost.
        """
        queue = self._deliveries  # of this connection
        while True:
            found = await queue.get()
            if found is None:
                queue.put_nowait(None)
                if self._is_closed:
                    return
                raise _lost()
            yield found

    async def ack(self, delivery: Delivery) -> None:
        """Say that a message has come and is the receiver's to keep."""
        self._say("ACK", {"ack_id": delivery.id, "seq": delivery.seq})

    async def nack(self, delivery: Delivery, code: str = "INVALID", reason: str = "") -> None:
        """Refuse a message: for now with BUSY, for ever with INVALID, FORBIDDEN or STALE."""
        self._say("NACK", {"ack_id": delivery.id, "code": code, "message": reason})

    async def receipt(self, delivery: Delivery, stage: str) -> None:
        """Say that a message was `injected` into the agent's input, or `seen` by it."""
        self._say("ACK", {"ack_id": delivery.id, "seq": delivery.seq, "stage": stage})

    async def ask(
        self,
        service: str,
        method: str,
        params: JsonMapping,
        timeout_ms: int = REQUEST_SECONDS * 1000,
        *,
        in_words: bool = False,
        hops: int = 0,
    ) -> Any:
        """The answer of a service, in words where it has them and they are wanted.

        `hops` are the questions that led to this one, of a service that asks under another name
        than its own; a `Service` need not say them. Raises `service_not_found`, `timed_out`,
        `rate_limited` or `hop_limit`, what the service raises, and `service_error` for what has no
        code of ours.
        """
        payload = {"service": service, "method": method, "params": params, "timeout_ms": timeout_ms}
        payload |= {"format": "text"} if in_words else {}
        payload |= passed_on(hops)
        answer = (
            await self._asked(
                "SERVICE_REQUEST", timeout_ms / 1000 + CLIENT_SECONDS, payload=payload
            )
        )["payload"]
        if answer["success"]:
            return answer.get("result")
        raise error_of(msgspec.convert(answer.get("error"), ServiceFailure | None))

    def answer(
        self, request_id: str, result: Any = None, error: ServiceFailure | None = None
    ) -> None:
        """As a service, answer a request: a result, or why there is none."""
        told: JsonObject = {"request_id": request_id, "success": error is None}
        told |= {"result": result} if error is None else {"error": error}
        self._say("SERVICE_RESPONSE", told)

    async def join(self, channel: str) -> None:
        """Become a member of a channel."""
        await self._asked("CHANNEL_JOIN", CLIENT_SECONDS, payload={"channel": channel})

    async def leave(self, channel: str) -> None:
        """Be a member no longer."""
        await self._asked("CHANNEL_LEAVE", CLIENT_SECONDS, payload={"channel": channel})

    async def who(self, channel: str) -> list[JsonObject]:
        """The members of a channel: their names, kinds, and whether they are online."""
        told = await self._asked("CHANNEL_MEMBERS", CLIENT_SECONDS, payload={"channel": channel})
        members: list[JsonObject] = told["payload"]["members"]
        return members

    async def subscribe(self, topic: str) -> None:
        """Have messages to everybody under a topic come here."""
        await self._asked("SUBSCRIBE", CLIENT_SECONDS, topic=topic)

    async def unsubscribe(self, topic: str) -> None:
        """No longer."""
        await self._asked("UNSUBSCRIBE", CLIENT_SECONDS, topic=topic)

    async def sync(self, streams: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
        """Say how far one has come with each (sender, topic); how far the relay has."""
        asked = [
            {"peer": peer, "topic": topic, "last_seq": last}
            for (peer, topic), last in streams.items()
        ]
        payload = {"session_id": self.session_id, "streams": asked}
        told = (await self._asked("SYNC", CLIENT_SECONDS, payload=payload))["payload"]["streams"]
        return {(one["peer"], one.get("topic", "")): one["server_last_seq"] for one in told}

    def tell_state(self, state: str, screen: str = "") -> None:
        """Say what one does, which `agents` shows: working, idle, waits for permission; and what
        one's terminal shows.

        Of a screen no more than its last `MAX_SCREEN_CHARACTERS` are sent, and nothing to a relay
        of another machine.
        """
        shown = screen[-MAX_SCREEN_CHARACTERS:] if self._shows_screens else ""
        self._say("STATE", {"state": state, "screen": shown} if shown else {"state": state})

    def log(self, data: str) -> None:
        """Show what one does to whoever subscribes to `logs`."""
        self._say("LOG", {"data": data})

    async def close(self) -> None:
        """Say good-bye."""
        self._is_closed = True
        if self._wire is not None and self._wire.is_open:
            self._say("BYE", {})
        self.drop()

    def drop(self) -> None:
        """Hang up without a word; whoever waits for an answer is told that there will be none."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
            self._lost()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _asked(self, type: str, seconds: float, *, id: str = "", **parts: Any) -> JsonObject:
        """The answer to an envelope; raises the error that it says instead."""
        sent_id = id or new_id()
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[sent_id] = answer
        try:
            self._say(type, parts.pop("payload", {}), id=sent_id, **parts)
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise TerselyError(
                "timed_out", f"the relay has not answered {type} in {seconds:g} s"
            ) from None
        finally:
            self._waiting.pop(sent_id, None)

    def _say(self, type: str, payload: Any, *, id: str = "", **parts: Any) -> None:
        if self._wire is None or not self._wire.is_open:
            raise _lost()
        self._wire.send(
            {"v": VERSION, "type": type, "id": id or new_id(), **parts, "payload": payload}
        )

    def _received(self, envelope: JsonObject) -> None:
        do = _RECEIVED.get(envelope["type"])
        if do is None:
            self.on_envelope(envelope)
        else:
            do(self, envelope)

    def _lost(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(_lost())
        self._deliveries.put_nowait(None)

    def _delivered(self, envelope: JsonObject) -> None:
        self._deliveries.put_nowait(_delivery(envelope))

    def _pinged(self, envelope: JsonObject) -> None:
        self._say("PONG", envelope["payload"])

    def _welcomed(self, envelope: JsonObject) -> None:
        for answer in self._waiting.values():  # the HELLO is all that is waited for
            if not answer.done():
                answer.set_result(envelope)

    def _answered(self, envelope: JsonObject) -> None:
        told = envelope["payload"]
        if "by" in told:
            self.on_receipt(
                Receipt(told["ack_id"], told["stage"], told["by"], told.get("note", ""))
            )
            return
        self._resolve(told.get("ack_id") or told.get("request_id") or "", envelope)

    def _resolve(self, id: str, envelope: JsonObject, failure: TerselyError | None = None) -> None:
        answer = self._waiting.get(id)
        if answer is None or answer.done():
            if failure is not None:
                self.on_envelope(envelope)
        elif failure is None:
            answer.set_result(envelope)
        else:
            answer.set_exception(failure)

    def _busy(self, envelope: JsonObject) -> None:
        told = envelope["payload"]
        self._resolve(
            told.get("ack_id", ""),
            envelope,
            Busy(told.get("message", ""), told["retry_after_ms"] / 1000),
        )

    def _refused(self, envelope: JsonObject) -> None:
        told = envelope["payload"]
        code = told.get("error") or told.get("reason") or ""
        code = code if code in EXIT_OF_CODE else "message_refused"
        error = TerselyError(code, told.get("message", ""), told.get("hint", ""))
        self._resolve(told.get("ack_id", ""), envelope, error)

    def _requested(self, envelope: JsonObject) -> None:
        if self._on_request is None:  # the first may come right behind the WELCOME
            self._early.append(envelope)
        else:
            self._on_request(envelope["id"], envelope.get("from", ""), envelope["payload"])


_RECEIVED: dict[str, Callable[[Peer, JsonObject], None]] = {
    "DELIVER": Peer._delivered,
    "CHANNEL_MESSAGE": Peer._delivered,
    "ACK": Peer._answered,
    "NACK": Peer._refused,
    "BUSY": Peer._busy,
    "ERROR": Peer._refused,
    "PING": Peer._pinged,
    "WELCOME": Peer._welcomed,
    "SERVICE_RESPONSE": Peer._answered,
    "SERVICE_REQUEST": Peer._requested,
    "SYNC": Peer._answered,
    "CHANNEL_INFO": Peer._answered,
    "CHANNEL_MEMBERS": Peer._answered,
}


class _Wire(asyncio.Protocol):
    """Frames both ways. What is sent while the relay does not read is bounded by who waits for its
    answers.
    """

    def __init__(self, received: Callable[[JsonObject], None], lost: Callable[[], None]) -> None:
        self._frames = Frames(MAX_FRAME_BYTES)
        self._received = received
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self.is_own = True  # this user listens at the other end

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # those of uvloop are none by inheritance
        self._transport = transport
        self.is_own = is_same_user(transport.get_extra_info("socket"))
        if not self.is_own:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            for body in self._frames.feed(data):
                self._received(_DECODE(body))
        except (FrameTooLargeError, msgspec.MsgspecError, KeyError):
            if self._transport is not None:
                self._transport.abort()  # that is no relay

    def connection_lost(self, error: Exception | None) -> None:
        self._lost()

    def send(self, envelope: JsonMapping) -> None:
        assert self._transport is not None
        self._transport.write(framed(_ENCODE(envelope)))

    def close(self) -> None:
        self._lost = lambda: None
        if self._transport is not None:
            self._transport.close()


def _delivery(envelope: JsonObject) -> Delivery:
    payload, told = envelope["payload"], envelope.get("delivery", {})
    meta = envelope.get("payload_meta", {})
    # of any other, `channel` is what its sender likes
    is_posted = envelope["type"] == "CHANNEL_MESSAGE"
    return Delivery(
        envelope["id"], told.get("seq", 0), envelope.get("from", ""), told.get("sender_kind", "agent"),
        payload["channel"] if is_posted else told.get("originalTo") or envelope.get("to", ""),
        "channel" if is_posted else payload.get("kind", "message"),
        payload.get("body", ""), payload.get("thread") or "", envelope.get("topic", ""), payload.get("data"),
        told.get("attempt", 1), int(envelope.get("ts", 0)), meta.get("replyTo", ""), meta.get("importance"),
    )  # fmt: skip


def _sent(answer: JsonObject) -> Sent:
    told = answer["payload"]
    return Sent(
        told["ack_id"], told["seq"], told["durability"], told["recipients"], told["message_id"],
        tuple(told.get("refused", ())), told.get("repeated", False),
    )  # fmt: skip


def _lost() -> TerselyError:
    return TerselyError("daemon_unavailable", "the connection to the relay is lost", _GONE)
