"""A server over the standard streams of its process, for the one client that has started it."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from typing import Any

from tersely.daemon.ndjson.lines import Lines
from tersely.doors.mcp.jsonrpc import MAX_MESSAGE_BYTES, RpcError, decode, encode, failure
from tersely.doors.mcp.session import MAX_OPEN_REQUESTS, ClientSession, ServedMethods
from tersely.foundation.types import JsonMapping, JsonObject

MAX_UNSENT_MESSAGES = 2 * MAX_OPEN_REQUESTS
SETTLE_SECONDS = 1.0  # for what is still being answered when our input is closed
# between two looks at who our parent is, where the system does not tell of its end
PARENT_SECONDS = 1.0
_READ_BYTES = 65_536


async def serve_streams(service: ServedMethods) -> None:
    """Serve until the client closes our input, stops reading, or ends, whichever comes first.

    What takes longer than a moment then is given up. Meanwhile what anything else prints goes to
    standard error.
    """
    wire = os.dup(1)
    os.dup2(2, 1)
    streams = _Streams(service, wire)
    working = (
        asyncio.create_task(streams.write()),
        asyncio.create_task(_watch_parent(streams.ended)),
    )
    threading.Thread(target=_read, args=(streams, asyncio.get_running_loop()), daemon=True).start()
    await streams.ended.wait()
    with suppress(TimeoutError):
        await asyncio.wait_for(streams.settle(), SETTLE_SECONDS)
    for task in (*working, *streams.answering):
        task.cancel()


class _Streams:
    """The streams of the process: what comes in, cut into messages; and what goes out, in turn."""

    def __init__(self, service: ServedMethods, wire: int) -> None:
        self.ended = asyncio.Event()
        self.answering: set[asyncio.Task[None]] = set()
        self._wire = wire
        self._lines = Lines(MAX_MESSAGE_BYTES)
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue(MAX_UNSENT_MESSAGES)
        self._session = ClientSession(service, self._offer)

    async def feed(self, data: bytes) -> None:
        """Have every message answered that is complete. A client that takes no answers has to wait
        here.
        """
        for line in self._lines.feed(data):
            if line is not None and not line.strip():
                continue
            try:
                value = decode(line)
            except RpcError as error:
                await self._send(failure(None, error))
                continue
            if len(self.answering) >= MAX_UNSENT_MESSAGES:
                await asyncio.wait(self.answering, return_when=asyncio.FIRST_COMPLETED)
            task = asyncio.create_task(self._answer(value))
            self.answering.add(task)
            task.add_done_callback(self.answering.discard)
            await asyncio.sleep(0)  # a message is begun before the next is read

    async def write(self) -> None:
        """Write what there is, until nothing takes it."""
        while True:
            line = await self._unsent.get()
            try:
                await asyncio.to_thread(_write_all, self._wire, line)
            except OSError:
                self.ended.set()
                return
            self._unsent.task_done()

    async def settle(self) -> None:
        """Return when all is answered and written."""
        if self.answering:
            await asyncio.wait(self.answering)
        await self._unsent.join()

    async def _answer(self, value: Any) -> None:
        answer = await self._session.answer(value)
        if answer is not None:
            await self._send(answer)

    async def _send(self, answer: JsonMapping | list[JsonObject]) -> None:
        await self._unsent.put(encode(answer) + b"\n")

    def _offer(self, body: JsonMapping) -> None:
        with suppress(asyncio.QueueFull):  # a client that does not read is not told everything
            self._unsent.put_nowait(encode(body) + b"\n")


def _read(streams: _Streams, loop: asyncio.AbstractEventLoop) -> None:
    """Hand over what comes in. In a thread: standard input may be a file, which no event loop can
    wait for.
    """
    with suppress(OSError):
        while data := os.read(0, _READ_BYTES):
            asyncio.run_coroutine_threadsafe(streams.feed(data), loop).result()
    loop.call_soon_threadsafe(streams.ended.set)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


async def _watch_parent(ended: asyncio.Event) -> None:
    """Set `ended` when our parent ends: others may hold our input open, so that its end does not
    tell of that.
    """
    parent = os.getppid()
    with suppress(AttributeError, OSError):
        # not everywhere, and not for a parent in another namespace
        told = os.pidfd_open(parent)  # type: ignore[attr-defined,unused-ignore]
        asyncio.get_running_loop().add_reader(told, ended.set)
        if os.getppid() == parent:
            return
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_SECONDS)
    ended.set()
