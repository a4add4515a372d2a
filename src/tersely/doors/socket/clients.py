"""The connected clients, and the messages on their way to them. All on one loop; nothing here
waits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable
from functools import partial

from msgspec import UNSET, Raw

from tersely.doors.socket.connection import SocketConnection
from tersely.doors.socket.services import SocketServices
from tersely.relay.access.access import Access
from tersely.relay.mail.mail import Mail
from tersely.relay.mail.messages import CHANNEL, LastScreen, Presence
from tersely.relay.store import mailboxes as boxes
from tersely.relay.store.mailboxes import Mark, Post, Posted, Stage, Waiting
from tersely.relay.store.news import Here
from tersely.relay.teams.permissions import Permissions
from tersely.relay.wire import envelopes
from tersely.relay.wire.envelopes import Delivered

# not yet written, beyond which nothing is fetched from the disk to be delivered
MAX_NOTES_AHEAD = 128
MARK_REST_SECONDS = 0.02  # for which they wait
MAX_LAST_SCREENS = 200  # of wrapped programs; the one that changed longest ago is forgotten
PUMPED_MESSAGES = 64  # read from the disk at one go


class Clients(Presence):
    """The clients of one relay's socket by name: the presence of its mail
    (`relay/mail/messages.py`).
    """

    def __init__(
        self, mail: Mail, services: SocketServices, access: Access, permissions: Permissions
    ) -> None:
        self.mail = mail
        self.permissions = permissions
        self.access = access
        self.services = services
        self.names: dict[str, SocketConnection] = {}  # in use, also by who is still being let in
        # the latest last, also of who is gone
        self._screens: OrderedDict[str, LastScreen] = OrderedDict()
        self.memory_messages = 0  # that were passed on and not kept
        # they could be sent more, once it is noted what they were sent
        self._behind: set[SocketConnection] = set()
        self._is_resting = False  # notes on deliveries wait for a message
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Everything from here on happens on this loop."""
        self._loop = loop

    def connected(self) -> dict[str, SocketConnection]:
        """The connections of those that have been let in, by name."""
        return {name: one for name, one in list(self.names.items()) if one.name}

    def activity(self, name: str) -> str:
        """The activity that somebody tells of themselves, "" where they say nothing."""
        connection = self.names.get(name)
        return connection.activity if connection is not None else ""

    def screen(self, name: str) -> LastScreen | None:
        """The last screen of somebody that is known, also of who is gone."""
        return self._screens.get(name)

    def note_screen(self, name: str, text: str) -> None:
        """Keep what the terminal of somebody shows now."""
        self._screens[name] = LastScreen(text, self.mail.store.now_ms())
        self._screens.move_to_end(name)
        if len(self._screens) > MAX_LAST_SCREENS:
            self._screens.popitem(last=False)

    def live(self, topic: str) -> Iterable[str]:
        """The agents and users that are connected, those alone that subscribe to the topic if there
        is one.
        """
        return [
            name
            for name, one in list(self.names.items())
            if one.name and one.kind != "service" and (not topic or topic in one.subscriptions)
        ]

    def here(self) -> dict[str, Here]:
        """Those that have been let in, by name, with what they say of themselves."""
        return {
            name: Here(one.kind, one.activity, frozenset(one.subscriptions))
            for name, one in list(self.names.items())
            if one.name
        }

    def come(self, names: Iterable[str]) -> None:
        """Look for messages that another process has accepted."""
        for connection in [self.names[name] for name in names if name in self.names]:
            connection.is_behind = True
            self.pump(connection)
        self.write_mail()

    def go_on(self) -> None:
        """Look again for whom messages could not be taken."""
        for connection in list(self.names.values()):
            self.pump(connection)
        self.write_mail()

    def moved(self, names: Collection[str]) -> None:
        """Leave those who are connected to another process now."""
        for connection in [one for name, one in self.names.items() if one.name and name in names]:
            connection.fail(
                "UNAUTHORIZED", "the owner of the name has connected again", reason="taken_over"
            )
            self.forget(connection)

    def takes(self, name: str) -> bool:
        """True if a message for them would be sent to them at once."""
        connection = self.names.get(name)
        return connection is not None and connection.takes

    def posted(self, post: Post, posted: Posted) -> None:
        """Send a message that has been accepted to whoever can take it now; the others find it on
        the disk.
        """
        attempts = dict(post.mailboxes)
        for name, seq in posted.deliveries:
            connection = self.names.get(name)
            if connection is None or not connection.name or posted.number <= connection.position:
                continue
            if self.mail.is_shared or not connection.takes:
                connection.is_behind = True
                if self.mail.is_shared:  # what others have accepted before may be on its way
                    self._behind.add(connection)
                continue
            attempt = attempts[name]
            if not attempt:  # it could not take it when the message was accepted
                attempt = 1
                self.mail.mark(Mark(name, posted.number, Stage.ACCEPTED, 0, attempt))
            self.deliver(connection, waiting(post, posted.number, name, seq, attempt))

    def revived(self, name: str, number: int) -> None:
        """Look again for a message that waits anew."""
        connection = self.names.get(name)
        if connection is not None:
            connection.later.discard(number)
            connection.position = min(connection.position, number - 1)
            connection.is_behind = True
            self.pump(connection)
            self.mail.flush()

    def written(self) -> None:
        """A group is written: the next one can be."""
        self.write_mail()
        behind, self._behind = self._behind, set()
        for connection in behind:
            self.pump(connection)
        if behind and self.mail.is_shared:
            self.write_mail()

    def write_mail(self) -> None:
        """Have written what the mail has collected, at once or when more has come together."""
        if self.mail.flush(rests=True) and not self._is_resting and self._loop is not None:
            self._is_resting = True
            self._loop.call_later(MARK_REST_SECONDS, self._rested)

    def _rested(self) -> None:
        self._is_resting = False
        self.mail.flush()

    def forget(self, connection: SocketConnection) -> None:
        """A connection has its name no longer."""
        for name, one in list(self.names.items()):
            if one is connection:
                del self.names[name]
        if connection.kind == "service" and connection.name:
            self.services.left(connection)
        self.mail.tell_presence()

    def deliver(self, connection: SocketConnection, one: Waiting) -> None:
        """Send a message, and remember it until it is acknowledged."""
        connection.position = max(connection.position, one.number)
        self.write(connection, one, self.mail.message_id(one.number))
        if not connection.acks:
            self.settle(connection, one.number, Stage.DELIVERED)
            return
        connection.inflight[one.number] = one._replace(payload=b"")
        if one.kind == CHANNEL and not connection.acks_channels:
            # The client does not acknowledge these, but it answers a PING behind them once it has
            # read them.
            connection.send("PING", {"nonce": f"read-{one.number}"})

    def write(self, connection: SocketConnection, one: Waiting, message_id: str) -> None:
        """Send a message and remember nothing."""
        original = one.addressed if one.addressed != connection.name else None
        delivered = Delivered(
            one.seq, connection.session, original, one.attempts, one.id, one.sender_kind
        )
        body = envelopes.write(
            "CHANNEL_MESSAGE" if one.kind == CHANNEL else "DELIVER", message_id, one.at_ms, Raw(one.payload),
            from_=one.sender, to=connection.name, topic=one.topic or UNSET,
            payload_meta=Raw(one.treatment) if one.treatment else UNSET, delivery=delivered,
        )  # fmt: skip
        connection.send_body(body)

    def pump(self, connection: SocketConnection) -> None:
        """Send what waits on the disk, as far as the client takes it."""
        if self.mail.is_shared:
            self._take(connection)
            return
        while connection.is_behind and connection.may_be_sent():
            if self.mail.notes() >= MAX_NOTES_AHEAD:
                # or one who takes much would keep others from being written
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

    def _take(self, connection: SocketConnection) -> None:
        """Have what waits be taken for this client, in which no other process can be quicker."""
        room = min(connection.window - len(connection.inflight), PUMPED_MESSAGES)
        is_wanted = connection.is_behind and connection.may_be_sent() and room > 0
        if is_wanted and not connection.is_taking:
            connection.is_taking, connection.is_behind = True, False
            self.mail.take(
                connection.name, connection.position, room, partial(self._taken, connection, room)
            )

    def _taken(
        self, connection: SocketConnection, room: int, given: list[Waiting] | Exception
    ) -> None:
        connection.is_taking = False
        if isinstance(given, Exception):
            connection.is_behind = True  # the next look tries again
            return
        if self.names.get(connection.name) is not connection:
            return
        connection.is_behind = connection.is_behind or len(given) == room
        for one in given:
            if not connection.may_be_sent():
                connection.is_behind = True
                return
            if self._is_due(connection, one):
                self.deliver(connection, one)
        if connection.is_behind:
            self._behind.add(connection)

    def _is_due(self, connection: SocketConnection, one: Waiting) -> bool:
        """True for a message that was read, unless it is known or has come to an end meanwhile."""
        connection.position = max(connection.position, one.number)
        is_expired = one.expires_ms is not None and one.expires_ms <= self.mail.store.now_ms()
        noted = self.mail.noted(connection.name, one.number)
        is_settled = noted is not None and noted.stage is not Stage.ACCEPTED
        is_known = one.number in connection.inflight or one.number in connection.later
        return not (is_expired or is_settled or is_known)

    def _redeliver(self, connection: SocketConnection, one: Waiting) -> None:
        if not self._is_due(connection, one):
            return
        noted = self.mail.noted(connection.name, one.number)
        attempt = max(one.attempts, noted.attempts if noted is not None else 0) + 1
        self.mail.mark(Mark(connection.name, one.number, Stage.ACCEPTED, 0, attempt))
        self.deliver(connection, one._replace(attempts=attempt))

    def settle(
        self, connection: SocketConnection, number: int, stage: Stage, note: str = ""
    ) -> None:
        """Note a stage, and tell the sender who wants to know."""
        one = connection.inflight.pop(number, None)
        self.mail.mark(Mark(connection.name, number, stage, self.mail.store.now_ms(), note=note))
        if one is None and stage in {Stage.INJECTED, Stage.SEEN}:
            one = boxes.delivery(self.mail.store.reader, connection.name, number)
        if one is not None and _is_watched(one) and one.sender in self.names:
            told = {
                "ack_id": one.id,
                "seq": one.seq,
                "stage": stage.name.lower(),
                "by": connection.name,
            }
            if note:
                told["note"] = note
            self.names[one.sender].send("ACK", told)


def waiting(post: Post, number: int, mailbox: str, seq: int, attempt: int) -> Waiting:
    """A message that has just been posted, as it lies in a mailbox."""
    return Waiting(
        number, mailbox, post.sender, post.sender_kind, post.id, post.at_ms, post.addressed, post.topic, post.thread,
        post.kind, post.payload, post.treatment, seq, Stage.ACCEPTED, attempt, post.expires_ms, None, None, None, None,
        "",
    )  # fmt: skip


def _is_watched(one: Waiting) -> bool:
    """True if the sender wants to know of each stage."""
    return b'"requires_ack":true' in one.treatment
