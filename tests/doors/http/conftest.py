"""A relay that listens on a port of this machine, and a client that speaks plain HTTP with it."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.daemon.asking import Asking
from tersely.doors.http.app import make_apps
from tersely.doors.http.connecting.connections import make_server
from tersely.doors.http.workspaces import Workspaces
from tersely.foundation.text.tokens import Tokenizer
from tersely.relay.relay import Relay, have_token
from tersely.relay.wire.documents import RelayTold
from tersely.relay.wire.home import HTTP_SOCKET, listen, socket_path


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Web:
    """One relay over HTTP."""

    def __init__(self, relay: Relay, port: int, secret: str) -> None:
        self.relay = relay
        self.port = port
        self.token = secret
        self.socket = socket_path(relay.home, HTTP_SOCKET)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def headers(self, agent: str = "ann") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Relay-Agent": agent}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Ask as a well-behaved client; headers with `_` for `-`, an empty one is left out."""
        given = {
            **self.headers(),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.connect()
        try:
            connection.request(
                method, path, content, {name: value for name, value in given.items() if value}
            )
            response = connection.getresponse()
            return Answer(
                response.status,
                {name.lower(): value for name, value in response.getheaders()},
                response.read(),
            )
        finally:
            connection.close()

    def thread(self, name: str = "") -> str:
        """A new thread."""
        thread_id: str = self.ask("POST", "/threads", {"name": name}).json["thread_id"]
        return thread_id


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    home = tmp_path_factory.mktemp("home")
    yield from serve(home)


@pytest.fixture(scope="module")
def code_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A relay that answers about code as well, each call about the repository that it names."""
    loop = asyncio.new_event_loop()
    looping = threading.Thread(target=loop.run_forever)
    looping.start()
    asking = Asking(ANSWER_WORDS)

    def offer(relay: Relay) -> None:
        workspaces = Workspaces(asking, loop, "", relay.count_tokens, relay.store)
        for name, declare in workspaces.offers().items():
            relay.calls.offer_later(name, declare)

    async def close() -> None:
        asking.close()

    try:
        yield from serve(tmp_path_factory.mktemp("home"), offer)
    finally:
        asyncio.run_coroutine_threadsafe(close(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        looping.join()
        loop.close()


def serve(home: Path, prepare: Callable[[Relay], None] = lambda relay: None) -> Iterator[Web]:
    tcp = socket.create_server(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    with Relay.open(home, Tokenizer().count, durable=False) as relay:
        prepare(relay)
        own, secret = listen(home, HTTP_SOCKET), have_token(home)
        told = RelayTold(str(home), os.getpid(), f"http://127.0.0.1:{port}", "", "", 0, "")
        apps = make_apps(relay, told, secret.text)
        assert apps.tcp is not None
        servers = {own: make_server(apps.own), tcp: make_server(apps.tcp)}

        async def serving() -> None:
            await asyncio.gather(*(server.serve([one]) for one, server in servers.items()))

        thread = threading.Thread(target=asyncio.run, args=(serving(),))
        thread.start()
        try:
            yield Web(relay, port, secret.text())
        finally:
            for server in servers.values():
                server.should_exit = True
                server.force_exit = True
            thread.join()
            tcp.close()
            own.close()
