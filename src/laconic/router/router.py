"""Who is connected, and what is done with each envelope. Everything here happens on one loop and waits for nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from laconic.foundation.clock import elapsed_seconds, wall_seconds
from laconic.foundation.errors import LaconicError
from laconic.foundation.ids import new_id
from laconic.foundation.limits import (
    HELLO_SECONDS,
    MARK_REST_SECONDS,
    MAX_FRAME_BYTES,
    MAX_INFLIGHT_MESSAGES,
    MAX_MESSAGE_ATTEMPTS,
    MAX_NOTES_AHEAD,
    MAX_SOCKET_CLIENTS,
    MAX_SUBSCRIPTIONS,
    MESSAGE_RETRY_SECONDS,
    PUMPED_MESSAGES,
    SOCKET_HEARTBEAT_SECONDS,
    SOCKET_SILENCE_SECONDS,
    SOCKET_TICK_SECONDS,
)
from laconic.protocols.socket import envelopes
from laconic.protocols.socket.envelopes import About, Delivered, Envelope, MalformedError, Treatment, payload_of
from laconic.relay.encoding import encode, timestamp
from laconic.relay.mail.identities import Claim, Session
from laconic.relay.mail.mail import Mail
from laconic.relay.mail.messages import CHANNEL, Draft, Outcome
from laconic.relay.store import mailboxes as boxes
from laconic.relay.store.mailboxes import Mark, Post, Posted, Stage, Waiting
from laconic.router.connection import Connection, Inflight
from laconic.router.services import Services

_LOG = logging.getLogger("laconic.router")
_NO_TREATMENT = Treatment()
_LOGS = "logs"  # the topic of what everybody logs; `logs:NAME` is of one
_STAGES = {"delivered": Stage.DELIVERED, "injected": Stage.INJECTED, "seen": Stage.SEEN}
_NACK_CODES = {"denied": "FORBIDDEN", "unauthorized": "FORBIDDEN", "name_taken": "FORBIDDEN"}
_ANSWERED_BY_NACK = frozenset({"SEND", "CHANNEL_MESSAGE", "CHANNEL_JOIN", "CHANNEL_LEAVE", "SUBSCRIBE"})
_NACK_REASONS = {"FORBIDDEN": "forbidden", "BUSY": "busy"}
_RETRY_MS = round(MESSAGE_RETRY_SECONDS * 1000)


class Router:
    """The clients of one relay's socket."""

    def __init__(self, mail: Mail, services: Services) -> None:
        self.mail = mail
        self.services = services
        self._all: set[Connection] = set()
        self._names: dict[str, Connection] = {}  # in use, also by who is still being let in
        self._memory_messages = 0
        self._spoken: list[Connection] = []
        self._is_reading = False  # what is said goes out when all is read that has come together
        self._behind: set[Connection] = set()  # they could be sent more, once it is noted what they were sent
        self._is_resting = False  # notes on deliveries wait for a message
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """Take over the mail of the relay; the task looks after clients until it is cancelled."""
        self._loop = loop
        self.mail.attach(lambda do: loop.call_soon_threadsafe(self._follow, do), self)
        return loop.create_task(self._look())

    def close(self) -> None:
        """Say good-bye to everybody."""
        for connection in list(self._all):
            connection.send("BYE", {})
            connection.close()

    # Presence

    def connected(self) -> dict[str, Connection]:
        """Who has been let in, by name."""
        return {name: one for name, one in list(self._names.items()) if one.name}

    def live(self, topic: str) -> Iterable[str]:
        """The agents and users that are connected, those alone that subscribe to the topic if there is one."""
        return [
            name
            for name, one in list(self._names.items())
            if one.name and one.kind != "service" and (not topic or topic in one.subscriptions)
        ]

    def takes(self, name: str) -> bool:
        """Whether a message for them would be sent to them at once."""
        connection = self._names.get(name)
        return connection is not None and connection.takes

    def posted(self, post: Post, posted: Posted) -> None:
        """Send a message that has been accepted to whoever can take it now; the others find it on the disk."""
        attempts = dict(post.mailboxes)
        for name, seq in posted.deliveries:
            connection = self._names.get(name)
            if connection is None or not connection.name or posted.number <= connection.position:
                continue
            if not connection.takes:
                connection.is_behind = True
                continue
            attempt = attempts[name]
            if not attempt:  # it could not take it when the message was accepted
                attempt = 1
                self.mail.mark(Mark(name, posted.number, Stage.ACCEPTED, 0, attempt))
            self._deliver(connection, _waiting(post, posted.number, name, seq, attempt))

    # What connections tell

    def came(self, connection: Connection) -> None:
        """Somebody has connected."""
        if len(self._all) >= MAX_SOCKET_CLIENTS:
            connection.fail("INTERNAL", f"{MAX_SOCKET_CLIENTS:,} clients are connected", reason="busy")
            return
        self._all.add(connection)

    def received(self, connection: Connection, body: bytes) -> None:
        """Do what an envelope asks for, and answer whatever it is."""
        self._is_reading = True
        try:
            envelope = envelopes.read(body)
        except MalformedError as error:
            _refuse(connection, envelopes.about(body), error)
            return
        if envelope.v != envelopes.VERSION:
            message = f"version {envelope.v} is not spoken here; version {envelopes.VERSION} is"
            connection.fail("BAD_REQUEST", message, about=envelope.id)
            return
        do = _DO.get(envelope.type) if connection.name else _BEFORE.get(envelope.type)
        if do is None:
            self._unexpected(connection, envelope)
            return
        try:
            do(self, connection, envelope)
        except (MalformedError, LaconicError) as error:
            _refuse(connection, envelope, error)
        except Exception:  # noqa: BLE001 - a defect in one answer must not end the others' connections
            _LOG.exception("%s of %s has failed", envelope.type, connection.name)
            connection.error("INTERNAL", "a defect in Laconic; the log has more", about=envelope.id)

    def read(self, connection: Connection) -> None:
        """Have written what has come together, and give room that has become free to what waits."""
        self._pump(connection)
        self._write_mail()
        self._flush()

    def drained(self, connection: Connection) -> None:
        """A client that was slow takes messages again."""
        self._pump(connection)
        self._write_mail()

    def spoken(self, connection: Connection) -> None:
        """Have what was said sent together with what else is said now."""
        if not (self._is_reading or self._spoken) and self._loop is not None:
            self._loop.call_soon(self._flush)
        self._spoken.append(connection)

    def written(self) -> None:
        """A group is written: the next one can be."""
        self._write_mail()
        behind, self._behind = self._behind, set()
        for connection in behind:
            self._pump(connection)

    def _write_mail(self) -> None:
        if self.mail.flush(rests=True) and not self._is_resting and self._loop is not None:
            self._is_resting = True
            self._loop.call_later(MARK_REST_SECONDS, self._rested)

    def _rested(self) -> None:
        self._is_resting = False
        self.mail.flush()

    def _follow(self, do: Callable[[], None]) -> None:
        """Do what the mail wants done on this loop, and send what it says at once."""
        self._is_reading = True
        try:
            do()
        finally:
            self._flush()

    def _flush(self) -> None:
        self._is_reading = False
        spoken, self._spoken = self._spoken, []
        for connection in spoken:
            connection.flush()

    def left(self, connection: Connection) -> None:
        """A client is gone; what it has not acknowledged waits for its next connection."""
        self._all.discard(connection)
        self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        for name, one in list(self._names.items()):
            if one is connection:
                del self._names[name]
        if connection.kind == "service" and connection.name:
            self.services.left(connection)

    # Coming

    def _hello(self, connection: Connection, envelope: Envelope) -> None:
        hello: envelopes.Hello = payload_of(envelope, envelopes.Hello)
        refusal = self.services.refusal(hello)
        if refusal is not None:
            connection.fail("UNAUTHORIZED", refusal.message, about=envelope.id, reason=refusal.code)
            return
        auth = hello.auth or envelopes.Auth()
        directory = hello.workingDirectory or ""
        details = {
            name: getattr(hello, name)
            for name in ("program", "cli", "model", "task", "workingDirectory", "displayName", "avatarUrl")
            if getattr(hello, name)
        }
        project = hello.project or PurePath(directory).name
        resume = hello.session.resume_token if hello.session else ""
        claim = Claim(hello.agent, hello.entityType or "agent", project, details, auth.token, auth.bind, resume)
        self._open(connection, envelope, claim, hello.capabilities, hello)

    def _resume(self, connection: Connection, envelope: Envelope) -> None:
        resume: envelopes.Resume = payload_of(envelope, envelopes.Resume)
        name = self.mail.identities.by_resume(resume.resume_token)
        if name is None:
            connection.fail("RESUME_TOO_OLD", "nobody has this resume token", about=envelope.id)
            return
        self._open(connection, envelope, Claim(name, resume=resume.resume_token), resume.capabilities, resume)

    def _open(
        self, connection: Connection, envelope: Envelope, claim: Claim, can: envelopes.Capabilities, declared: Any
    ) -> None:
        before = self._names.get(claim.name)
        try:
            session, write = self.mail.identities.open(claim, is_live=before is not None)
        except LaconicError as error:
            connection.fail("UNAUTHORIZED", error.message, about=envelope.id, reason=error.code)
            return
        if before is not None:
            before.fail("UNAUTHORIZED", "the owner of the name has connected again", reason="taken_over")
            self._forget(before)
        self._names[claim.name] = connection
        connection.kind, connection.session = session.identity.kind, session.identity.session
        connection.acks, connection.acks_channels = can.ack, can.channel_ack
        connection.window = min(can.max_inflight, MAX_INFLIGHT_MESSAGES)
        connection.declared = declared
        connection.since_ms = session.identity.last_ms
        connection.join()
        is_refused = bool(claim.resume) and not session.is_resumed
        self.mail.write(write, partial(self._welcome, connection, session, is_refused))
        self.mail.flush()

    def _welcome(self, connection: Connection, session: Session, is_refused: bool, given: Any) -> None:
        name = session.identity.name
        if connection.is_closing or self._names.get(name) is not connection:
            return
        if isinstance(given, Exception):
            connection.fail("INTERNAL", str(given))
            return
        if is_refused:
            connection.error("RESUME_TOO_OLD", "the resume token is none of this name's; this is a new session")
        told: dict[str, Any] = {
            "session_id": session.identity.session,
            "resume_token": session.resume,
            "server": {"max_frame_bytes": MAX_FRAME_BYTES, "heartbeat_ms": SOCKET_HEARTBEAT_SECONDS * 1000},
            "resumed": session.is_resumed,
        }
        if session.token:
            told["token"] = session.token
        connection.name = name
        connection.send("WELCOME", told, to=name)
        if connection.kind == "service":
            self.services.joined(connection)
        connection.admit()

    def _bye(self, connection: Connection, envelope: Envelope) -> None:
        connection.close()

    def _unexpected(self, connection: Connection, envelope: Envelope) -> None:
        if connection.name:
            message = f"{envelope.type} is not understood here"
            connection.error("BAD_REQUEST", message, about=envelope.id, reason="unknown_type")
        else:
            connection.fail("BAD_REQUEST", f"{envelope.type} before HELLO", about=envelope.id)

    # Sending

    def _send(self, connection: Connection, envelope: Envelope) -> None:
        sent: envelopes.Send = payload_of(envelope, envelopes.Send)
        if not envelope.to:
            raise MalformedError("SEND has no `to`")
        self._accept(connection, envelope, envelope.to, sent.kind, sent.thread or "")

    def _channel_send(self, connection: Connection, envelope: Envelope) -> None:
        sent: envelopes.ChannelSend = payload_of(envelope, envelopes.ChannelSend)
        self._accept(connection, envelope, sent.channel, CHANNEL, sent.thread or "")

    def _accept(self, connection: Connection, envelope: Envelope, to: str, kind: str, thread: str) -> None:
        treatment = envelope.payload_meta or _NO_TREATMENT
        draft = Draft(
            connection.name, connection.kind, envelope.id, to, bytes(envelope.payload),
            b"" if envelope.payload_meta is None else encode(treatment), kind, envelope.topic or "", thread,
            treatment.ttl_ms, bool(treatment.queue),
        )  # fmt: skip
        post = self.mail.compose(draft)
        if treatment.durability == "memory":
            self._pass_on(connection, post)
            return
        self.mail.post(post, partial(self._accepted, connection))
        connection.answering()

    def _accepted(self, connection: Connection, outcome: Outcome) -> None:
        connection.answered()
        try:
            accepted = self.mail.accepted(outcome)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the sender is told so
            _nack(connection, outcome.post.id, error)
            return
        told: dict[str, Any] = {
            "ack_id": outcome.post.id,
            "seq": accepted.seq,
            "stage": "accepted",
            "message_id": accepted.id,
            "durability": accepted.durability,
            "recipients": accepted.recipients,
        }
        if accepted.refused:
            told["refused"] = accepted.refused
        if accepted.is_repetition:
            told["repeated"] = True
        connection.send("ACK", told)

    def _pass_on(self, connection: Connection, post: Post) -> None:
        """Send what is not to be kept to those who take it now. The sender is told how many they were."""
        reached = [one for name, _ in post.mailboxes if (one := self._names.get(name)) is not None and one.takes]
        if len(reached) < len(post.mailboxes) == 1:
            raise LaconicError("busy", f"{post.addressed} does not take messages now", "try again later")
        self._memory_messages += 1
        message_id = f"{self.mail.message_id(0)}.{self._memory_messages}"
        for one in reached:
            self._write(one, _waiting(post, 0, one.name, 0, 1), message_id)
        told = {
            "ack_id": post.id, "seq": 0, "stage": "accepted", "message_id": message_id, "durability": "memory",
            "recipients": len(reached),
        }  # fmt: skip
        connection.send("ACK", told)

    # Delivering

    def _deliver(self, connection: Connection, one: Waiting) -> None:
        connection.position = max(connection.position, one.number)
        is_channel = one.kind == CHANNEL
        self._write(connection, one, self.mail.message_id(one.number))
        if not connection.acks:
            self._settle(connection, one.number, Stage.DELIVERED)
            return
        connection.inflight[one.number] = Inflight(
            one.number, one.sender, one.topic, one.seq, one.id, one.attempts, _is_watched(one), is_channel
        )
        if is_channel and not connection.acks_channels:
            # The client does not acknowledge these, but it answers a PING behind them once it has read them.
            connection.send("PING", {"nonce": f"read-{one.number}"})

    def _write(self, connection: Connection, one: Waiting, message_id: str) -> None:
        original = one.addressed if one.addressed != connection.name else None
        delivered = Delivered(one.seq, connection.session, original, one.attempts, one.id, one.sender_kind)
        body = envelopes.write(
            "CHANNEL_MESSAGE" if one.kind == CHANNEL else "DELIVER", message_id, one.at_ms, Raw(one.payload),
            from_=one.sender, to=connection.name, topic=one.topic or UNSET,
            payload_meta=Raw(one.treatment) if one.treatment else UNSET, delivery=delivered,
        )  # fmt: skip
        connection.send_body(body)

    def _pump(self, connection: Connection) -> None:
        """Send what waits on the disk, as far as the client takes it."""
        while connection.is_behind and connection.may_be_sent():
            if self.mail.notes() >= MAX_NOTES_AHEAD:  # or one who takes much would keep others from being written
                self._behind.add(connection)
                return
            room = min(connection.window - len(connection.inflight), PUMPED_MESSAGES)
            if room <= 0:
                return
            found = self.mail.waiting(connection.name, connection.position, room)
            connection.is_behind = len(found) == room
            for one in found:
                self._redeliver(connection, one)
                if not connection.may_be_sent():
                    connection.is_behind = True
                    return

    def _redeliver(self, connection: Connection, one: Waiting) -> None:
        connection.position = max(connection.position, one.number)
        is_expired = one.expires_ms is not None and one.expires_ms <= self.mail.store.now_ms()
        if is_expired or one.number in connection.inflight or one.number in connection.later:
            return
        attempt = one.attempts + 1
        self.mail.mark(Mark(connection.name, one.number, Stage.ACCEPTED, 0, attempt))
        self._deliver(connection, one._replace(attempts=attempt))

    def revived(self, name: str, number: int) -> None:
        """Look again for a message that waits anew."""
        connection = self._names.get(name)
        if connection is not None:
            connection.later.discard(number)
            connection.position = min(connection.position, number - 1)
            connection.is_behind = True
            self._pump(connection)
            self.mail.flush()

    # What recipients say

    def _ack(self, connection: Connection, envelope: Envelope) -> None:
        acknowledged: envelopes.Acknowledged = payload_of(envelope, envelopes.Acknowledged)
        stage = _STAGES[acknowledged.stage]
        number = self.mail.number(acknowledged.ack_id)
        if not number:
            if not acknowledged.ack_id.startswith(self.mail.message_id(0)):
                connection.error("NOT_FOUND", "that is no message of this relay", about=envelope.id)
            return
        one = connection.inflight.get(number)
        if one is not None and (acknowledged.cumulative_seq is not None or acknowledged.sack):
            upto, some = acknowledged.cumulative_seq or 0, set(acknowledged.sack or ())
            for other in list(connection.inflight.values()):
                same = other.sender == one.sender and other.topic == one.topic
                if same and (other.seq <= upto or other.seq in some):
                    self._settle(connection, other.number, stage)
        self._settle(connection, number, stage)

    def _settle(self, connection: Connection, number: int, stage: Stage, note: str = "") -> None:
        """Note a stage, and tell the sender who wants to know."""
        one = connection.inflight.pop(number, None)
        now_ms = int(wall_seconds() * 1000)
        self.mail.mark(Mark(connection.name, number, stage, now_ms, note=note))
        if one is None and stage in {Stage.INJECTED, Stage.SEEN}:
            found = boxes.delivery(self.mail.store.reader, connection.name, number)
            one = None if found is None else _inflight(found)
        if one is not None and one.is_watched and one.sender in self._names:
            told = {"ack_id": one.sent_id, "seq": one.seq, "stage": stage.name.lower(), "by": connection.name}
            if note:
                told["note"] = note
            self._names[one.sender].send("ACK", told)

    def _nacked(self, connection: Connection, envelope: Envelope) -> None:
        refused: envelopes.Refused = payload_of(envelope, envelopes.Refused)
        number = self.mail.number(refused.ack_id)
        one = connection.inflight.get(number)
        if one is None:
            connection.error("NOT_FOUND", "no such message is on its way to you", about=envelope.id)
            return
        code = refused.code or (refused.reason or "INVALID").upper()
        note = f"{code}: {refused.message or refused.reason or ''}".rstrip(": ")
        if code == "BUSY" and one.attempt < MAX_MESSAGE_ATTEMPTS:
            del connection.inflight[number]
            connection.later.add(number)
            asyncio.get_running_loop().call_later(MESSAGE_RETRY_SECONDS, self.revived, connection.name, number)
        else:
            self._settle(connection, number, Stage.DEAD, note)

    def _sync(self, connection: Connection, envelope: Envelope) -> None:
        """A client says how far it has come: what it has is settled, what it has not is sent again."""
        sync: envelopes.Sync = payload_of(envelope, envelopes.Sync)
        told = []
        for stream in sync.streams:
            for one in list(connection.inflight.values()):
                if one.sender != stream.peer or one.topic != stream.topic:
                    continue
                if one.seq <= stream.last_seq:
                    self._settle(connection, one.number, Stage.DELIVERED)
                else:
                    del connection.inflight[one.number]
                    connection.position = min(connection.position, one.number - 1)
                    connection.is_behind = True
            last = self.mail.last_seq(connection.name, stream.peer, stream.topic)
            told.append(envelopes.Stream(stream.peer, stream.topic, stream.last_seq, last))
        connection.send("SYNC", {"session_id": connection.session, "ack_id": envelope.id, "streams": told})

    # Channels and topics

    def _join(self, connection: Connection, envelope: Envelope) -> None:
        asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
        name = asked.member or connection.name
        write = self.mail.channels.join(asked.channel, name)
        self._changed(connection, envelope, asked, name, write)

    def _leave(self, connection: Connection, envelope: Envelope) -> None:
        asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
        name = asked.member or connection.name
        write = self.mail.channels.leave(asked.channel, name)
        self._changed(connection, envelope, asked, name, write)

    def _changed(
        self, connection: Connection, envelope: Envelope, asked: envelopes.InChannel, name: str, write: Any
    ) -> None:
        def written(given: Any) -> None:
            connection.answered()
            if isinstance(given, Exception):
                _nack(connection, envelope.id, given)
                return
            connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})
            if write is not None and asked.member is None:
                self._notify(asked.channel, envelope.type, name, envelope.payload)

        connection.answering()
        self.mail.write(write or (lambda tables: None), written)

    def _notify(self, channel: str, type: str, name: str, payload: Raw) -> None:
        """Tell the members of a channel that are here; it is news, and not kept for the others."""
        found = self.mail.channels.get(channel)
        for member in found.members if found else ():
            one = self._names.get(member)
            if member != name and one is not None and one.name and not one.is_full:
                one.send(type, payload, from_=name)

    def _typing(self, connection: Connection, envelope: Envelope) -> None:
        asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
        self._notify(asked.channel, envelope.type, connection.name, envelope.payload)

    def _channel_told(self, connection: Connection, envelope: Envelope) -> None:
        asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
        found = self.mail.channels.get(asked.channel)
        if found is None:
            connection.error("NOT_FOUND", f"nobody is in {asked.channel}", about=envelope.id)
            return
        members = [self._member(name) for name in found.members]
        told: dict[str, Any] = {"channel": found.name, "members": members, "ack_id": envelope.id}
        if envelope.type == "CHANNEL_INFO":
            told |= {"name": found.name.removeprefix("#"), "createdAt": timestamp(found.created_ms)}
        connection.send(envelope.type, told)

    def _member(self, name: str) -> dict[str, Any]:
        one = self.mail.identities.get(name)
        status = "online" if self._names.get(name) is not None else "offline"
        told: dict[str, Any] = {"name": name, "entityType": one.kind if one else "agent", "status": status}
        if one is not None and one.details.get("displayName"):
            told["displayName"] = one.details["displayName"]
        return told

    def _subscribe(self, connection: Connection, envelope: Envelope) -> None:
        topic = _topic(envelope)
        if len(connection.subscriptions) >= MAX_SUBSCRIPTIONS and topic not in connection.subscriptions:
            raise LaconicError("busy", f"a client subscribes to at most {MAX_SUBSCRIPTIONS} topics")
        connection.subscriptions.add(topic)
        connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})

    def _unsubscribe(self, connection: Connection, envelope: Envelope) -> None:
        connection.subscriptions.discard(_topic(envelope))
        connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})

    def _log(self, connection: Connection, envelope: Envelope) -> None:
        """Show what a client logs to those who want to see it and can take it; it is not kept."""
        topics = {_LOGS, f"{_LOGS}:{connection.name}"}
        for one in list(self._names.values()):
            if one.name and not one.is_full and not topics.isdisjoint(one.subscriptions):
                one.send("LOG", envelope.payload, from_=connection.name)

    # Services

    def _ask(self, connection: Connection, envelope: Envelope) -> None:
        request: envelopes.ServiceRequest = payload_of(envelope, envelopes.ServiceRequest)

        def answer(response: envelopes.ServiceResponse) -> None:
            connection.answered()
            connection.send("SERVICE_RESPONSE", response, from_=request.service, to=connection.name)

        connection.answering()
        directory = getattr(connection.declared, "workingDirectory", None) or ""
        self.services.ask(connection.name, envelope.id, request, answer, directory)

    def _service_answered(self, connection: Connection, envelope: Envelope) -> None:
        response: envelopes.ServiceResponse = payload_of(envelope, envelopes.ServiceResponse)
        if not self.services.answered(connection, response):
            connection.error("NOT_FOUND", f"{connection.name} was not asked that, or not in time", about=envelope.id)

    # Being alive

    def _ping(self, connection: Connection, envelope: Envelope) -> None:
        connection.send("PONG", envelope.payload)

    def _pong(self, connection: Connection, envelope: Envelope) -> None:
        told: Any = msgspec.json.decode(envelope.payload)
        nonce = told.get("nonce", "") if isinstance(told, dict) else ""
        if not isinstance(nonce, str) or not nonce.startswith("read-"):
            return
        upto = int(nonce[5:]) if nonce[5:].isascii() and nonce[5:].isdecimal() else 0
        for one in list(connection.inflight.values()):
            if one.is_channel and one.number <= upto:
                self._settle(connection, one.number, Stage.DELIVERED)

    async def _look(self) -> None:
        """Now and then leave who is silent, and let go of what has waited for too long."""
        while True:
            await asyncio.sleep(SOCKET_TICK_SECONDS)
            now = elapsed_seconds()
            for one in list(self._all):
                self._look_after(one, now)
            self.mail.expire()
            self.mail.flush()

    def _look_after(self, one: Connection, now: float) -> None:
        if not one.name and now - one.came > HELLO_SECONDS:
            one.fail("BAD_REQUEST", f"no HELLO within {HELLO_SECONDS} s")
        elif now - one.heard > SOCKET_SILENCE_SECONDS:
            one.abort()
        elif now - max(one.heard, one.pinged) > SOCKET_HEARTBEAT_SECONDS and one.name:
            one.pinged = now
            if not one.is_full:
                one.send("PING", {"nonce": new_id()})


def _refuse(connection: Connection, envelope: Envelope | About, error: MalformedError | LaconicError) -> None:
    """Answer what cannot be done in the manner of its type."""
    if connection.name and envelope.id and envelope.type in _ANSWERED_BY_NACK:
        _nack(connection, envelope.id, error)
    elif connection.name:
        connection.error("BAD_REQUEST", _message(error), about=envelope.id)
    else:
        connection.fail("BAD_REQUEST", _message(error), about=envelope.id)


def _nack(connection: Connection, about: str, error: Exception) -> None:
    """Say that a message is not accepted: not now (BUSY), or never (NACK)."""
    code = error.code if isinstance(error, LaconicError) else "malformed_request"
    if code == "busy" or code.startswith("database_") or not isinstance(error, LaconicError | MalformedError):
        told = {"ack_id": about, "retry_after_ms": _RETRY_MS, "queue_depth": 0, "message": _message(error)}
        connection.send("BUSY", told)
        return
    nack = _NACK_CODES.get(code, "INVALID")
    reason = _NACK_REASONS.get(nack, "invalid")
    told = {"ack_id": about, "code": nack, "reason": reason, "message": _message(error), "error": code}
    connection.send("NACK", told)


def _message(error: Exception) -> str:
    return error.message if isinstance(error, LaconicError) else str(error)


def _topic(envelope: Envelope) -> str:
    if not envelope.topic:
        raise MalformedError(f"{envelope.type} has no `topic`")
    return envelope.topic


def _waiting(post: Post, number: int, mailbox: str, seq: int, attempt: int) -> Waiting:
    return Waiting(
        number, mailbox, post.sender, post.sender_kind, post.id, post.at_ms, post.addressed, post.topic, post.thread,
        post.kind, post.payload, post.treatment, seq, Stage.ACCEPTED, attempt, post.expires_ms, None, None, None, None,
        "",
    )  # fmt: skip


def _is_watched(one: Waiting) -> bool:
    return b'"requires_ack":true' in one.treatment


def _inflight(one: Waiting) -> Inflight:
    is_channel = one.kind == CHANNEL
    return Inflight(one.number, one.sender, one.topic, one.seq, one.id, one.attempts, _is_watched(one), is_channel)


_Do = Callable[[Router, Connection, Envelope], None]
_BEFORE: dict[str, _Do] = {
    "HELLO": Router._hello, "RESUME": Router._resume, "PING": Router._ping, "BYE": Router._bye,
}  # fmt: skip
_DO: dict[str, _Do] = {
    "SEND": Router._send,
    "ACK": Router._ack,
    "NACK": Router._nacked,
    "PING": Router._ping,
    "PONG": Router._pong,
    "BYE": Router._bye,
    "SYNC": Router._sync,
    "SUBSCRIBE": Router._subscribe,
    "UNSUBSCRIBE": Router._unsubscribe,
    "CHANNEL_JOIN": Router._join,
    "CHANNEL_LEAVE": Router._leave,
    "CHANNEL_MESSAGE": Router._channel_send,
    "CHANNEL_INFO": Router._channel_told,
    "CHANNEL_MEMBERS": Router._channel_told,
    "CHANNEL_TYPING": Router._typing,
    "LOG": Router._log,
    "SERVICE_REQUEST": Router._ask,
    "SERVICE_RESPONSE": Router._service_answered,
}
