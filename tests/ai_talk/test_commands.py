"""The commands as agents use them."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.ai_talk.talking import ENOUGH_SECONDS, Talk, free_port, told

from tersely.ai_talk.commands import main
from tersely.ai_talk.messages import MAX_MESSAGE_BYTES
from tersely.cli.main import main as tersely

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")


@pytest.fixture
def other(talk: Talk) -> int:
    """Another port with a listener."""
    port = free_port()
    talk("listen", "start", "--port", port)
    return port


def messages(talk: Talk, port: int, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = talk("check", "--port", port, *words)["messages"]
    return found


@pytest.mark.parametrize(
    "port", ["80", "1024", "0", "-1", "65536", "nine", "９００１", "1" * 5_000, ""]
)
def test_ports_up_to_1024_are_refused(talk: Talk, port: str) -> None:
    assert talk("listen", "start", "--port", port, status=2)["error_code"] == "INVALID_PORT"
    assert talk("listen-once", "--port", port, status=2)["error_code"] == "INVALID_PORT"
    assert (
        talk("send", "--to-port", port, "--from-port", "9001", "--message", "x", status=2)[
            "error_code"
        ]
        == "INVALID_PORT"
    )


def test_a_port_that_is_in_use_is_refused(talk: Talk, listening: int) -> None:
    assert talk("listen", "start", "--port", listening, status=3)["error_code"] == "PORT_IN_USE"
    assert talk("listen-once", "--port", listening, status=3)["error_code"] == "PORT_IN_USE"
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        taken = somebody.getsockname()[1]
        assert talk("listen", "start", "--port", taken, status=3)["error_code"] == "PORT_IN_USE"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("listen",),
        ("check",),
        ("check", "--port", "9001", "--limit", "-1"),
        ("check", "--port", "9001", "--lim", "1"),
        ("send", "--to-port", "9001", "--from-port", "9002"),
        ("send", "--to-port", "9001", "--from-port", "9002", "--message", "x", "--timeout", "nan"),
        ("send", "--to-port", "9001", "--from-port", "9002", "--message", "x", "--timeout", "0"),
        (
            "send",
            "--to-port",
            "9001",
            "--from-port",
            "9002",
            "--message",
            "x",
            "--bare",
            "--thread",
            "t",
        ),
        ("send", "--to-port", "9001", "--from-port", "9002", "--message-file", "/nowhere/at/all"),
        ("listen", "start"),
        ("listen", "start", "--name", "9001"),
    ],
)
def test_words_that_cannot_be_read_are_answered_in_json(talk: Talk, words: tuple[str, ...]) -> None:
    assert talk(*words, status=2)["error_code"] == "INVALID_ARGUMENT"


def test_an_inbox_without_a_listener_is_read_and_says_so(talk: Talk, port: int, home: Path) -> None:
    said = talk("check", "--port", port)
    assert said == {"port": port, "message_count": 0, "messages": [], "listener_running": False}
    assert not (home / str(port)).exists()


def test_limit_shows_the_oldest(talk: Talk, listening: int) -> None:
    told(listening, b"1:a1:b1:c")
    said = talk("check", "--port", listening, "--limit", "2", "--clear")
    assert [one["message"] for one in said["messages"]] == ["a", "b"]
    assert said["message_count"] == 2
    assert [one["message"] for one in messages(talk, listening)] == ["c"]


def test_unread_shows_what_was_not_shown(talk: Talk, home: Path, listening: int) -> None:
    callback = home / str(listening) / "callback"
    told(listening, b"1:a")
    assert len(messages(talk, listening, "--unread")) == 1
    assert not callback.exists()
    told(listening, b"1:b")
    assert callback.exists()
    assert [one["message"] for one in messages(talk, listening, "--unread")] == ["b"]
    assert [one["message"] for one in messages(talk, listening)] == ["a", "b"]


def test_a_message_file_is_where_messages_go(talk: Talk, tmp_path: Path, port: int) -> None:
    path = tmp_path / "elsewhere.jsonl"
    started = talk("listen", "start", "--port", port, "--message-file", path)
    assert started["message_file"] == str(path)
    told(port, b"1:a")
    assert json.loads(path.read_text())["message"] == "a"
    talk("listen", "stop", "--port", port)
    assert [one["message"] for one in messages(talk, port, "--clear")] == ["a"]
    assert path.read_text() == ""


def test_messages_come_from_files(talk: Talk, tmp_path: Path, listening: int) -> None:
    path = tmp_path / "text"
    path.write_text("from a file\n")
    talk("send", "--to-port", listening, "--from-port", 9001, "--message-file", path)
    assert messages(talk, listening)[0]["message"] == "from a file\n"
    path.write_bytes(b"x" * (MAX_MESSAGE_BYTES + 1))
    said = talk(
        "send", "--to-port", listening, "--from-port", 9001, "--message-file", path, status=2
    )
    assert said["error_code"] == "MESSAGE_TOO_LARGE"
    path.write_bytes(b"\xff")
    said = talk(
        "send", "--to-port", listening, "--from-port", 9001, "--message-file", path, status=2
    )
    assert said["error_code"] == "INVALID_MESSAGE"


def test_listeners_have_names(talk: Talk, listening: int) -> None:
    alice = talk("listen", "start", "--name", "alice")["port"]
    assert talk("listen", "start", "--name", "alice", status=3)["error_code"] == "NAME_IN_USE"
    assert (
        talk("send", "--to", "alice", "--from-port", listening, "--message", "hi")["to_port"]
        == alice
    )
    (message,) = talk("check", "--name", "alice")["messages"]
    assert message["to"] == "alice"
    talk("send", "--to-port", listening, "--from", "alice", "--message", "hi")
    (message,) = messages(talk, listening)
    assert (message["from"], message["sender_port"]) == ("alice", alice)
    assert {one["port"]: one.get("name") for one in talk("discover")["listeners"]} == {
        listening: None,
        alice: "alice",
    }
    talk("listen", "stop", "--name", "alice")
    said = talk("send", "--to", "alice", "--from-port", listening, "--message", "hi", status=1)
    assert said["error_code"] == "UNKNOWN_NAME"


def test_conversations_are_shown_and_cleared_apart(talk: Talk, listening: int) -> None:
    send = ("send", "--to-port", listening, "--from-port", 9001, "--message")
    first = talk(*send, "one", "--thread", "tea")["id"]
    talk(*send, "other")
    talk(*send, "two", "--thread", "tea", "--reply-to", first)
    shown = messages(talk, listening, "--thread", "tea", "--clear")
    assert [(one["message"], one["thread"], one.get("reply_to")) for one in shown] == [
        ("one", "tea", None),
        ("two", "tea", first),
    ]
    assert [one["message"] for one in messages(talk, listening)] == ["other"]


def test_who_asked_for_it_is_told_once_that_a_message_was_read(
    talk: Talk, listening: int, other: int
) -> None:
    sent = talk(
        "send", "--to-port", other, "--from-port", listening, "--message", "hi", "--receipt"
    )
    assert messages(talk, listening) == []
    for _ in range(2):
        messages(talk, other)
    (receipt,) = messages(talk, listening)
    assert (receipt["type"], receipt["reply_to"]) == ("receipt", sent["id"])
    assert receipt["sender_port"] == other


def test_a_receipt_that_cannot_be_sent_is_said(
    talk: Talk, other: int, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    talk("send", "--to-port", other, "--from-port", port, "--message", "hi", "--receipt")
    assert main(["check", "--port", str(other), "--clear"]) == 0
    assert "CONNECTION_REFUSED" in capsys.readouterr().err


def test_broadcast_reaches_all_others(talk: Talk, home: Path, listening: int, other: int) -> None:
    third = talk("listen", "start", "--name", "third")["port"]
    (home / "config.json").write_text('{"max_inbox_messages": 1}')
    full = talk("listen", "start", "--name", "full")["port"]
    told(full, b"1:a")
    words = ("send", "--broadcast", "--from-port", listening, "--message", "all")
    said = talk(*words, status=1)
    assert said["status"] == "partly_sent"
    assert {one["to_port"] for one in said["sent"]} == {other, third}
    assert [(one["to_port"], one["error_code"]) for one in said["failed"]] == [(full, "INBOX_FULL")]
    talk("listen", "stop", "--name", "full")
    assert talk(*words)["status"] == "sent"
    assert messages(talk, listening) == []
    for port in (other, third):
        talk("listen", "stop", "--port", port)
    assert talk(*words, status=1)["error_code"] == "LISTENER_NOT_RUNNING"


def test_messages_have_types(talk: Talk, tmp_path: Path, listening: int) -> None:
    send = ("send", "--to-port", listening, "--from-port", 9001)
    talk(*send, "--message", '{"a": [1, "\u00e4"]}', "--type", "json")
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(256)))
    talk(*send, "--message-file", path, "--type", "binary")
    value, blob = messages(talk, listening)
    assert (value["type"], value["message"]) == ("json", {"a": [1, "ä"]})
    assert (blob["type"], base64.b64decode(blob["message"])) == ("binary", bytes(range(256)))
    assert (
        talk(*send, "--message", "{", "--type", "json", status=2)["error_code"] == "INVALID_MESSAGE"
    )


def test_one_message_is_waited_for(talk: Talk, port: int) -> None:
    said = talk("listen-once", "--port", port, "--timeout", "0.01")
    assert (said["status"], said["message_count"], said["messages"]) == ("no_message", 0, [])
    found: list[dict[str, Any]] = []
    waiting = threading.Thread(
        target=lambda: found.append(
            talk("listen-once", "--port", port, "--timeout", str(ENOUGH_SECONDS))
        )
    )
    waiting.start()
    _send_when_it_listens(port, b"1:a1:b")
    waiting.join(ENOUGH_SECONDS)
    assert [one["message"] for one in found[0]["messages"]] == ["a"]
    assert found[0]["status"] == "received"
    assert [one["message"] for one in talk("listen-once", "--port", port)["messages"]] == ["b"]
    assert talk("discover") == {"listeners": []}


def _send_when_it_listens(port: int, data: bytes) -> None:
    while True:
        try:
            told(port, data)
        except ConnectionRefusedError:
            continue
        return


def bare_listener(answer: bytes) -> tuple[int, list[bytes], threading.Thread]:
    """One that knows bare frames alone, and says whatever it says."""
    server, received = socket.create_server(("127.0.0.1", 0)), []

    def serve() -> None:
        with server, server.accept()[0] as connection:
            while data := connection.recv(65_536):
                received.append(data)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return server.getsockname()[1], received, thread


def test_a_listener_that_knows_bare_frames_alone_is_sent_to(talk: Talk) -> None:
    port, received, thread = bare_listener(b"")
    said = talk(
        "send", "--to-port", port, "--from-port", 9001, "--message", "Hello, World!", "--bare"
    )
    thread.join(ENOUGH_SECONDS)
    assert b"".join(received) == b"13:Hello, World!"
    assert (said["status"], said["acknowledged"]) == ("sent", False)


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"ok", b"2:ok", b"2:[]", b"99999999:", b'20:{"status": "queued"}', b'21:{"error_code": ["x"]}',
        b'32:{"details": {"code": 1, "a": 2}}', b'18:{"details": "abc"}',
    ],
)  # fmt: skip
def test_what_was_not_acknowledged_is_not_called_sent(talk: Talk, answer: bytes) -> None:
    port, received, thread = bare_listener(answer)
    said = talk("send", "--to-port", port, "--from-port", 9001, "--message", "Hello", status=3)
    thread.join(ENOUGH_SECONDS)
    assert said["error_code"] == "NOT_ACKNOWLEDGED"
    assert b"".join(received).endswith(b"\nHello")


def test_an_answer_that_does_not_come_is_not_waited_for_longer_than_was_said(talk: Talk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = (
            "send",
            "--to-port",
            port,
            "--from-port",
            9001,
            "--message",
            "x",
            "--timeout",
            "0.05",
        )
        assert talk(*words, status=3)["error_code"] == "NOT_ACKNOWLEDGED"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"max_inbox_messages": 0}',
        '{"tls": 1}',
        '{"colour": "red"}',
        '{"max_message_bytes": 9999999}',
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    talk: Talk, home: Path, port: int, text: str
) -> None:
    (home / "config.json").write_text(text)
    assert talk("listen", "start", "--port", port, status=2)["error_code"] == "INVALID_CONFIG"


def test_a_home_that_others_may_write_to_is_refused(talk: Talk, home: Path, port: int) -> None:
    home.chmod(0o777)
    assert talk("discover", status=3)["error_code"] == "UNSAFE_PATH"
    home.chmod(0o700)


def test_the_same_is_behind_the_command_line(
    home: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tersely(["talk", "listen", "start", "--port", str(port), "--json"]) == 0
    assert tersely(["--json", "relay", "talk", "discover"]) == 0
    started, found = map(json.loads, capsys.readouterr().out.splitlines())
    assert [one["pid"] for one in found["listeners"]] == [started["pid"]]
    assert tersely(["talk", "listen", "stop", "--port", str(port), "--json"]) == 0
    assert tersely(["talk", "listen", "stop", "--port", str(port)]) == 1
    assert tersely(["talk", "--help"]) == 0
    assert tersely(["--root", "x", "talk", "discover"]) == 2


def test_the_command_line_answers_in_words(
    home: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        assert tersely(["talk", *words]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    at = str(port)
    assert said("discover") == "none\n"
    assert said("listen", "start", "--port", at, "--name", "ann").startswith(
        f"status started, port {at}, pid "
    )
    assert re.fullmatch(rf"- port {at}, pid \d+, started \S+, name ann\n", said("discover"))
    send = ("send", "--to", "ann", "--from", "ann", "--message", "one\nport 1, now:\x1b[2J")
    assert said(*send).startswith("status sent, ")
    assert "message count 1, unread 1" in said("listen", "status", "--name", "ann")
    count, head, *lines = said("check", "--name", "ann", "--clear").splitlines()
    assert count == f"port {at}, message count 1"
    assert re.match(rf"- timestamp \S+, sender port {at}, id \S+, from ann, to ann", head)
    # a text looks like no head, and steers no terminal
    assert lines == ["    one", "    port 1, now:\\x1b[2J"]
    assert said("check", "--name", "ann") == f"port {at}, message count 0\n"
    assert said("send", "--broadcast", "--from", "ann", "--message", "x", status=1).startswith(
        "LISTENER_NOT_RUNNING: "
    )
    assert said("listen", "stop", "--name", "ann").startswith("status stopped, ")
