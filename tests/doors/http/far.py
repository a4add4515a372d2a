"""A relay process that other machines reach, and those who ask it from there."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import certificate
from tests.doors.free_port import free_port

from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.client import Client, ask, relay_process
from tersely.doors.listening import read_address
from tersely.relay.wire.addresses import Address
from tersely.relay.wire.home import NO_PORT

websockets = pytest.importorskip("websockets.sync.client")


class Answer(NamedTuple):
    status: int
    json: Any


class Far:
    """A relay that listens for other machines, and the tokens of some who ask it from there."""

    def __init__(self, home: Path, address: Address, authority: Path) -> None:
        self.home = home
        self.address = address
        self.context = ssl.create_default_context(cafile=authority)
        self.local = Client.local("boss", home=home)
        # The client of WebSockets reads and writes on two threads, for which Python's TLS is not
        # made: tickets of version 1.3 come while the request is sent, and it may be lost.
        self._context_of_sockets = ssl.create_default_context(cafile=authority)
        self._context_of_sockets.maximum_version = ssl.TLSVersion.TLSv1_2

    def token(self, identity: str, **scopes: Any) -> str:
        return self.local(ask("token_new", identity=identity, bearer=True, **scopes)).secret

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            "localhost", self.address.port, timeout=60, context=self.context
        )

    def ask(self, token: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        connection = self.connect()
        given = {
            "Authorization": f"Bearer {token}",
            **{name.replace("_", "-"): one for name, one in headers.items()},
        }
        try:
            connection.request(method, path, None if body is None else json.dumps(body), given)
            response = connection.getresponse()
            return Answer(response.status, json.loads(response.read() or b"null"))
        finally:
            connection.close()

    def capability(self, token: str, name: str, /, agent: str = "", **arguments: Any) -> Answer:
        headers = {"X_Relay_Agent": agent} if agent else {}
        return self.ask(
            token, "POST", "/ask", {"capability": name, "arguments": arguments}, **headers
        )

    def socket(self, token: str, path: str = "/socket") -> Any:
        return websockets.connect(
            f"wss://localhost:{self.address.port}{path}", ssl=self._context_of_sockets, open_timeout=60,
            additional_headers={"Authorization": f"Bearer {token}"},
        )  # fmt: skip


@contextmanager
def serving(home: Path) -> Iterator[Far]:
    """A relay of a home, for as long as it is wanted."""
    (home / "config.toml").write_text(
        'trusted_hosts = ["localhost", "127.0.0.1"]\ntrusted_proxies = ["127.0.0.1"]\n'
    )
    made = certificate.make(home / "tls", "localhost", "127.0.0.1")
    address = read_address(f"127.0.0.1:{free_port()}", str(made.certificate), str(made.key))
    relay_process.start(home, NO_PORT, "", ANSWER_WORDS, address)
    try:
        served = Far(home, address, made.certificate)
        with served.local:
            yield served
    finally:
        relay_process.stop(home)


def said(socket: Any, type: str, payload: Any, **parts: Any) -> dict[str, Any]:
    """What is answered to an envelope; what comes beside it is skipped."""
    socket.send(json.dumps({"v": 1, "type": type, "id": f"{type}-1", **parts, "payload": payload}))
    while True:
        answer: dict[str, Any] = json.loads(socket.recv(60))
        if answer["type"] not in {"PING", "DELIVER"}:
            return answer
