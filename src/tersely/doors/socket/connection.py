"""One client of the socket: its bytes become envelopes, and what it has not acknowledged is
remembered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from tersely.foundation.clock import elapsed_seconds, wall_ms
from tersely.foundation.limits import MAX_FRAME_BYTES, MAX_INFLIGHT_MESSAGES
from tersely.foundation.network.credentials import is_same_user, process_of
from tersely.foundation.types import JsonObject
from tersely.relay.access.principals import Principal
from tersely.relay.store.mailboxes import Waiting
from tersely.relay.wire.envelopes import write
from tersely.relay.wire.frames import Frames, FrameTooLargeError, framed

if TYPE_CHECKING:
    from tersely.doors.socket.router import Router

MAX_UNANSWERED_FRAMES = 256  # of one client, beyond which it is not read
FRAMES_AT_ONCE = 128  # of one client, until others have their turn
# not taken by one client, beyond which it is neither read nor sent messages
SOCKET_OUTPUT_BYTES = 1_048_576
SOCKET_SAID_BYTES = 262_144  # sent together


class SocketConnection(asyncio.Protocol):
    """Reads while answers are taken, and says what it is told to."""

    def __init__(self, desk: Router, principal: Principal | None = None) -> None:
        """`principal` is the identity that has come from elsewhere; None: whoever is at the socket
        in the home.
        """
        self._desk = desk
        self.principal = principal
        self._frames = Frames(MAX_FRAME_BYTES)
        self._transport: asyncio.Transport | None = None
        self._said: list[bytes] = []  # frames that go out together
        self._said_bytes = 0
        self._envelopes = 0
        self._held: deque[bytes] = deque()  # frames that came and were not told yet
        self._is_going_on = False  # some more of them are told soon
        self._is_joining = False
        self._is_paused = False
        self._unanswered = 0
        self.process_id = 0  # of a client on this machine, where the system says it
        self.name = ""  # until it is let in
        self.kind = "agent"
        self.activity = ""  # what it says that it does
        self.session = ""
        self.declared: Any = None  # what it said when it came
        self.is_full = False  # it does not take what is sent
        self.since_ms = 0
        self.came = self.heard = elapsed_seconds()
        self.pinged = 0.0
        self.subscriptions: set[str] = set()
        # What it is sent
        self.acks = True
        self.acks_channels = False
        self.window = MAX_INFLIGHT_MESSAGES
        self.inflight: dict[int, Waiting] = {}  # delivered and not acknowledged, by number
        self.later: set[int] = set()  # messages that it wants to have again in a while
        self.position = 0  # the last message that was sent
        self.is_taking = False  # more is being taken for it
        self.is_behind = True  # there may be more for it on the disk

    @property
    def takes(self) -> bool:
        """True if a new message may be sent at once, without overtaking others."""
        return (
            bool(self.name)
            and not (self.is_behind or self.is_full)
            and len(self.inflight) < self.window
        )

    def may_be_sent(self) -> bool:
        """True if messages that wait may be sent now."""
        return bool(self.name) and not self.is_full and not self.is_closing

    @property
    def is_closing(self) -> bool:
        """True if it is on its way out."""
        return self._transport is None or self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has come; nobody but the user that the relay belongs to is listened to."""
        transport = cast("asyncio.Transport", transport)  # those of uvloop are none by inheritance
        self._transport = transport
        transport.set_write_buffer_limits(high=SOCKET_OUTPUT_BYTES)
        if self.principal is not None:
            self._desk.came(self)
            return
        other_end = transport.get_extra_info("socket")
        if not is_same_user(other_end):
            self.fail("UNAUTHORIZED", "this relay belongs to another user")
            return
        self.process_id = process_of(other_end)
        self._desk.came(self)

    def data_received(self, data: bytes) -> None:
        """Tell every frame that is complete."""
        self.heard = elapsed_seconds()
        try:
            self._held.extend(self._frames.feed(data))
        except FrameTooLargeError as error:
            self.fail("BAD_REQUEST", str(error))
            return
        self._tell()

    def send(self, type: str, payload: Any, *, id: str = "", **parts: Any) -> None:
        """Send an envelope."""
        self._envelopes += 1
        # Nobody refers to what has no id of its own: it is enough that it is unique on this
        # connection.
        self.send_body(
            write(
                type,
                id or f"{self.session[:8]}.{self._envelopes}",
                wall_ms(),
                payload,
                **parts,
            )
        )

    def send_body(self, body: bytes) -> None:
        """Send an envelope that is written already."""
        if not self._said:
            self._desk.spoken(self)
        self._said.append(framed(body))
        self._said_bytes += len(body)
        if self._said_bytes > SOCKET_SAID_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send what has been said: many frames by one call of the system."""
        said, self._said, self._said_bytes = self._said, [], 0
        if said and self._transport is not None and not self._transport.is_closing():
            self._transport.write(said[0] if len(said) == 1 else b"".join(said))

    def error(
        self, code: str, message: str, *, about: str = "", is_fatal: bool = False, reason: str = ""
    ) -> None:
        """Say what is wrong; `about` is the id of the envelope that is meant."""
        told: JsonObject = {"code": code, "message": message, "fatal": is_fatal}
        if about:
            told["ack_id"] = about
        if reason:
            told["reason"] = reason
        self.send("ERROR", told)

    def fail(self, code: str, message: str, *, about: str = "", reason: str = "") -> None:
        """Say what is wrong and hang up."""
        self.error(code, message, about=about, is_fatal=True, reason=reason)
        self.close()

    def close(self) -> None:
        """Hang up once everything is sent; nothing more is read."""
        self.flush()
        self._held.clear()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    # While it waits to be let in, and for answers

    def join(self) -> None:
        """Have what comes from now on wait until `admit`."""
        self._is_joining = True
        self._throttle()

    def admit(self) -> None:
        """Go on with what has waited."""
        self._is_joining = False
        self._tell()

    def answering(self) -> None:
        """One more answer is owed."""
        self._unanswered += 1
        self._throttle()

    def answered(self) -> None:
        """One less."""
        self._unanswered -= 1
        self._tell_soon()
        self._throttle()

    def pause_writing(self) -> None:
        """The client is slow: its next words can wait, and so can messages for it."""
        self.is_full = True
        self._throttle()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.is_full = False
        self._throttle()
        self._desk.drained(self)

    def connection_lost(self, error: Exception | None) -> None:
        """The client is gone."""
        self._held.clear()
        self._desk.left(self)

    def _tell(self) -> None:
        """Tell some of the frames that have come, and the rest when other clients have had their
        turn.
        """
        told = 0
        while self._may_tell() and told < FRAMES_AT_ONCE:
            self._desk.received(self, self._held.popleft())
            told += 1
        self._tell_soon()
        self._throttle()
        self._desk.read(self)

    def _may_tell(self) -> bool:
        if not self._held or self._unanswered >= MAX_UNANSWERED_FRAMES:
            return False
        return not (self._is_joining or self.is_closing)

    def _tell_soon(self) -> None:
        if self._may_tell() and not self._is_going_on:
            self._is_going_on = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_going_on = False
        if self._may_tell():
            self._tell()

    def _throttle(self) -> None:
        is_busy = bool(self._held) or self._unanswered >= MAX_UNANSWERED_FRAMES
        is_paused = self.is_full or self._is_joining or is_busy
        if is_paused == self._is_paused or self.is_closing or self._transport is None:
            return
        self._is_paused = is_paused
        if is_paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
