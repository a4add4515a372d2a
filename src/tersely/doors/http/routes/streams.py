"""The operations whose content travels as it is: bytes up and down, and events as they happen."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from typing import IO, NamedTuple

from starlette.datastructures import State
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.contract.operations import CURSOR_PATTERN, Content
from tersely.capabilities.relay.threads import told
from tersely.doors.http.request_parsing import AskedOperation
from tersely.doors.http.routes.event_socket import EVENT_MESSAGES
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import BLOB_CHUNK_BYTES, MAX_BUNDLE_BYTES, UPLOAD_CHUNK_SECONDS
from tersely.relay.artifacts import artifacts, cassettes
from tersely.relay.artifacts.artifacts import Origin
from tersely.relay.encoding import encode
from tersely.relay.relay import Relay
from tersely.relay.services.figures import CONTENT_TYPE
from tersely.relay.store.streams import Event
from tersely.relay.threads import threads
from tersely.relay.threads.bundles import reading, writing
from tersely.relay.threads.following import Follower, cursor
from tersely.relay.threads.threads import Thread

MAX_EVENT_STREAMS = 256
HEARTBEAT_SECONDS = 15

Streamed = Callable[[Relay, AskedOperation, Request, Executor], Awaitable[Response]]


async def artifact_upload(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """Bytes to the disk as they come: no more than a chunk is in memory."""
    loop = asyncio.get_running_loop()
    chunks = _chunks(request.stream(), loop)
    thread_id = asked.path.get("thread") or cassettes.own_thread(relay.store, asked.agent)
    put = partial(
        artifacts.put, relay.store, thread_id, chunks, relay.count_tokens,
        name=asked.query["name"] or "", kind=asked.query["type"] or "", origin=Origin(asked.agent),
        most_bytes=relay.policy.artifact_bytes,
    )  # fmt: skip
    try:
        made = await loop.run_in_executor(pool, put)
    except ClientDisconnect:
        raise TerselyError("malformed_request", "the request ended before its body did") from None
    return Response(encode(made.told()), status_code=201, media_type="application/json")


async def artifact_content(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """Bytes from the disk, in chunks. One that is damaged ends early, so that its length is wrong.

    Nothing is sent as what a browser would run, whatever whoever stored it says that it is.
    """
    found = artifacts.get(relay.store, asked.path["thread"], asked.path["ref"])
    mime = "application/octet-stream" if found.type == "binary" else "text/plain; charset=utf-8"
    headers = {
        "content-length": str(found.size_bytes),
        "content-disposition": "attachment",
        "etag": f'"{found.digest}"',
        "content-security-policy": "sandbox",
    }
    return StreamingResponse(relay.store.blob(found.digest), headers=headers, media_type=mime)


async def event_stream(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """Server-sent events from a number on, for as long as somebody listens."""
    after = asked.query["after"]
    last = request.headers.get("last-event-id", "")
    if last.isascii() and last.isdigit() and len(last) <= 15:
        after = int(last)
    thread = threads.get(relay.store, asked.path["thread"])
    follower = Follower.of_thread(relay.store, thread.thread_id, after)
    return _streaming(follower, _number, request)


async def event_stream_all(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """Server-sent events of all threads, from now or from behind one on, for as long as somebody
    listens.
    """
    last = request.headers.get("last-event-id", "")
    text = last if re.fullmatch(CURSOR_PATTERN, last) else asked.query["after"] or ""
    follower = (
        Follower.behind(relay.store, text) if text else Follower(relay.store, relay.store.now_ms())
    )
    return _streaming(follower, cursor, request)


def _streaming(follower: Follower, name: Callable[[Event], str], request: Request) -> Response:
    """An answer that goes on, in which events have the ids that `name` gives; raises `busy` where
    too many do.
    """
    if request.app.state.event_streams >= MAX_EVENT_STREAMS:
        raise TerselyError(
            "busy",
            f"{MAX_EVENT_STREAMS} streams of events are open",
            "close one, or ask for events",
        )
    wire = _MESSAGES if request.scope.get(EVENT_MESSAGES) else _SERVER_SENT
    return StreamingResponse(
        _followed(follower, name, wire, request.app.state), media_type=Content.EVENTS
    )


async def thread_export(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """A bundle, made in a file first: what cannot be written out whole is not begun."""
    thread_id = asked.path["thread"]
    file = await asyncio.get_running_loop().run_in_executor(pool, _exported, relay, thread_id)
    headers = {
        "content-length": str(file.seek(0, os.SEEK_END)),
        "content-disposition": f'attachment; filename="{thread_id}.zip"',
    }
    file.seek(0)
    return StreamingResponse(_closing(file), headers=headers, media_type=Content.BYTES)


async def thread_import(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """A bundle, taken into a file first."""
    loop = asyncio.get_running_loop()
    chunks = _chunks(request.stream(), loop)
    try:
        thread = await loop.run_in_executor(pool, _imported, relay, chunks, asked.agent)
    except ClientDisconnect:
        raise TerselyError("malformed_request", "the request ended before its body did") from None
    made = told(RelayContext(relay, asked.agent), thread)
    return Response(encode(made), status_code=201, media_type="application/json")


def _exported(relay: Relay, thread_id: str) -> IO[bytes]:
    file = tempfile.TemporaryFile(dir=relay.home)  # noqa: SIM115 - closed when it has been sent
    try:
        writing.write(relay.store, thread_id, file)
    except BaseException:
        file.close()
        raise
    return file


def _imported(relay: Relay, chunks: Iterator[bytes], agent: str) -> Thread:
    with tempfile.TemporaryFile(dir=relay.home) as file:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_BUNDLE_BYTES:
                raise TerselyError(
                    "payload_too_large", f"a bundle has at most {MAX_BUNDLE_BYTES:,} bytes"
                )
            file.write(chunk)
        return reading.read(relay.store, file, agent, relay.count_tokens)


def _closing(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(BLOB_CHUNK_BYTES):
            yield chunk


async def metrics(
    relay: Relay, asked: AskedOperation, request: Request, pool: Executor
) -> Response:
    """The figures of services, calls and mail, for Prometheus."""
    lines = await asyncio.get_running_loop().run_in_executor(pool, lambda: "".join(relay.figures()))
    return Response(lines, media_type=CONTENT_TYPE)


STREAMED: dict[str, Streamed] = {
    "metrics": metrics,
    "artifact_upload": artifact_upload,
    "cassette_upload": artifact_upload,
    "artifact_content": artifact_content,
    "event_stream": event_stream,
    "event_stream_all": event_stream_all,
    "thread_export": thread_export,
    "thread_import": thread_import,
}


class _EventWire(NamedTuple):
    """The form of a stream of events: one with its id, and what says that the stream has begun or
    goes on.
    """

    event: Callable[[str, Event], bytes]
    beginning: bytes
    heartbeat: bytes


def _server_sent(id: str, event: Event) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (
        id.encode(),
        event.type.encode(),
        encode(event.told()),
    )


def _message(id: str, event: Event) -> bytes:
    return encode({"id": id, "event": event.type, "data": event.told()})


_SERVER_SENT = _EventWire(_server_sent, b": events as they happen\n\n", b": still here\n\n")
_MESSAGES = _EventWire(_message, b"", b"")  # a WebSocket has heartbeats of its own


def _number(event: Event) -> str:
    return str(event.number)


async def _followed(
    follower: Follower, name: Callable[[Event], str], wire: _EventWire, state: State
) -> AsyncGenerator[bytes, None]:
    """The events that a follower finds, as they happen; `state` counts the streams."""
    loop = asyncio.get_running_loop()
    grown = asyncio.Event()
    end = follower.watch(lambda: loop.call_soon_threadsafe(grown.set))
    state.event_streams += 1
    try:
        yield wire.beginning
        while True:
            grown.clear()
            while found := follower.next():
                for event in found:
                    yield wire.event(name(event), event)
            try:
                await asyncio.wait_for(grown.wait(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield wire.heartbeat
    finally:
        state.event_streams -= 1
        end()


def _chunks(stream: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> Iterator[bytes]:
    """The chunks that come, for a thread that may wait for them."""
    ended = b""

    async def following() -> bytes:
        async for chunk in stream:
            if chunk:
                return chunk
        return ended

    while chunk := asyncio.run_coroutine_threadsafe(following(), loop).result(UPLOAD_CHUNK_SECONDS):
        yield chunk
