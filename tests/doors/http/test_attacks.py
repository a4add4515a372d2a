"""What an attacker does who can reach the door for other machines, with a token or without; a real
relay process serves it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.doors.http.far import Far, said, serving

from tersely.client import Client, ask, relay_process
from tersely.doors.http.connecting.idle_connections import MAX_WEB_CONNECTIONS
from tersely.doors.http.request_parsing import MAX_OPEN_BODY_BYTES
from tersely.foundation.limits import MAX_WEB_BODY_BYTES

_OPEN_FILES = 4 * MAX_WEB_CONNECTIONS  # of this process, which has both ends of each


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    with serving(tmp_path_factory.mktemp("far")) as served:
        yield served


def reached(far: Far) -> socket.socket:
    """A connection without a word."""
    return socket.create_connection(("127.0.0.1", far.address.port), 20)


def secured(far: Far) -> ssl.SSLSocket:
    """A connection over TLS, without a request."""
    return far.context.wrap_socket(reached(far), server_hostname="localhost")


def answered(far: Far, *lines: str, body: bytes = b"", token: str = "") -> list[int]:
    """The statuses of what is answered to bytes until the relay hangs up, or to as much as it
    reads.
    """
    shown = [f"Authorization: Bearer {token}"] if token else []
    head = "\r\n".join([lines[0], "Host: localhost", *shown, *lines[1:], "", ""])
    with secured(far) as connection:
        with contextlib.suppress(OSError):  # it need not be read to its end
            connection.sendall(head.encode("latin-1") + body)
        came = b""
        with contextlib.suppress(OSError):
            while data := connection.recv(65_536):
                came += data
    return [int(line[9:12]) for line in came.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


@contextlib.contextmanager
def many_files() -> Iterator[None]:
    """This process may have many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _OPEN_FILES:
        pytest.skip("this process may not have that many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, _OPEN_FILES), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_crowd_of_strangers_takes_nobodys_place(far: Far) -> None:
    token = far.token("ann")
    thread = far.capability(token, "thread.new").json["result"]["thread_id"]
    told = relay_process.running(far.home)
    assert told is not None
    with many_files(), ExitStack() as held:
        events = far.connect()
        held.callback(events.close)
        events.request(
            "GET", f"/threads/{thread}/events/stream", headers={"Authorization": f"Bearer {token}"}
        )
        stream = events.getresponse()
        spoken = held.enter_context(far.socket(token))
        said(spoken, "HELLO", {"agent": "ann", "capabilities": {}})
        for _ in range(40):
            held.enter_context(secured(far))
        for _ in range(MAX_WEB_CONNECTIONS + 200):
            held.enter_context(reached(far))
        # others are answered, from elsewhere and from here, and can write
        assert far.capability(token, "thread.checkpoint", thread=thread, name="mark").status == 200
        with Client.local("boss", home=far.home) as local:
            assert local.ask("artifact.put", content="x" * 300_000).size == 300_000
        assert len(os.listdir(f"/proc/{told.pid}/fd")) < MAX_WEB_CONNECTIONS + 100
        # and who was there before them is served still
        assert said(spoken, "SYNC", {"session_id": "", "streams": []})["type"] == "SYNC"
        while b"mark" not in (line := stream.readline()):
            assert line, "the stream has ended"


def test_what_is_too_long_is_not_held(far: Far) -> None:
    token = far.token("long")
    much = "a" * 1_000_000
    assert answered(far, "GET /version HTTP/1.1", f"X: {much}", token=token) == [400]
    assert answered(far, f"GET /{much} HTTP/1.1", token=token) == [400]
    for path, most, shown in (
        ("/join", MAX_OPEN_BODY_BYTES, ""), ("/ask", MAX_WEB_BODY_BYTES, token)
    ):  # fmt: skip
        length = f"Content-Length: {most + 1}"
        closing = "Connection: close"
        assert answered(far, f"POST {path} HTTP/1.1", length, closing, token=shown) == [413], path
    chunked = f"{MAX_OPEN_BODY_BYTES + 1:x}\r\n".encode() + b"a" * (MAX_OPEN_BODY_BYTES + 1)
    lines = ("POST /join HTTP/1.1", "Transfer-Encoding: chunked", "Connection: close")
    assert answered(far, *lines, body=chunked) == [413]


@pytest.mark.parametrize(
    "lengths",
    [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 4"],
        ["Content-Length: 4", "Content-Length: 5"],
        ["Content-Length: +4"],
        ["Transfer-Encoding: identity, chunked"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding : chunked"],
    ],
)
def test_a_request_hides_no_other(far: Far, lengths: list[str]) -> None:
    token = far.token("smuggler")
    hidden = f"GET /version HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    body = b"0\r\n\r\n" + hidden.encode()
    assert answered(far, "POST /ask HTTP/1.1", *lengths, body=body, token=token) == [400]


def test_old_and_broken_tls_is_refused(far: Far) -> None:
    with reached(far) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"HTTP" not in plain.recv(65_536)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError), reached(far) as plain, old.wrap_socket(plain):
        pass


def test_a_name_or_a_page_of_others_is_refused(far: Far) -> None:
    token = far.token("named")
    for name, value in (
        ("Host", "evil.example"), ("Host", ""), ("Host", "localhost.evil.example"),
        ("Origin", "null"), ("Origin", "https://localhost"),
    ):  # fmt: skip
        answer = far.ask(token, "GET", "/version", **{name: value})
        assert answer.json["code"] == "forbidden_origin", (name, value)
    for path in ("/../../etc/passwd", "/threads/..%2f..%2fetc%2fpasswd", "/cassettes/..%2ftoken"):
        assert far.ask(token, "GET", path).status in {400, 404}, path


def test_wrong_codes_keep_no_machine_from_joining(far: Far) -> None:
    code = far.local(ask("token_new", identity="late")).secret
    guesses = [far.ask("", "POST", "/join", {"code": f"GUESS-{at}"}).status for at in range(30)]
    assert (guesses[0], guesses[-1]) == (401, 429)
    assert far.ask("", "POST", "/join", {"code": code}).status == 201
    assert far.ask("", "POST", "/join", {"code": code}).status == 429  # which is used up


def test_nothing_of_this_is_in_the_log(far: Far) -> None:
    for _ in range(20):
        with reached(far) as plain:
            plain.sendall(os.urandom(300))
    assert far.ask("", "GET", "/health").status == 200
    assert json.dumps((far.home / "relay.log").read_text()).count("\\n") == 1
