"""The socket of a relay: who comes and goes, and to whom each envelope is handed. All on one loop;
nothing waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from tersely.doors.socket.clients import Clients
from tersely.doors.socket.connection import SocketConnection
from tersely.doors.socket.handling import acknowledgements, channels, handshake, sending
from tersely.doors.socket.refusals import refuse
from tersely.doors.socket.services import SocketServices
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import HELLO_SECONDS, SOCKET_HEARTBEAT_SECONDS
from tersely.foundation.types import JsonObject
from tersely.relay.access.access import Access
from tersely.relay.encoding import decode
from tersely.relay.mail.mail import Mail
from tersely.relay.teams.permissions import Permissions
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import MalformedError, SocketEnvelope

MAX_SOCKET_CLIENTS = 1_000
# beyond them, who are told so once they have said HELLO; the others at once
MAX_SURPLUS_CLIENTS = 100
SOCKET_TICK_SECONDS = 1.0  # between looks for clients that are silent and messages that expire
SOCKET_SILENCE_SECONDS = 60  # in spite of heartbeats, after which a client is left
_LOG = logging.getLogger("tersely.doors.socket")

_Do = Callable[[Clients, SocketConnection, SocketEnvelope], None]
_BEFORE: dict[str, _Do] = {
    "HELLO": handshake.hello, "RESUME": handshake.resume, "PING": acknowledgements.ping, "BYE": handshake.bye,
}  # fmt: skip
_DO: dict[str, _Do] = {
    "SEND": sending.send,
    "ACK": acknowledgements.ack,
    "NACK": acknowledgements.nacked,
    "PING": acknowledgements.ping,
    "PONG": acknowledgements.pong,
    "STATE": handshake.state,
    "BYE": handshake.bye,
    "SYNC": acknowledgements.sync,
    "SUBSCRIBE": channels.subscribe,
    "UNSUBSCRIBE": channels.unsubscribe,
    "CHANNEL_JOIN": channels.join,
    "CHANNEL_LEAVE": channels.leave,
    "CHANNEL_MESSAGE": sending.channel_send,
    "CHANNEL_INFO": channels.channel_told,
    "CHANNEL_MEMBERS": channels.channel_told,
    "CHANNEL_TYPING": channels.typing,
    "LOG": channels.log,
    "SERVICE_REQUEST": sending.ask,
    "SERVICE_RESPONSE": sending.service_answered,
}


class Router:
    """Dispatches decoded envelopes to handlers; batches outgoing frames per event-loop tick."""

    def __init__(
        self, mail: Mail, services: SocketServices, access: Access, permissions: Permissions
    ) -> None:
        self.clients = Clients(mail, services, access, permissions)
        self._mail = mail
        self._access = access
        self._all: set[SocketConnection] = set()
        self._surplus: set[SocketConnection] = set()
        self._spoken: list[SocketConnection] = []
        self._is_reading = False  # what is said goes out when all is read that has come together
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """Take over the mail of the relay; the task looks after clients until it is cancelled."""
        self._loop = loop
        self.clients.start(loop)
        self._mail.attach(lambda do: loop.call_soon_threadsafe(self._follow, do), self.clients)
        return loop.create_task(self._look())

    def close(self) -> None:
        """Say good-bye to everybody."""
        for connection in list(self._all):
            connection.send("BYE", {})
            connection.close()

    def came(self, connection: SocketConnection) -> None:
        """Somebody has connected."""
        if len(self._all) >= MAX_SOCKET_CLIENTS + MAX_SURPLUS_CLIENTS:
            _turn_away(connection)
            return
        if len(self._all) >= MAX_SOCKET_CLIENTS:
            # a word before the client has spoken may be lost with the connection
            self._surplus.add(connection)
        self._all.add(connection)

    def received(self, connection: SocketConnection, body: bytes) -> None:
        """Do what an envelope asks for, and answer whatever it is."""
        self._is_reading = True
        try:
            envelope = envelopes.read(body)
        except MalformedError as error:
            refuse(connection, envelopes.about(body), error)
            return
        if envelope.v != envelopes.VERSION:
            message = f"version {envelope.v} is not spoken here; version {envelopes.VERSION} is"
            connection.fail("BAD_REQUEST", message, about=envelope.id)
            return
        if connection in self._surplus:
            _turn_away(connection, envelope.id)
            return
        do = _DO.get(envelope.type) if connection.name else _BEFORE.get(envelope.type)
        if do is None:
            _unexpected(connection, envelope)
            return
        try:
            if connection.principal is not None:
                self._access.check(
                    connection.principal, envelope.type, _arguments(envelope), door="socket"
                )
            do(self.clients, connection, envelope)
        except (MalformedError, TerselyError) as error:
            refuse(connection, envelope, error)
        except Exception:  # noqa: BLE001 - a defect in one answer must not end the others' connections
            _LOG.exception("%s of %s has failed", envelope.type, connection.name)
            connection.error("INTERNAL", "a defect in Tersely; the log has more", about=envelope.id)

    def read(self, connection: SocketConnection) -> None:
        """Have written what has come together, and give room that has become free to what waits."""
        self.clients.pump(connection)
        self.clients.write_mail()
        self._flush()

    def drained(self, connection: SocketConnection) -> None:
        """A client that was slow takes messages again."""
        self.clients.pump(connection)
        self.clients.write_mail()

    def spoken(self, connection: SocketConnection) -> None:
        """Have what was said sent together with what else is said now."""
        if not (self._is_reading or self._spoken) and self._loop is not None:
            self._loop.call_soon(self._flush)
        self._spoken.append(connection)

    def left(self, connection: SocketConnection) -> None:
        """A client is gone; what it has not acknowledged waits for its next connection."""
        self._all.discard(connection)
        self._surplus.discard(connection)
        self.clients.forget(connection)

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

    async def _look(self) -> None:
        """Now and then leave who is silent, and let go of what has waited for too long."""
        while True:
            await asyncio.sleep(SOCKET_TICK_SECONDS)
            now = elapsed_seconds()
            for one in list(self._all):
                self._look_after(one, now)
            if self._mail.is_shared:  # what could not be taken, while the database was away
                self.clients.go_on()
                self._mail.tell_presence()
            self._mail.expire()
            self._mail.flush()

    def _look_after(self, one: SocketConnection, now: float) -> None:
        if not one.name and now - one.came > HELLO_SECONDS:
            one.fail("BAD_REQUEST", f"no HELLO within {HELLO_SECONDS} s")
        elif now - one.heard > SOCKET_SILENCE_SECONDS:
            one.abort()
        elif now - max(one.heard, one.pinged) > SOCKET_HEARTBEAT_SECONDS and one.name:
            one.pinged = now
            if not one.is_full:
                one.send("PING", {"nonce": new_id()})


def _turn_away(connection: SocketConnection, about: str = "") -> None:
    message = f"{MAX_SOCKET_CLIENTS:,} clients are connected"
    connection.fail("INTERNAL", message, about=about, reason="busy")


def _arguments(envelope: SocketEnvelope) -> JsonObject:
    """The arguments by which is decided whether an envelope is permitted."""
    payload = decode(bytes(envelope.payload))
    named = payload if isinstance(payload, dict) else {}
    given = {
        name: str(named[name])
        for name in ("channel", "member", "thread", "service")
        if named.get(name)
    }
    return {**given, "to": envelope.to or "", "topic": envelope.topic or ""}


def _unexpected(connection: SocketConnection, envelope: SocketEnvelope) -> None:
    if connection.name:
        message = f"{envelope.type} is not understood here"
        connection.error("BAD_REQUEST", message, about=envelope.id, reason="unknown_type")
    else:
        connection.fail("BAD_REQUEST", f"{envelope.type} before HELLO", about=envelope.id)
