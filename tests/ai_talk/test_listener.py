"""A listener under senders of all kinds: each is answered, and none keeps others out."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ai_talk.talking import ENOUGH_SECONDS, Talk, answers, free_port, told
from tests.depth import examples

from tersely.ai_talk import tls
from tersely.ai_talk.listener import MAX_CONNECTIONS, MAX_INBOX_MESSAGES
from tersely.ai_talk.messages import MAX_MESSAGE_BYTES, Message, encode, frame_of

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="no program makes certificates"
)
needs_pidfd = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="a process cannot be waited for"
)
HELLO = b"13:Hello, World!"


def codes(said: list[dict[str, Any]]) -> list[str]:
    return [one.get("error_code", one["status"]) for one in said]


def texts(talk: Talk, port: int) -> list[Any]:
    return [one["message"] for one in talk("check", "--port", port, "--clear")["messages"]]


def start(talk: Talk, home: Path, **settings: Any) -> int:
    """A listener with settings of its own."""
    (home / "config.json").write_text(json.dumps(settings))
    port = free_port()
    talk("listen", "start", "--port", port)
    return port


def test_a_bare_frame_is_kept_with_an_unknown_sender_and_answered(
    talk: Talk, listening: int
) -> None:
    assert told(listening, HELLO) == [{"status": "received", "message_count": 1}]
    (message,) = talk("check", "--port", listening)["messages"]
    assert set(message) == {"timestamp", "sender_port", "message"}
    assert message["message"] == "Hello, World!"
    assert message["sender_port"] is None


def test_a_sender_that_closes_at_once_is_served(talk: Talk, listening: int) -> None:
    with socket.create_connection(("127.0.0.1", listening), ENOUGH_SECONDS) as connection:
        connection.sendall(HELLO)
    told(listening, b"4:next")  # connections are taken in their order
    assert sorted(texts(talk, listening)) == ["Hello, World!", "next"]


def test_what_was_sent_before_a_listener_ends_is_kept(talk: Talk, listening: int) -> None:
    for number in range(20):
        with socket.create_connection(("127.0.0.1", listening), ENOUGH_SECONDS) as connection:
            connection.sendall(b"%d:%d" % (len(str(number)), number))
    talk("listen", "stop", "--port", listening)
    assert sorted(map(int, texts(talk, listening))) == list(range(20))


def test_several_frames_are_answered_one_by_one(talk: Talk, listening: int) -> None:
    assert codes(told(listening, b"1:a0:2:\xff\xff1:b1:")) == ["received"] * 2 + [
        "INVALID_MESSAGE", "received", "MALFORMED_FRAME"
    ]  # fmt: skip
    assert texts(talk, listening) == ["a", "", "b"]


def test_frames_arrive_at_any_split_point(talk: Talk, home: Path) -> None:
    data = frame_of(Message("grüße".encode(), {"from_port": 9001})) + b"1:x"
    port = start(talk, home, connections_per_second=10_000, connection_burst=10_000)
    for place in range(1, len(data)):
        with socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(data[:place])
            connection.sendall(data[place:])
            connection.shutdown(socket.SHUT_WR)
            assert codes(answers(connection)) == ["received", "received"]
        assert texts(talk, port) == ["grüße", "x"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"14:Hello, World!", "MALFORMED_FRAME"),  # ends too early
        (b"12:Hello, World!", "MALFORMED_FRAME"),  # what follows is no frame
        (b"Hello", "MALFORMED_FRAME"),
        (b"5", "MALFORMED_FRAME"),
        (b"-5:Hello", "MALFORMED_FRAME"),
        (b"GET / HTTP/1.1\r\n\r\n", "MALFORMED_FRAME"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "MALFORMED_FRAME"),
        (b"4:\xf0\x9f\x98\x00", "INVALID_MESSAGE"),
        (b"2:\xc3(", "INVALID_MESSAGE"),
        (b"99999999:x", "MESSAGE_TOO_LARGE"),
        (encode(b"x" * (MAX_MESSAGE_BYTES + 1)), "MESSAGE_TOO_LARGE"),
        (
            encode(b'{"v": 1}\n' + b"x" * (MAX_MESSAGE_BYTES + 1), is_envelope=True),
            "MESSAGE_TOO_LARGE",
        ),
        (encode(b'{"v": 1, "type": 5}\nx', is_envelope=True), "INVALID_MESSAGE"),
    ],
)
def test_what_is_not_kept_is_answered(talk: Talk, listening: int, data: bytes, code: str) -> None:
    assert codes(told(listening, data))[-1] == code
    assert told(listening, b"2:ok")[0]["status"] == "received"
    assert texts(talk, listening)[-1] == "ok"


def test_a_message_of_the_largest_size_is_kept_whole(talk: Talk, listening: int) -> None:
    body = "ä" * (MAX_MESSAGE_BYTES // 2)
    assert codes(told(listening, encode(body.encode()))) == ["received"]
    assert texts(talk, listening) == [body]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_answered_and_harm_nobody(talk: Talk, fuzzed: int, data: bytes) -> None:
    said = told(fuzzed, data)
    assert bool(said) == bool(data)
    assert codes(told(fuzzed, b"2:ok")) == ["received"]
    talk("check", "--port", fuzzed, "--clear")


@pytest.fixture
def fuzzed(talk: Talk, home: Path) -> int:
    return start(talk, home, connections_per_second=10_000, connection_burst=10_000)


def test_a_full_inbox_is_answered(talk: Talk, listening: int) -> None:
    said = told(listening, b"1:a" * (MAX_INBOX_MESSAGES + 2))
    assert codes(said) == ["received"] * MAX_INBOX_MESSAGES + ["INBOX_FULL"] * 2
    assert said[-1]["details"] == {"max_messages": MAX_INBOX_MESSAGES}
    refused = talk("send", "--to-port", listening, "--from-port", 9001, "--message", "b", status=3)
    assert refused["error_code"] == "INBOX_FULL"
    assert len(texts(talk, listening)) == MAX_INBOX_MESSAGES


def test_too_many_connections_are_told_when_to_come_again(talk: Talk, home: Path) -> None:
    port = start(talk, home, connections_per_second=1, connection_burst=2)
    (refused,) = [one for _ in range(3) for one in told(port, b"1:a") if one["status"] == "error"]
    assert refused["error_code"] == "RATE_LIMITED"
    assert 0 < refused["details"]["retry_after_ms"] <= 1_000
    quick = ("send", "--to-port", port, "--from-port", 9001, "--message", "b", "--timeout", "0.2")
    assert talk(*quick, status=3)["error_code"] == "RATE_LIMITED"
    assert texts(talk, port) == ["a", "a"]


def test_many_senders_at_once_lose_nothing(talk: Talk, home: Path) -> None:
    port = start(
        talk,
        home,
        max_inbox_messages=1_000,
        connections_per_second=100_000,
        connection_burst=100_000,
    )
    with ThreadPoolExecutor(32) as pool:
        said = list(pool.map(lambda number: told(port, encode(b"%d" % number)), range(600)))
    assert [codes(one) for one in said] == [["received"]] * 600
    assert sorted(map(int, texts(talk, port))) == list(range(600))


def test_slow_senders_do_not_keep_others_out(talk: Talk, home: Path) -> None:
    port = start(talk, home, connections_per_second=100_000, connection_burst=100_000)
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS))
            for _ in range(2 * MAX_CONNECTIONS)
        ]
        for one in slow:
            one.sendall(b"9:sl")
        assert codes(told(port, b"4:fast")) == ["received"]
        assert codes(answers(slow[0])) == ["RATE_LIMITED"]
    assert texts(talk, port) == ["fast"]


@needs_pidfd
def test_a_listener_that_was_killed_leaves_a_pid_file_that_deceives_nobody(
    talk: Talk, home: Path, listening: int
) -> None:
    path = home / str(listening) / "listener.pid"
    pid = int(path.read_text())
    process = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert select.select([process], [], [], ENOUGH_SECONDS)[0]
    os.close(process)
    path.write_text(f"{os.getpid()}\n")  # the number is somebody else's now
    assert talk("listen", "status", "--port", listening)["status"] == "not_running"
    assert talk("discover") == {"listeners": []}
    assert (
        talk("listen", "stop", "--port", listening, status=1)["error_code"]
        == "LISTENER_NOT_RUNNING"
    )
    assert talk("listen", "start", "--port", listening)["status"] == "started"


@needs_openssl
def test_tls_is_spoken_with_the_users_certificate_alone(
    talk: Talk, home: Path, port: int, tmp_path: Path
) -> None:
    talk("listen", "start", "--port", port, "--tls")
    assert (
        talk("send", "--to-port", port, "--from-port", 9001, "--message", "secret")["acknowledged"]
        is True
    )
    assert told(port, HELLO) == []
    assert texts(talk, port) == ["secret"]
    for name in ("cert.pem", "key.pem"):  # somebody else's certificate
        (home / "tls" / name).rename(home / "tls" / f"old-{name}")
    tls.server_context(home)
    said = talk("send", "--to-port", port, "--from-port", 9001, "--message", "x", status=3)
    assert said["error_code"] == "TLS_FAILED"


@needs_openssl
def test_tls_is_not_spoken_to_who_speaks_none(talk: Talk, home: Path, listening: int) -> None:
    tls.server_context(home)
    said = talk(
        "send", "--to-port", listening, "--from-port", 9001, "--message", "x", "--tls", status=3
    )
    assert said["error_code"] == "TLS_FAILED"


def test_without_a_program_for_certificates_one_line_says_so(
    talk: Talk, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    said = talk("listen", "start", "--port", port, "--tls", status=3)
    assert said["error_code"] == "TLS_FAILED"
    assert "put cert.pem and key.pem into" in said["error_message"]


@needs_openssl
def test_a_broken_handshake_harms_nobody(talk: Talk, home: Path, port: int) -> None:
    talk("listen", "start", "--port", port, "--tls")
    with socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS) as connection:
        connection.sendall(b"\x16\x03\x01\xff\xff" + b"\0" * 100)
        answered = b""
        with suppress(OSError):  # the listener has closed already
            connection.shutdown(socket.SHUT_WR)
            answered = connection.recv(100)
    assert not answered.startswith(b"1")
    with (
        pytest.raises(ssl.SSLError),
        socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS) as connection,
    ):
        ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")
    talk("send", "--to-port", port, "--from-port", 9001, "--message", "still here")
    assert texts(talk, port) == ["still here"]
