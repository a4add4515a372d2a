"""The listener: takes frames from connections, keeps messages, and answers each frame with a frame
of JSON.

Whatever is not kept is answered with an error: too large, malformed, too many waiting, too fast,
too slow. A sender that neither waits nor reads is served all the same.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

from .failures import TalkError, told
from .frames import Frame, FrameReader, encode
from .inbox import Box
from .messages import MESSAGE, RECEIPT, Message, message_of, stored, timestamp
from .place import DRAIN_SECONDS, Limits, Place
from .tls import HELLO_BYTE

MAX_CONNECTIONS = 64  # open at once; the oldest gives way
MAX_RECEIPTS = 1_000  # that wait for whoever asked for them
MAX_REMEMBERED_IDS = 1_000  # of messages, so that one that is sent again is stored once
FRAME_SECONDS = 10.0  # for a connection to send a whole frame
TURN_SECONDS = 0.5  # that a connection has at least, where others wait
LINGER_SECONDS = 1.0  # in which a refused sender may read why
LINGER_BYTES = 8_000_000  # read of what a refused sender still sends
_READ_BYTES = 65_536
_PAUSE_SECONDS = 0.02
_TimedOut = asyncio.TimeoutError  # not the built-in one in Python 3.10
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Keep = Callable[[Message], dict[str, Any]]  # what is answered; raises `TalkError`


def inbox_keeper(place: Place, limits: Limits) -> Keep:
    """Keeps messages in the inbox of a port, and receipts beside it; blocks, and is called by one
    thread.
    """
    inbox = Box(place.inbox_shelf, limits.max_inbox_messages)
    receipts = Box(place.receipt_shelf, MAX_RECEIPTS)

    def keep(message: Message) -> dict[str, Any]:
        if message.kind == RECEIPT:
            said = {"id": message.reply_to, "receipt": "read", "by_port": message.sender_port}
            receipts.append({"timestamp": timestamp(), **said})
            return {"status": "received"}
        return {"status": "received", "message_count": inbox.append(stored(message, timestamp()))}

    return keep


class Allowance:
    """A token bucket: so many at once, so many a second after that."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left = burst
        self._at = time.monotonic()

    def take(self) -> float:
        """Seconds to wait for the next; 0 where one was taken."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0


class Listener:
    """The handling of connections to one port. `served` is called after each message that was kept."""

    def __init__(
        self,
        keep: Keep,
        limits: Limits,
        context: ssl.SSLContext | None = None,
        served: Callable[[], None] | None = None,
    ) -> None:
        self._keep, self._limits, self._context, self._served = keep, limits, context, served
        self._allowance = Allowance(limits.connections_per_second, limits.connection_burst)
        self._recent: OrderedDict[str, bytes] = OrderedDict()  # id and digest of what was kept
        self._disk = ThreadPoolExecutor(1)  # so that a held inbox holds up no connection
        self._open: dict[asyncio.Task[None], float] = {}  # since when, the oldest first
        self._storing: set[asyncio.Task[None]] = set()
        self._is_ending = False

    async def serve(self, server: socket.socket, until: asyncio.Event) -> None:
        """Take connections until the event is set, then those that wait already."""
        loop = asyncio.get_running_loop()
        server.setblocking(False)
        loop.add_reader(server, self._accept, server)
        await until.wait()
        loop.remove_reader(server)
        await self._finish(server)
        self._disk.shutdown()

    async def _finish(self, server: socket.socket) -> None:
        self._is_ending = True
        ends_at = time.monotonic() + DRAIN_SECONDS
        while self._accept_waiting(server) or (self._open and time.monotonic() < ends_at):
            if self._open:
                await asyncio.wait(
                    self._open, timeout=_PAUSE_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
        server.close()
        for task in set(self._open) - self._storing:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    def _accept(self, server: socket.socket) -> None:
        """Take who waits, as far as there is room, and look again later where there is none."""
        self._accept_waiting(server)
        if len(self._open) >= MAX_CONNECTIONS:
            self._end_overdue()
        loop = asyncio.get_running_loop()
        loop.remove_reader(server)
        is_full = len(self._open) >= MAX_CONNECTIONS
        loop.call_later(_PAUSE_SECONDS if is_full else 0, self._resume, server)

    def _resume(self, server: socket.socket) -> None:
        if not self._is_ending:
            asyncio.get_running_loop().add_reader(server, self._accept, server)

    def _accept_waiting(self, server: socket.socket) -> int:
        """Accept the connections that wait; the number of them."""
        taken = 0
        while len(self._open) < MAX_CONNECTIONS:
            try:
                connection, _ = server.accept()
            except OSError:  # nobody waits, or the system has no descriptor left
                break
            task = asyncio.get_running_loop().create_task(
                self._converse(connection, self._allowance.take())
            )
            self._open[task] = time.monotonic()
            task.add_done_callback(self._open.pop)
            taken += 1
        return taken

    def _end_overdue(self) -> None:
        """End connections that had their turn and did not use it; there is room when they are gone."""
        for task, since in self._open.items():
            if time.monotonic() - since > TURN_SECONDS and task not in self._storing:
                task.cancel()

    async def _converse(self, connection: socket.socket, wait_seconds: float) -> None:
        """Serve a connection to its end, whatever it does."""
        connection.setblocking(False)
        try:
            (reader, writer), refusal = await asyncio.wait_for(
                self._streams(connection), FRAME_SECONDS
            )
        except (OSError, _TimedOut, asyncio.CancelledError):
            connection.close()
            return
        try:
            if refusal is None and wait_seconds:
                refusal = _rate_limited("more connections than a listener takes", wait_seconds)
            if refusal is not None:
                raise refusal
            await self._take_frames(reader, writer)
        except TalkError as error:
            await _refuse(reader, writer, error)
        except asyncio.CancelledError:
            writer.write(_answer(told(self._why_ended())))
        except OSError:
            pass  # the sender has gone
        finally:
            await _close(writer)

    def _why_ended(self) -> TalkError:
        if self._is_ending:
            return TalkError("LISTENER_NOT_RUNNING", "the listener ends")
        return _rate_limited("others wait for a connection that sends nothing", TURN_SECONDS)

    async def _streams(self, connection: socket.socket) -> tuple[_Streams, TalkError | None]:
        """The connection as streams, and why it is refused, if it is."""
        if self._context is None:
            return await _wrapped(connection, None), None
        first = await _first_byte(connection)
        if first == HELLO_BYTE:
            return await _wrapped(connection, self._context), None
        refusal = TalkError("TLS_REQUIRED", "this listener speaks TLS only") if first else None
        return await _wrapped(connection, None), refusal

    async def _take_frames(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer frame by frame, until the sender ends, or says nothing after a frame."""
        frames = FrameReader(self._limits.max_message_bytes)
        until = FRAME_SECONDS
        has_answered = False
        until += time.monotonic()
        while True:
            is_resting = has_answered and frames.is_between_frames
            try:
                data = await _read(
                    reader, min(until, time.monotonic() + LINGER_SECONDS) if is_resting else until
                )
            except TalkError:
                if is_resting:
                    return
                raise
            is_over = not data
            while whole := frames.feed(data):
                data, until, has_answered = b"", time.monotonic() + FRAME_SECONDS, True
                for frame in whole:
                    writer.write(_answer(await self._taken(frame)))
                    await asyncio.wait_for(writer.drain(), FRAME_SECONDS)
            if is_over and not frames.is_between_frames:
                raise TalkError("MALFORMED_FRAME", "the connection has ended within a frame")
            if is_over:
                return

    async def _taken(self, frame: Frame) -> dict[str, Any]:
        """The answer to a frame. What has begun to be kept is kept, so it is not interrupted."""
        task = asyncio.current_task()
        assert task is not None
        self._storing.add(task)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._disk, self._take, frame)
        except TalkError as error:
            return told(error)
        finally:
            self._storing.discard(task)

    def _take(self, frame: Frame) -> dict[str, Any]:
        message = message_of(frame, self._limits.max_message_bytes)
        digest = blake2b(frame.content).digest()
        if message.id and message.id in self._recent:
            if self._recent[message.id] != digest:
                raise TalkError("INVALID_MESSAGE", "another message had this id", id=message.id)
            return {"status": "received", "id": message.id, "duplicate": True}
        answer = self._keep(message)
        if message.id:
            self._recent[message.id] = digest
            answer["id"] = message.id
            if len(self._recent) > MAX_REMEMBERED_IDS:
                self._recent.popitem(last=False)
        if self._served is not None and message.kind == MESSAGE:
            self._served()
        return answer


def _rate_limited(why: str, wait_seconds: float) -> TalkError:
    return TalkError("RATE_LIMITED", why, retry_after_ms=max(1, round(wait_seconds * 1_000)))


def _answer(said: dict[str, Any]) -> bytes:
    return encode(json.dumps(said).encode())


async def _read(reader: asyncio.StreamReader, until: float) -> bytes:
    """The next bytes; none at the end. Raises `CONNECTION_TIMEOUT`, `OSError`."""
    try:
        return await asyncio.wait_for(reader.read(_READ_BYTES), max(0.0, until - time.monotonic()))
    except _TimedOut as error:
        why = f"no whole frame came within {FRAME_SECONDS:.0f} s"
        raise TalkError("CONNECTION_TIMEOUT", why, timeout=FRAME_SECONDS) from error


async def _refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, error: TalkError
) -> None:
    """Answer, and read on for a while: closed with bytes unread, a connection takes the answer
    back.
    """
    left, until = LINGER_BYTES, time.monotonic() + LINGER_SECONDS
    try:
        writer.write(_answer(told(error)))
        if writer.can_write_eof():
            writer.write_eof()
        while left > 0 and (data := await _read(reader, until)):
            left -= len(data)
    except (OSError, TalkError, asyncio.CancelledError):
        pass


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), LINGER_SECONDS)
    except (OSError, _TimedOut, asyncio.CancelledError):
        writer.transport.abort()


async def _wrapped(connection: socket.socket, context: ssl.SSLContext | None) -> _Streams:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_READ_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection, ssl=context)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _first_byte(connection: socket.socket) -> bytes:
    """It stays to be read; empty where the sender has gone."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            readable: asyncio.Future[None] = loop.create_future()
            loop.add_reader(connection, _set, readable)
            try:
                await readable
            finally:
                loop.remove_reader(connection)


def _set(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
