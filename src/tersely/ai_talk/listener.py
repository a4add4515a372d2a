"""The listener: takes frames from connections, keeps messages, and answers each frame with a frame
of JSON.

Whatever is not kept is answered with an error: too large, malformed, too many waiting, too fast,
too slow. A sender that neither waits nor reads is served all the same.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from . import inbox
from .failures import TalkError, told
from .frames import FrameReader, encode, receive
from .messages import message_of, stored
from .place import Limits, Place

if TYPE_CHECKING:
    import ssl

_Come = TypeVar("_Come")

MAX_CONNECTIONS = 64  # open at once
FRAME_SECONDS = 10.0  # for a connection to send a whole frame
TURN_SECONDS = 0.5  # that a connection has at least, where others wait
LINGER_SECONDS = 1.0  # in which a refused sender may read why
LINGER_BYTES = 8_000_000  # read of what a refused sender still sends
DRAIN_SECONDS = 2.0  # for senders that are not done when a listener ends
_HELLO_BYTE = b"\x16"  # a connection that begins with it speaks TLS


class Listener:
    """The handling of connections to one port, a thread each."""

    def __init__(self, place: Place, limits: Limits, context: ssl.SSLContext | None = None) -> None:
        self._place, self._limits, self._context = place, limits, context
        self._storing = threading.Lock()
        self._room = threading.Semaphore(MAX_CONNECTIONS)
        self._is_full = self._is_ending = False
        self._left, self._at = float(limits.connection_burst), time.monotonic()  # see `_wait`

    def serve(
        self,
        server: socket.socket,
        is_over: Callable[[], object],
        seconds: float,
        *wakers: socket.socket,
    ) -> None:
        """Take connections until `is_over`, then those that wait already. It is asked after each,
        every so many seconds, and when a waker has something to read.
        """
        server.setblocking(False)
        while not is_over():
            if server in select.select([server, *wakers], [], [], seconds)[0]:
                with suppress(OSError):  # who waited has gone
                    self._accept(server)
        self._is_ending = True
        ends_at = time.monotonic() + DRAIN_SECONDS
        with suppress(BlockingIOError):
            while time.monotonic() < ends_at:
                self._accept(server)
        for _ in range(MAX_CONNECTIONS):
            self._room.acquire(timeout=max(0.0, ends_at - time.monotonic()))

    def _accept(self, server: socket.socket) -> None:
        """Take the next connection, when there is room for one before long."""
        self._is_full = not self._room.acquire(blocking=False)
        if self._is_full and not self._room.acquire(timeout=DRAIN_SECONDS):
            return
        try:
            connection, _ = server.accept()
        except OSError:
            self._room.release()
            raise
        words = (connection, self._wait())
        try:
            threading.Thread(target=self._converse, args=words, daemon=True).start()
        except RuntimeError:  # the system has no more of them
            connection.close()
            self._room.release()

    def _wait(self) -> float:
        """Seconds until the next connection may come, 0 for this one: a bucket of tokens."""
        now, rate = time.monotonic(), self._limits.connections_per_second
        gained, self._at = (now - self._at) * rate, now
        self._left = min(self._limits.connection_burst, self._left + gained)
        if self._left < 1:
            return (1 - self._left) / rate
        self._left -= 1
        return 0.0

    def _converse(self, connection: socket.socket, wait_seconds: float) -> None:
        """Serve a connection to its end, whatever it does."""
        try:
            try:
                if self._context is not None:
                    if self._in_turns(partial(_first_byte, connection)) != _HELLO_BYTE:
                        raise TalkError("TLS_REQUIRED", "this listener speaks TLS only")
                    connection.settimeout(LINGER_SECONDS)
                    connection = self._context.wrap_socket(connection, server_side=True)
                if wait_seconds:
                    raise _rate_limited(wait_seconds)
                self._take_frames(connection)
            except TalkError as error:
                _refuse(connection, error)
        except OSError:
            pass  # the sender has gone, or speaks no TLS that we know
        finally:
            connection.close()
            self._room.release()

    def _take_frames(self, connection: socket.socket) -> None:
        """Answer frame by frame, until the sender ends."""
        frames = FrameReader(connection, self._limits.max_message_bytes)
        while (frame := self._in_turns(frames.next)) is not None:
            try:
                line = stored(message_of(frame), self._limits.max_message_bytes)
                with self._storing:
                    count = inbox.append(self._place, line, self._limits.max_inbox_messages)
                answer: dict[str, Any] = {"status": "received", "message_count": count}
            except (OSError, TalkError) as error:
                answer = told(error)
            with suppress(OSError):  # who does not read it may have sent more
                _write(connection, answer)

    def _in_turns(self, receive: Callable[[float], _Come]) -> _Come:
        """What comes, asked for so many seconds at a time; raises why it is not waited for."""
        until = time.monotonic() + FRAME_SECONDS
        while time.monotonic() < until:
            try:
                return receive(TURN_SECONDS)
            except TimeoutError:
                if self._is_ending:
                    raise TalkError("LISTENER_NOT_RUNNING", "the listener ends") from None
                if self._is_full:
                    raise _rate_limited(TURN_SECONDS) from None
        why = f"no whole frame came within {FRAME_SECONDS:.0f} s"
        raise TalkError("CONNECTION_TIMEOUT", why, timeout=FRAME_SECONDS)


def _first_byte(connection: socket.socket, seconds: float) -> bytes:
    connection.settimeout(seconds)
    return connection.recv(1, socket.MSG_PEEK)


def _rate_limited(seconds: float) -> TalkError:
    why = "more connections than a listener takes"
    return TalkError("RATE_LIMITED", why, retry_after_ms=max(1, round(seconds * 1_000)))


def _write(connection: socket.socket, said: dict[str, Any]) -> None:
    connection.settimeout(LINGER_SECONDS)
    connection.sendall(encode(json.dumps(said).encode()))


def _refuse(connection: socket.socket, error: TalkError) -> None:
    """Answer, and read on for a while: closed with bytes unread, a connection takes the answer
    back.
    """
    left, until = LINGER_BYTES, time.monotonic() + LINGER_SECONDS
    _write(connection, told(error))
    if type(connection) is socket.socket:  # TLS has no half of a connection to end
        connection.shutdown(socket.SHUT_WR)
    while left > 0 and (data := receive(connection, until)):
        left -= len(data)
