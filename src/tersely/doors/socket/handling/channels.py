"""Channels and topics: who is in them, who listens, and the news that is not kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from tersely.doors.socket.clients import Clients
from tersely.doors.socket.connection import SocketConnection
from tersely.doors.socket.refusals import nack
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.agent_names import agent_name
from tersely.foundation.types import JsonObject
from tersely.relay.encoding import timestamp
from tersely.relay.mail.channels import Write
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import MalformedError, SocketEnvelope, payload_of

MAX_SUBSCRIPTIONS = 256  # topics of one client
Change = Callable[[str, str], Write | None]  # of a channel, by a name
_LOGS = "logs"  # the topic of what everybody logs; `logs:NAME` is of one


def join(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Put somebody into a channel."""
    _change(clients, connection, envelope, clients.mail.channels.join)


def leave(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Take somebody out of a channel."""
    _change(clients, connection, envelope, clients.mail.channels.leave)


def typing(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Tell a channel that a member writes."""
    asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
    _notify(clients, asked.channel, envelope.type, connection.name, envelope.payload)


def channel_told(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Say what a channel is, and who is in it."""
    asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
    found = clients.mail.channels.get(asked.channel)
    if found is None:
        connection.error("NOT_FOUND", f"no channel {asked.channel}", about=envelope.id)
        return
    members = [_member(clients, name) for name in found.members]
    told: JsonObject = {"channel": found.name, "members": members, "ack_id": envelope.id}
    if envelope.type == "CHANNEL_INFO":
        told |= {"name": found.name.removeprefix("#"), "createdAt": timestamp(found.created_ms)}
    connection.send(envelope.type, told)


def subscribe(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Have messages with a topic sent to a client, too."""
    topic = _topic(envelope)
    if len(connection.subscriptions) >= MAX_SUBSCRIPTIONS and topic not in connection.subscriptions:
        raise TerselyError("busy", f"a client subscribes to at most {MAX_SUBSCRIPTIONS} topics")
    connection.subscriptions.add(topic)
    connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})


def unsubscribe(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Have them sent no longer."""
    connection.subscriptions.discard(_topic(envelope))
    connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})


def log(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Show what a client logs to those who want to see it and can take it; it is not kept."""
    topics = {_LOGS, f"{_LOGS}:{connection.name}"}
    for one in list(clients.names.values()):
        if one.name and not one.is_full and not topics.isdisjoint(one.subscriptions):
            one.send("LOG", envelope.payload, from_=connection.name)


def _change(
    clients: Clients, connection: SocketConnection, envelope: SocketEnvelope, change: Change
) -> None:
    asked: envelopes.InChannel = payload_of(envelope, envelopes.InChannel)
    name = agent_name(asked.member or connection.name)
    write = change(asked.channel, name)

    def written(given: Any) -> None:
        connection.answered()
        if isinstance(given, Exception):
            nack(connection, envelope.id, given)
            return
        connection.send("ACK", {"ack_id": envelope.id, "seq": 0, "stage": "accepted"})
        if write is not None and asked.member is None:
            _notify(clients, asked.channel, envelope.type, name, envelope.payload)

    connection.answering()
    clients.mail.write(write or (lambda tables: None), written)


def _notify(clients: Clients, channel: str, type: str, name: str, payload: Raw) -> None:
    """Tell the members of a channel that are here; it is news, and not kept for the others."""
    found = clients.mail.channels.get(channel)
    for member in found.members if found else ():
        one = clients.names.get(member)
        if member != name and one is not None and one.name and not one.is_full:
            one.send(type, payload, from_=name)


def _member(clients: Clients, name: str) -> JsonObject:
    one = clients.mail.identities.get(name)
    status = "online" if clients.names.get(name) is not None else "offline"
    told: JsonObject = {
        "name": name,
        "entityType": one.kind if one else "agent",
        "status": status,
    }
    if one is not None and one.details.get("displayName"):
        told["displayName"] = one.details["displayName"]
    return told


def _topic(envelope: SocketEnvelope) -> str:
    if not envelope.topic:
        raise MalformedError(f"{envelope.type} has no `topic`")
    return envelope.topic
