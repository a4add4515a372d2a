"""A connection that never finishes its request is closed; one that is being answered is not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests import certificate

from tersely.doors.http.connecting import accepting, idle_connections
from tersely.doors.http.connecting.connections import make_remote_server, make_server
from tersely.doors.listening import read_address


@pytest.mark.parametrize("sent", [b"", b"GET /he", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /"])
def test_silence_is_closed(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(idle_connections, "REQUEST_HEAD_SECONDS", 0.2)
    assert asyncio.run(asking(sent, answer_after=0)) == (b"done" if b"\r\n\r\n" in sent else b"")


def test_a_slow_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_connections, "REQUEST_HEAD_SECONDS", 0.02)
    assert asyncio.run(asking(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", answer_after=0.2)) == b"done"


def test_a_connection_in_use_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_connections, "REQUEST_HEAD_SECONDS", 1.0)
    assert asyncio.run(asked_until(looks=5))


@pytest.mark.parametrize("says", [b"", b"\x16\x03\x01"])
def test_a_handshake_that_never_ends_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: bytes
) -> None:
    monkeypatch.setattr(accepting, "REQUEST_HEAD_SECONDS", 0.2)
    files = map(str, certificate.make(tmp_path, "localhost"))
    server = make_remote_server(done, read_address("127.0.0.1:0", *files), [])

    async def held_for() -> bytes:
        async with serving(server) as listening:
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            with contextlib.closing(writer), contextlib.suppress(ConnectionError):
                writer.write(says)
                return await asyncio.wait_for(reader.read(), 30)
            return b""

    assert asyncio.run(held_for()) == b""


def test_who_comes_has_the_place_of_one_who_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepting, "MAX_WEB_CONNECTIONS", 3)

    async def left() -> list[bytes]:
        async with serving(make_server(done)) as listening:
            place = listening.getsockname()
            held = [await asyncio.open_connection(*place) for _ in range(5)]
            for _, writer in held[2:]:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            came = [(await asyncio.wait_for(reader.read(), 30))[-4:] for reader, _ in held]
            for _, writer in held:
                writer.close()
            return came

    assert asyncio.run(left()) == [b"", b"", b"done", b"done", b"done"]


async def asked_until(looks: int) -> bool:
    """Ask again and again over one connection, until so many looks at the connections; whether it
    lasts.
    """
    async with answering(0) as (server, listening):
        seen = 0

        def connections() -> Iterator[Any]:
            nonlocal seen
            seen += 1
            yield from server.server_state.connections

        class Seen:
            __iter__ = staticmethod(connections)

        closing = asyncio.create_task(idle_connections.close_stalled(Seen()))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        try:
            while seen < looks:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200") or await reader.readexactly(4) != b"done":
                    return False
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        finally:
            closing.cancel()
            writer.close()
    return True


async def asking(sent: bytes, answer_after: float) -> bytes:
    """The body of what is answered until the server closes the connection."""
    async with answering(answer_after) as (server, listening):
        closing = asyncio.create_task(
            idle_connections.close_stalled(server.server_state.connections)
        )
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(sent)
        told = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        closing.cancel()
    return told.rpartition(b"\r\n\r\n")[2]


async def done(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers everything with "done"."""
    headers = [(b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"done"})


@asynccontextmanager
async def answering(answer_after: float) -> AsyncIterator[tuple[uvicorn.Server, socket.socket]]:
    """A server that answers everything with "done", after so many seconds."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(answer_after)
        await done(scope, receive, send)

    server = make_server(app)
    async with serving(server) as listening:
        yield server, listening


@asynccontextmanager
async def serving(server: uvicorn.Server) -> AsyncIterator[socket.socket]:
    """The socket at which a server listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serve = asyncio.create_task(server.serve([listening]))
        try:
            yield listening
        finally:
            server.should_exit = server.force_exit = True
            await serve
