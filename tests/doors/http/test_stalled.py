"""A connection that never finishes its request is closed; one that is being answered is not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from tersely.doors.http import idle_connections


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


@asynccontextmanager
async def answering(answer_after: float) -> AsyncIterator[tuple[uvicorn.Server, socket.socket]]:
    """A server that answers everything with "done"."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(answer_after)
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]}
        )
        await send({"type": "http.response.body", "body": b"done"})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, ws="none"))
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield server, listening
        finally:
            server.should_exit = True
            await serving
