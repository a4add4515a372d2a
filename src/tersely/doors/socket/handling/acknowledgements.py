"""The replies of recipients to messages: that they have them, that they do not take them, how far
they have come.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from tersely.doors.socket.clients import Clients
from tersely.doors.socket.connection import SocketConnection
from tersely.foundation.limits import MESSAGE_RETRY_SECONDS
from tersely.relay.mail.messages import CHANNEL
from tersely.relay.store.mailboxes import Stage
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import SocketEnvelope, payload_of

MAX_MESSAGE_ATTEMPTS = 10  # that a recipient answers with "later", until it is a dead letter


def ack(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """A recipient has a message, and perhaps others before it."""
    acknowledged: envelopes.Acknowledged = payload_of(envelope, envelopes.Acknowledged)
    stage = Stage[acknowledged.stage.upper()]
    number = clients.mail.number(acknowledged.ack_id)
    if not number:
        if not acknowledged.ack_id.startswith(clients.mail.message_id(0)):
            connection.error("NOT_FOUND", "that is no message of this relay", about=envelope.id)
        return
    if acknowledged.cumulative_seq is not None or acknowledged.sack:
        for other in _others(connection, number, acknowledged):
            clients.settle(connection, other, stage)
    clients.settle(connection, number, stage)


def _others(
    connection: SocketConnection, number: int, acknowledged: envelopes.Acknowledged
) -> list[int]:
    """The messages of the same sender and topic that are acknowledged with one, by their numbers."""
    one = connection.inflight.get(number)
    upto, some = acknowledged.cumulative_seq or 0, set(acknowledged.sack or ())
    return [
        other.number
        for other in connection.inflight.values()
        if one is not None
        and (other.sender, other.topic) == (one.sender, one.topic)
        and (other.seq <= upto or other.seq in some)
    ]


def nacked(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """A recipient refuses a message: for now, and it is sent again in a while, or for good."""
    refused: envelopes.RefusedDelivery = payload_of(envelope, envelopes.RefusedDelivery)
    number = clients.mail.number(refused.ack_id)
    one = connection.inflight.get(number)
    if one is None:
        connection.error("NOT_FOUND", "no such message is on its way to you", about=envelope.id)
        return
    code = refused.code or (refused.reason or "INVALID").upper()
    note = f"{code}: {refused.message or refused.reason or ''}".rstrip(": ")
    if code == "BUSY" and one.attempts < MAX_MESSAGE_ATTEMPTS:
        del connection.inflight[number]
        connection.later.add(number)
        asyncio.get_running_loop().call_later(
            MESSAGE_RETRY_SECONDS, clients.revived, connection.name, number
        )
    else:
        clients.settle(connection, number, Stage.DEAD, note)


def sync(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """A client says how far it has come: what it has is settled, what it has not is sent again."""
    said: envelopes.Sync = payload_of(envelope, envelopes.Sync)
    told = []
    for stream in said.streams:
        for one in list(connection.inflight.values()):
            if one.sender != stream.peer or one.topic != stream.topic:
                continue
            if one.seq <= stream.last_seq:
                clients.settle(connection, one.number, Stage.DELIVERED)
            else:
                del connection.inflight[one.number]
                connection.position = min(connection.position, one.number - 1)
                connection.is_behind = True
        last = clients.mail.last_seq(connection.name, stream.peer, stream.topic)
        told.append(envelopes.SyncStream(stream.peer, stream.topic, stream.last_seq, last))
    connection.send(
        "SYNC", {"session_id": connection.session, "ack_id": envelope.id, "streams": told}
    )


def ping(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Say that the relay is there."""
    connection.send("PONG", envelope.payload)


def pong(clients: Clients, connection: SocketConnection, envelope: SocketEnvelope) -> None:
    """Count as read all channel messages before this PING, of a client that acknowledges none."""
    told: Any = msgspec.json.decode(envelope.payload)
    nonce = told.get("nonce", "") if isinstance(told, dict) else ""
    if not isinstance(nonce, str) or not nonce.startswith("read-"):
        return
    upto = int(nonce[5:]) if nonce[5:].isascii() and nonce[5:].isdecimal() else 0
    for one in list(connection.inflight.values()):
        if one.kind == CHANNEL and one.number <= upto:
            clients.settle(connection, one.number, Stage.DELIVERED)
