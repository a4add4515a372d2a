"""Fetching pages, against a server on this machine, which it may reach only because the test names
it.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests import certificate

from tersely.foundation.errors import TerselyError
from tersely.foundation.network import fetch as fetching
from tersely.foundation.network.fetch import fetch

PAGES = {
    "/": (200, {"Content-Type": "text/html; charset=utf-8"}, b"<p>tea</p>"),
    "/moved": (302, {"Location": "/"}, b""),
    "/inward": (302, {"Location": "http://127.0.0.2:1/"}, b""),
    "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/round": (302, {"Location": "/round"}, b""),
    "/unclear": (302, {"Location": "http://[::"}, b""),
    "/gone": (404, {}, b"no"),
    "/large": (200, {}, b"x" * 10_000_001),
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/dripping":
            with suppress(OSError):
                for _ in range(1_000):  # until the other side has had enough
                    self.wfile.write(b"x")
                    Event().wait(0.02)
            return
        status, headers, body = PAGES[self.path.partition("?")[0]]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def code_of(url: str, *hosts: str) -> str:
    with pytest.raises(TerselyError) as caught:
        fetch(url, hosts)
    return caught.value.code


def test_a_page_comes_with_its_kind(server: str) -> None:
    for path in ("/", "/moved", "/?q=a"):
        page = fetch(server + path, ("127.0.0.1",))
        assert (page.mime, page.body) == ("text/html", b"<p>tea</p>")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "10.1.2.3", "192.168.0.1", "172.16.9.9", "169.254.169.254",
        "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "100.64.0.1",
        "224.0.0.1", "2130706433", "0x7f.1", "127.1", "[64:ff9b:1::7f00:1]", "[::127.0.0.1]",
        "[fec0::1]",
    ],
)  # fmt: skip
def test_what_is_not_the_public_internet_is_denied(host: str) -> None:
    assert code_of(f"http://{host}:1/") == "denied"


def test_redirects_are_looked_at_again(server: str) -> None:
    assert code_of(f"{server}/inward", "127.0.0.1") == "denied"
    assert code_of(f"{server}/file", "127.0.0.1") == "invalid_argument"
    assert code_of(f"{server}/round", "127.0.0.1") == "fetch_failed"
    assert code_of(f"{server}/unclear", "127.0.0.1") == "fetch_failed"


def test_what_cannot_be_had_says_why(server: str) -> None:
    assert code_of(f"{server}/gone", "127.0.0.1") == "fetch_failed"
    assert code_of(f"{server}/large", "127.0.0.1") == "fetch_failed"
    assert code_of("http://127.0.0.1:1/", "127.0.0.1") == "fetch_failed"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "http:///x",
        "http://u:p@a.example/",
        "http://a.example/a b",
        "x",
        "http://a:99999/",
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str) -> None:
    assert code_of(url) == "invalid_argument"


def test_who_sends_a_byte_now_and_then_is_not_waited_for(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "FETCH_SECONDS", 0.2)
    assert code_of(f"{server}/dripping", "127.0.0.1") == "timed_out"


def test_who_drips_a_head_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "FETCH_SECONDS", 0.2)

    def drip(connection: socket.socket) -> None:
        for _ in range(1_000):
            connection.sendall(b"H")
            Event().wait(0.02)

    with answering(drip) as port:
        assert code_of(f"http://127.0.0.1:{port}/", "127.0.0.1") == "timed_out"


def test_a_name_is_looked_up_once_and_the_connection_goes_where_it_was_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = []

    def answer(connection: socket.socket) -> None:
        heads.append(connection.recv(65_536))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntea")

    look_up = socket.getaddrinfo
    looked_up = []

    def changing(host: Any, *others: Any, **more: Any) -> Any:
        if host != "kettle.test":
            return look_up(host, *others, **more)
        looked_up.append(host)
        return look_up("127.0.0.1" if len(looked_up) == 1 else "127.0.0.2", *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    with answering(answer) as port:
        assert fetch(f"http://kettle.test:{port}/ä?b=ü#c", ("kettle.test",)).body == b"tea"
        assert code_of(f"http://kettle.test:{port}/", "another.test") == "denied"
    (head,) = heads
    assert head.startswith(b"GET /%C3%A4?b=%C3%BC HTTP/1.1\r\n")
    assert f"\r\nHost: kettle.test:{port}\r\n".encode() in head


def test_a_certificate_is_for_the_name_and_not_for_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = []
    made = certificate.make(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*made)
    context.sni_callback = lambda connection, name, _: names.append(name)

    def answer(plain: socket.socket) -> None:
        with context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntea")

    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    with answering(answer) as port:
        assert fetch(f"https://localhost:{port}/", ("localhost",)).body == b"tea"
        assert code_of(f"https://127.0.0.1:{port}/", "127.0.0.1") == "fetch_failed"
        monkeypatch.delenv("SSL_CERT_FILE")
        assert code_of(f"https://localhost:{port}/", "localhost") == "fetch_failed"
    assert names == ["localhost", None, "localhost"]


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that answers each connection in one way."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
