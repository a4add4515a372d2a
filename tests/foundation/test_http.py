"""Asking servers over HTTP: what they do wrong is one of a few failures, and never an endless wait
or answer.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from tests.foundation.serving import Server, serving

from tersely.foundation.network import http

WAITS = http.waits(connect=5, silence=5)
CLOSING_SECONDS = 60.0  # for the server to close a connection
SHORT = http.waits(connect=5, silence=0.2)
WELL = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntea"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
MOST_BYTES = 1_000
NO_HEADERS: Mapping[str, str] = {}


def asked(
    server: Server, waits: dict[str, Any] = WAITS, headers: Mapping[str, str] = NO_HEADERS
) -> http.HttpReply:
    with http.connections() as pool:
        return http.ask(pool, "GET", server.url + "/a?b=c", waits, MOST_BYTES, headers=headers)


def test_an_answer_comes_whole() -> None:
    with serving(WELL) as server:
        assert asked(server, headers={"X-One": "1"}) == http.HttpReply(200, b"tea")
    (head,) = server.heads
    assert head.startswith(b"GET /a?b=c HTTP/1.1\r\n")
    assert b"X-One: 1\r\n" in head


def test_a_connection_is_used_again_until_the_server_closes_it() -> None:
    with serving(WELL, WELL) as server, http.connections() as pool:
        for _ in range(2):
            for _ in range(2):
                answer = http.ask(pool, "GET", server.url, WAITS, MOST_BYTES, headers={})
                assert answer.body == b"tea"
            assert server.closed.acquire(timeout=CLOSING_SECONDS)
    assert len(server.heads) == 4
    assert len(server.connections) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\ntea",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        CHUNKED + b"3\r\ntea\r\n",
        CHUNKED + b"tea\r\n",
        CHUNKED + b"-3\r\ntea\r\n0\r\n\r\n",
        CHUNKED + b"3\r\ntea-tea-tea\r\n0\r\n\r\n",
        CHUNKED + b"3" + b"0" * 30 + b"\r\ntea",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\ntea",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\ntea",
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Many: x\r\n" * 20_000 + b"\r\n",
    ],
)
def test_what_is_no_answer_is_a_failure(answer: bytes) -> None:
    with serving(answer) as server, pytest.raises(http.FAILURES) as caught:
        asked(server)
    assert http.reason(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5_000,
        CHUNKED + b"3\r\ntea\r\n" * 1_000 + b"0\r\n\r\n",
    ],
)
def test_an_answer_has_its_bound(answer: bytes) -> None:
    with serving(answer) as server, pytest.raises(http.TooLongError):
        asked(server)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200", CHUNKED + b"3\r\nt", WELL[:-1]])
def test_a_silent_server_is_not_waited_for(answer: bytes) -> None:
    with serving(answer, then_closes=False) as server, pytest.raises(http.ReadTimeout):
        asked(server, SHORT)


def test_who_listens_nowhere_is_named_by_the_system() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(http.ConnectError) as caught:
        asked(Server(f"http://127.0.0.1:{port}", [], [], threading.Semaphore(0)))
    assert http.reason(caught.value) == "Connection refused"

    async def ask_once() -> None:
        async with http.stream_once("GET", f"http://localhost:{port}", WAITS, headers={}):
            pass

    with pytest.raises(http.ConnectError) as caught:
        asyncio.run(ask_once())
    assert http.reason(caught.value) == "Connection refused"


def test_no_redirect_is_followed_and_no_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n") as server:
        assert asked(server).status == 302
    assert len(server.heads) == 1


def test_what_no_head_can_hold_is_a_failure() -> None:
    for value in ("two\r\nlines", "schlüssel"):
        with serving(WELL) as server, pytest.raises(http.FAILURES):
            asked(server, headers={"X-One": value})
        assert server.heads == []


def test_lines_come_as_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read_lines(url: str) -> list[bytes]:
        async with http.stream_once("GET", url, WAITS, headers={}) as response:
            return [line async for line in http.async_lines(response.aiter_stream())]

    def lines_of(server: Server) -> list[bytes]:
        return asyncio.run(read_lines(server.url))

    with serving(CHUNKED + b"6\r\na\nbb\nc\r\n4\r\nc\ndd\r\n0\r\n\r\n") as server:
        assert lines_of(server) == [b"a", b"bb", b"cc"]
        monkeypatch.setattr(http, "MAX_LINE_BYTES", 1)
        with pytest.raises(http.TooLongError):
            lines_of(server)


def test_a_stream_comes_piece_by_piece_and_ends_when_it_is_left() -> None:
    async def first_piece(url: str) -> bytes:
        async with http.stream_once("GET", url, WAITS, headers={}) as response:
            async for piece in response.aiter_stream():
                return piece
        return b""

    with serving(CHUNKED + b"3\r\ntea\r\n", then_closes=False) as server:
        assert asyncio.run(first_piece(server.url)) == b"tea"
    assert b"Connection: close\r\n" in server.heads[0]


def test_a_stream_ends_when_its_task_is_cancelled() -> None:
    async def cancelled(url: str) -> None:
        has_begun = asyncio.Event()

        async def read() -> None:
            async with http.stream_once("GET", url, WAITS, headers={}) as response:
                async for _ in response.aiter_stream():
                    has_begun.set()

        task = asyncio.create_task(read())
        await has_begun.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    with serving(CHUNKED + b"3\r\ntea\r\n", then_closes=False) as server:
        asyncio.run(cancelled(server.url))
    assert len(server.connections) == 1


def test_a_stream_that_breaks_off_is_a_failure() -> None:
    async def whole(url: str) -> None:
        async with http.stream_once("GET", url, WAITS, headers={}) as response:
            async for _ in response.aiter_stream():
                pass

    with serving(CHUNKED + b"3\r\ntea\r\n") as server, pytest.raises(http.FAILURES):
        asyncio.run(whole(server.url))
