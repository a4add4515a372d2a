"""The proxy of the browser, spoken to as a browser does, with servers on this machine that tests
name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress

import pytest

from tersely.foundation.network.gate import Gate


@asynccontextmanager
async def server() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that keeps what it was sent, and answers each request on a connection that it would
    keep open.
    """
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError):  # the gate has asked nothing
            heard.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(
                b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\ntea"
            )
            await reader.read()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], heard
    finally:
        listening.close()


async def sent(gate: Gate, data: bytes, until: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    writer.write(data)
    answer = bytearray()
    while until not in answer and (chunk := await reader.read(4_096)):
        answer += chunk
    writer.close()
    return bytes(answer)


def running(scenario: Callable[[Gate, int, list[bytes]], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        async with server() as (port, heard), Gate() as gate:
            await scenario(gate, port, heard)

    asyncio.run(asyncio.wait_for(all_of_it(), 20))


def test_a_named_place_is_reached_and_the_connection_ends_with_the_answer() -> None:
    async def scenario(gate: Gate, port: int, heard: list[bytes]) -> None:
        gate.private_places.add(f"127.0.0.1:{port}")
        head = f"GET http://127.0.0.1:{port}/a?b HTTP/1.1\r\nHost: h\r\nProxy-Connection: keep-alive\r\n\r\n"
        answer = await sent(gate, head.encode(), b"tea")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"keep-alive" not in answer
        assert heard == [b"GET /a?b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"]

    running(scenario)


def test_a_second_request_on_a_connection_reaches_nobody() -> None:
    async def scenario(gate: Gate, port: int, heard: list[bytes]) -> None:
        gate.private_places.add("127.0.0.1")
        one = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode()
        await sent(
            gate, one + b"GET http://other/ HTTP/1.1\r\nCookie: secret\r\n\r\n", b"no such answer"
        )
        assert b"secret" not in b"".join(heard)

    running(scenario)


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://0x7f.1:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
     "https://127.0.0.1:{port}/", "ftp://a/", "/", "http://user@127.0.0.1:{port}/"],
)  # fmt: skip
def test_what_is_not_named_is_refused(target: str) -> None:
    async def scenario(gate: Gate, port: int, heard: list[bytes]) -> None:
        answer = await sent(
            gate, f"GET {target.format(port=port)} HTTP/1.1\r\n\r\n".encode(), b"no such answer"
        )
        assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 502"))
        assert (heard, len(gate.refusals)) == ([], 1)

    running(scenario)


@pytest.mark.parametrize(
    ("fields", "is_answered"),
    [
        ("", True),
        ("Sec-Fetch-Site: none\r\n", True),
        ("Sec-Fetch-Site: same-origin\r\nReferer: http://127.0.0.1:{port}/\r\n", True),
        ("Sec-Fetch-Site: cross-site\r\nOrigin: http://127.0.0.1:{port}\r\n", True),
        ("Sec-Fetch-Site: cross-site\r\n", False),
        ("Origin: https://evil.example\r\n", False),
        ("Origin: null\r\n", False),
        ("Referer: https://evil.example/127.0.0.1:{port}\r\n", False),
    ],
)
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
def test_who_may_ask_a_private_place(method: str, fields: str, is_answered: bool) -> None:
    async def scenario(gate: Gate, port: int, heard: list[bytes]) -> None:
        gate.private_places.add(f"127.0.0.1:{port}")
        place, rest = f"127.0.0.1:{port}", fields.format(port=port)
        head = f"GET http://{place}/ HTTP/1.1\r\n{rest}\r\n"
        if method == "CONNECT":  # a WebSocket
            head = f"CONNECT {place} HTTP/1.1\r\n\r\nGET /ws HTTP/1.1\r\n{rest}\r\n"
        answer = await sent(gate, head.encode(), b"tea")
        assert (b"tea" in answer, len(heard)) == (is_answered, int(is_answered))

    running(scenario)


def test_every_address_of_a_name_is_tried() -> None:
    async def scenario(gate: Gate, port: int, heard: list[bytes]) -> None:
        gate.private_places.add(f"localhost:{port}")  # whose first address is often that of IPv6
        assert b"tea" in await sent(
            gate, f"GET http://localhost:{port}/ HTTP/1.1\r\n\r\n".encode(), b"tea"
        )

    running(scenario)
