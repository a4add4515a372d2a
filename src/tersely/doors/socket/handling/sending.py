"""The requests of clients: messages, to be kept or only passed on, and questions to services."""

from __future__ import annotations

from functools import partial

from tersely.doors.socket.clients import Clients, waiting
from tersely.doors.socket.connection import SocketConnection
from tersely.doors.socket.refusals import nack
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject
from tersely.relay.encoding import encode
from tersely.relay.mail.messages import CHANNEL, PostOutcome
from tersely.relay.store.mailboxes import Post
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import MalformedError, SocketEnvelope, Treatment, payload_of

_NO_TREATMENT = Treatment()
_NO_DATA = frozenset({b"{}", b"null"})


def send(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Take a message for a name, a pattern or a topic."""
    sent: envelopes.Send = payload_of(envelope, envelopes.Send)
    if not envelope.to:
        raise MalformedError("SEND has no `to`")
    _check_content(sent)
    _accept(clients, connection, envelope, envelope.to, sent.kind, sent.thread or "")


def channel_send(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Take a message for a channel."""
    sent: envelopes.ChannelSend = payload_of(envelope, envelopes.ChannelSend)
    _check_content(sent)
    _accept(clients, connection, envelope, sent.channel, CHANNEL, sent.thread or "")


def ask(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Pass a question on to a service; the answer follows whenever it comes."""
    request: envelopes.ServiceRequest = payload_of(envelope, envelopes.ServiceRequest)

    def answer(response: envelopes.ServiceResponse) -> None:
        connection.answered()
        connection.send("SERVICE_RESPONSE", response, from_=request.service, to=connection.name)

    connection.answering()
    directory = getattr(connection.declared, "workingDirectory", None) or ""
    clients.services.ask(connection.name, envelope.id, request, answer, directory)


def service_answered(
    clients: Clients, connection: SocketConnection, envelope: SocketEnvelope
) -> None:
    """Hand the answer of a service to whoever asked."""
    response: envelopes.ServiceResponse = payload_of(envelope, envelopes.ServiceResponse)
    if not clients.services.answered(connection, response):
        connection.error(
            "NOT_FOUND", f"{connection.name} was not asked that, or not in time", about=envelope.id
        )


def _check_content(sent: envelopes.Send | envelopes.ChannelSend) -> None:
    if not sent.body.strip() and bytes(sent.data) in _NO_DATA:
        raise MalformedError("the message is empty: give it a body, or data")


def _accept(
    clients: Clients,
    connection: SocketConnection,
    envelope: SocketEnvelope,
    to: str,
    kind: str,
    thread: str,
) -> None:
    treatment = envelope.payload_meta or _NO_TREATMENT
    now_ms = clients.mail.store.now_ms()
    one = Post(
        connection.name, connection.kind, envelope.id, now_ms, to, envelope.topic or "", thread, kind,
        bytes(envelope.payload), b"" if envelope.payload_meta is None else encode(treatment),
        expires_ms=treatment.ttl_ms and now_ms + treatment.ttl_ms,
    )  # fmt: skip
    post = clients.mail.compose(
        one, is_queued=bool(treatment.queue), is_of_person=connection.kind == "user"
    )
    if treatment.durability == "memory":
        _pass_on(clients, connection, post)
        return
    clients.mail.post(post, partial(_accepted, clients, connection))
    connection.answering()


def _accepted(clients: Clients, connection: SocketConnection, outcome: PostOutcome) -> None:
    connection.answered()
    try:
        accepted = clients.mail.accepted(outcome)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the sender is told so
        nack(connection, outcome.post.id, error)
        return
    told: JsonObject = {
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


def _pass_on(clients: Clients, connection: SocketConnection, post: Post) -> None:
    """Send what is not to be kept to those who take it now. The sender is told how many they were."""
    reached = [
        one
        for name, _ in post.mailboxes
        if (one := clients.names.get(name)) is not None and one.takes
    ]
    if len(reached) < len(post.mailboxes) == 1:
        raise TerselyError(
            "busy", f"{post.addressed} does not take messages now", "try again later"
        )
    clients.memory_messages += 1
    message_id = f"{clients.mail.message_id(0)}.{clients.memory_messages}"
    for one in reached:
        clients.write(one, waiting(post, 0, one.name, 0, 1), message_id)
    told = {
        "ack_id": post.id, "seq": 0, "stage": "accepted", "message_id": message_id, "durability": "memory",
        "recipients": len(reached),
    }  # fmt: skip
    connection.send("ACK", told)
