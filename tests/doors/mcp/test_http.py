"""The server of the Model Context Protocol over HTTP, as the conformance suite drives it."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from mcp.client.client import Client
from tests.cli.asking import run
from tests.doors.mcp.conversing import DEADLINE_SECONDS, serving_http, text_of
from tests.doors.mcp.wire import ENVELOPE

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_several_clients_are_answered_as_on_the_command_line(shop: Path, mode: str) -> None:
    async def ask(url: str, symbol: str) -> None:
        async with Client(url, mode=mode) as client:
            answer = await client.call_tool("symbol_get", {"symbol": symbol})
            assert text_of(answer) == run(["symbol", "get", symbol], shop, TERSELY_DAEMON="off").out

    async def conversation(url: str) -> None:
        with anyio.fail_after(DEADLINE_SECONDS):
            async with anyio.create_task_group() as group:
                for symbol in ("format_cents", "checkout", "forgotten"):
                    group.start_soon(ask, url, symbol)

    with serving_http(shop) as url:
        anyio.run(conversation, url)


def status_of(url: str, **headers: str) -> int:
    """The HTTP status with which a client is let in, or not."""
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    request = urllib.request.Request(url, json.dumps(INITIALIZE).encode(), sent)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_pages_of_other_sites_are_not_let_in(shop: Path) -> None:
    with serving_http(shop) as url:
        assert status_of(url) == 200
        assert status_of(url, Origin="http://localhost:3000") == 200
        assert status_of(url, Origin="https://evil.example") == 403
        assert status_of(url, Origin="null") == 403
        assert status_of(url, Host="evil.example") == 421


def test_a_session_is_known_until_it_is_ended(shop: Path) -> None:
    def status(method: str, session: str, message: object = None) -> int:
        headers = {"Content-Type": "application/json", "Mcp-Session-Id": session}
        body = json.dumps(message).encode() if message else None
        request = urllib.request.Request(url, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    with serving_http(shop) as url:
        hello = urllib.request.Request(
            url, json.dumps(INITIALIZE).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(hello, timeout=DEADLINE_SECONDS) as response:
            session = response.headers["Mcp-Session-Id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert status("POST", session, ping) == 200
        assert (
            status("POST", session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            == 202
        )
        assert status("POST", "another", ping) == 404
        assert status("GET", session) == 405
        assert status("DELETE", session) == 204
        assert status("POST", session, ping) == 404


def test_what_is_no_handshake_begins_no_session(shop: Path) -> None:
    with serving_http(shop) as url:
        empty = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"}).encode()
        request = urllib.request.Request(url, empty, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
            assert "error" in json.load(response)
            assert response.headers["Mcp-Session-Id"] is None


def test_a_client_that_never_sends_all_does_not_keep_it_from_ending(shop: Path) -> None:
    with serving_http(shop) as url:
        place = urlsplit(url)
        slow = socket.create_connection((place.hostname, place.port), DEADLINE_SECONDS)
        slow.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
        )
        assert slow.recv(100).startswith(b"HTTP/1.1 100 ")
    with slow:
        slow.recv(1_000)


def test_headers_that_say_something_else_are_refused(shop: Path) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "map", "_meta": ENVELOPE},
    }
    own = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "map"}
    with serving_http(shop) as url:
        for changed, code in [
            ({"Mcp-Name": "search"}, -32_020),
            ({"Mcp-Method": "tools/list"}, -32_020),
            ({}, None),
        ]:
            headers = {"Content-Type": "application/json", **own, **changed}
            request = urllib.request.Request(url, json.dumps(message).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
                    answer = json.load(response)
            except urllib.error.HTTPError as error:
                with error:
                    assert error.code == 400
                    answer = json.load(error)
            assert answer.get("error", {}).get("code") == code
