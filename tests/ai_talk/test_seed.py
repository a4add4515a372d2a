"""The design of ai-talk from its first page to its last, with a copy of the folder `ai_talk` in an
empty place.

Everything runs as its users run it: one process a command, by a Python that sees no installed
packages.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.ai_talk.talking import ENOUGH_SECONDS, answers, free_port

ROOT = Path(__file__).parents[2]
PYTHON = (sys.executable, "-I", "-S")
PAGE = (ROOT / "docs" / "talk.md").read_text("utf-8")
SESSIONS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# The order in which the two terminals of the page can have been typed into.
ORDER = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (0, 2)]
MEGABYTE = 1_048_576
INBOX_MESSAGES = 100
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Copy(NamedTuple):
    """The folder in an empty place, and how it is run there."""

    place: Path
    program: tuple[str, ...]

    def run(self, *words: object, status: int = 0) -> dict[str, Any]:
        """The one object that a command prints."""
        command = [*self.program, *map(str, words)]
        done = subprocess.run(
            command, cwd=self.place, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (status, ""), done.stdout
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    def send(
        self, to: int, sender: int, message: str, *words: str, status: int = 0
    ) -> dict[str, Any]:
        """Send a text."""
        return self.run(
            "send", "--to-port", to, "--from-port", sender, "--message", message, *words, status=status
        )  # fmt: skip

    def texts(self, port: int, *words: object) -> list[Any]:
        """What `check` shows."""
        return [one["message"] for one in self.run("check", "--port", port, *words)["messages"]]


@pytest.fixture
def copy(tmp_path: Path, home: Path) -> Copy:
    """A folder that has `ai_talk` alone, under another name."""
    place = tmp_path / "empty"
    shutil.copytree(
        ROOT / "src" / "tersely" / "ai_talk", place / "ai-talk", ignore=shutil.ignore_patterns("__pycache__")
    )  # fmt: skip
    return Copy(place, (*PYTHON, "ai-talk"))


@pytest.fixture
def ports(copy: Copy) -> Iterator[tuple[int, int]]:
    """Two listeners."""
    found = free_port(), free_port()
    for port in found:
        copy.run("listen", "start", "--port", port)
    return found


@pytest.fixture
def checkout(tmp_path: Path, home: Path) -> Path:
    """What the scripts need of a checkout."""
    place = tmp_path / "checkout"
    shutil.copytree(ROOT / "scripts", place / "scripts")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        ROOT / "src" / "tersely" / "ai_talk", place / "src" / "tersely" / "ai_talk", ignore=ignored
    )
    return place


def raw(port: int, data: bytes) -> list[dict[str, Any]]:
    """What is answered to bytes."""
    with socket.create_connection(("127.0.0.1", port), ENOUGH_SECONDS) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return answers(connection)


# Message Format


def test_a_message_is_framed_by_its_length(copy: Copy, ports: tuple[int, int]) -> None:
    assert raw(ports[0], b"13:Hello, World!")[0]["status"] == "received"
    with socket.create_server(("127.0.0.1", 0)) as server:
        copy.send(server.getsockname()[1], ports[0], "Grüße", "--bare")
        with server.accept()[0] as connection:
            assert connection.recv(100) == b"7:Gr\xc3\xbc\xc3\x9fe"
    assert copy.texts(ports[0]) == ["Hello, World!"]


# Scripts: listen, check, send, discover


def test_a_listener_is_started_looked_at_found_and_stopped(
    copy: Copy, home: Path, port: int
) -> None:
    assert copy.run("listen", "status", "--port", port)["status"] == "not_running"
    started = copy.run("listen", "start", "--port", port)
    folder = home / str(port)
    assert started["status"] == "started"
    assert (started["port"], started["message_file"]) == (port, str(folder / "inbox.jsonl"))
    assert (folder / "listener.pid").read_text().strip() == str(started["pid"])
    status = copy.run("listen", "status", "--port", port)
    assert (status["status"], status["pid"], status["message_count"]) == (
        "running",
        started["pid"],
        0,
    )
    (found,) = copy.run("discover")["listeners"]
    assert found == {"port": port, "pid": started["pid"], "started": started["started"]}
    assert SECOND.fullmatch(found["started"])
    assert copy.run("listen", "stop", "--port", port) == {
        "status": "stopped",
        "port": port,
        "pid": started["pid"],
    }
    assert copy.run("discover") == {"listeners": []}
    assert not (folder / "listener.pid").exists()


def test_messages_go_to_another_file_where_that_is_asked(copy: Copy, port: int) -> None:
    path = copy.place / "elsewhere.jsonl"
    started = copy.run("listen", "start", "--port", port, "--message-file", path)
    assert started["message_file"] == str(path)
    copy.send(port, 9001, "a")
    assert json.loads(path.read_text())["message"] == "a"


def test_two_agents_write_to_each_other(copy: Copy, home: Path, ports: tuple[int, int]) -> None:
    first, second = ports
    sent = copy.send(second, first, "Hello, AI-B! ä")
    assert sent["status"] == "sent"
    assert (sent["to_port"], sent["from_port"], sent["message_length"]) == (second, first, 15)
    assert STAMP.fullmatch(sent["timestamp"])
    (copy.place / "text").write_text("from a file")
    copy.run(
        "send", "--to-port", second, "--from-port", first, "--message-file", "text", "--timeout", 20
    )
    (line, _) = map(json.loads, (home / str(second) / "inbox.jsonl").read_text().splitlines())
    assert (line["sender_port"], line["message"]) == (first, "Hello, AI-B! ä")
    said = copy.run("check", "--port", second, "--limit", 1, "--clear")
    assert (said["port"], said["message_count"]) == (second, 1)
    (message,) = said["messages"]
    assert (message["sender_port"], message["message"]) == (first, "Hello, AI-B! ä")
    assert STAMP.fullmatch(message["timestamp"])
    assert copy.texts(second) == copy.texts(second) == ["from a file"]
    assert copy.texts(second, "--clear") == ["from a file"]
    assert copy.texts(second) == []
    (logged, _) = map(json.loads, (home / str(first) / "outbox.jsonl").read_text().splitlines())
    assert (logged["to_port"], logged["message"]) == (second, "Hello, AI-B! ä")


# Non-Blocking Design


def test_one_message_is_waited_for_no_longer_than_is_said(copy: Copy, port: int) -> None:
    said = copy.run("listen-once", "--port", port, "--timeout", "0.01")
    assert (said["status"], said["message_count"], said["messages"]) == ("no_message", 0, [])
    waiting = subprocess.Popen(
        [*copy.program, "listen-once", "--port", str(port), "--timeout", "20"],
        cwd=copy.place, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    while True:
        try:
            raw(port, b"6:answer")
        except ConnectionRefusedError:
            continue
        break
    said = json.loads(waiting.communicate(timeout=ENOUGH_SECONDS)[0])
    assert (said["status"], said["messages"][0]["message"]) == ("received", "answer")


def test_a_callback_file_exists_while_messages_wait(
    copy: Copy, home: Path, ports: tuple[int, int]
) -> None:
    callback = home / str(ports[0]) / "callback"
    assert not callback.exists()
    copy.send(ports[0], ports[1], "a")
    assert callback.exists()
    copy.run("check", "--port", ports[0])
    assert not callback.exists()


# Data Storage and Security Considerations


def test_everything_is_kept_in_one_folder_of_the_user(
    copy: Copy, home: Path, ports: tuple[int, int]
) -> None:
    copy.send(ports[1], ports[0], "a")
    assert home == Path.home() / ".ai-talk"
    kept = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert {f"{port}/listener.pid" for port in ports} <= kept
    assert {f"{ports[1]}/inbox.jsonl", f"{ports[1]}/callback", f"{ports[0]}/outbox.jsonl"} <= kept
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    (home / "config.json").write_text('{"max_inbox_messages": 1}')
    copy.run("listen", "stop", "--port", ports[0])
    copy.run("listen", "start", "--port", ports[0])
    assert [one.get("error_code") for one in raw(ports[0], b"1:a1:b")] == [None, "INBOX_FULL"]


@pytest.mark.skipif(sys.platform != "linux", reason="the system has one address of its own only")
def test_a_listener_binds_to_this_machine_alone(ports: tuple[int, int]) -> None:
    with socket.socket() as another:  # the port is free at other addresses
        another.bind(("127.0.0.2", ports[0]))


def test_messages_inboxes_and_connections_are_bounded(
    copy: Copy, home: Path, ports: tuple[int, int]
) -> None:
    assert raw(ports[0], b"%d:" % (MEGABYTE + 1))[0]["error_code"] == "MESSAGE_TOO_LARGE"
    said = raw(ports[0], b"1:a" * (INBOX_MESSAGES + 1))
    assert [one.get("error_code") for one in said] == [None] * INBOX_MESSAGES + ["INBOX_FULL"]
    (home / "config.json").write_text('{"connections_per_second": 1, "connection_burst": 1}')
    copy.run("listen", "stop", "--port", ports[1])
    copy.run("listen", "start", "--port", ports[1])
    codes = [raw(ports[1], b"1:a")[0].get("error_code") for _ in range(3)]
    assert "RATE_LIMITED" in codes


# Error Handling


def test_every_error_has_its_code_a_sentence_and_details(
    copy: Copy, ports: tuple[int, int]
) -> None:
    nobody = free_port()
    said = copy.send(nobody, 9001, "x", status=3)
    assert said == {
        "status": "error",
        "error_code": "CONNECTION_REFUSED",
        "error_message": f"Could not connect to port {nobody}: Connection refused",
        "details": {"port": nobody, "timeout": 10},
    }
    (copy.place / "large").write_bytes(b"x" * (MEGABYTE + 1))
    large = ("send", "--to-port", ports[0], "--from-port", 9001, "--message-file", "large")
    failures = [
        ("PORT_IN_USE", 3, ("listen", "start", "--port", ports[0])),
        ("INVALID_PORT", 2, ("listen", "start", "--port", 1024)),
        ("INVALID_PORT", 2, ("send", "--to-port", 70_000, "--from-port", 9001, "--message", "x")),
        ("LISTENER_NOT_RUNNING", 1, ("listen", "stop", "--port", nobody)),
        ("MESSAGE_TOO_LARGE", 2, large),
    ]
    for code, status, words in failures:
        said = copy.run(*words, status=status)
        assert (said["status"], said["error_code"], set(said)) == (
            "error", code, {"status", "error_code", "error_message", "details"},
        )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue refuses connections elsewhere")
def test_a_connection_that_is_not_accepted_times_out(copy: Copy) -> None:
    with socket.socket() as server, socket.socket() as filler, socket.socket() as another:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port = server.getsockname()[1]
        for one in (filler, another):
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        assert (
            copy.send(port, 9001, "x", "--timeout", "0.2", status=3)["error_code"]
            == "CONNECTION_TIMEOUT"
        )


# Future Enhancements


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no program makes certificates")
def test_messages_are_encrypted_where_the_listener_asks_it(
    copy: Copy, home: Path, port: int
) -> None:
    copy.run("listen", "start", "--port", port, "--tls")
    copy.send(port, 9001, "a secret")
    assert copy.texts(port) == ["a secret"]
    assert raw(port, b"1:a") == []
    context = ssl.create_default_context(cafile=str(home / "tls" / "cert.pem"))
    with context.wrap_socket(
        socket.create_connection(("127.0.0.1", port)), server_hostname="localhost"
    ) as connection:
        assert connection.version() in {"TLSv1.2", "TLSv1.3"}


def test_messages_have_types_threads_and_receipts(copy: Copy, ports: tuple[int, int]) -> None:
    first, second = ports
    (copy.place / "bytes").write_bytes(b"\x00\xff")
    asked = copy.send(second, first, '{"a": 1}', "--type", "json", "--thread", "tea", "--receipt")
    assert asked["acknowledged"] is True
    binary = (
        "send",
        "--to-port",
        second,
        "--from-port",
        first,
        "--message-file",
        "bytes",
        "--type",
        "binary",
    )
    copy.run(*binary)
    copy.send(second, first, "with milk", "--thread", "tea", "--reply-to", asked["id"])
    assert copy.texts(second, "--thread", "tea") == [{"a": 1}, "with milk"]
    shown = copy.run("check", "--port", second)["messages"]
    assert [one.get("type", "text") for one in shown] == ["json", "binary", "text"]
    assert shown[2]["reply_to"] == shown[0]["id"] == asked["id"]
    assert shown[1]["message"] == "AP8="
    (receipt,) = copy.run("check", "--port", first)["messages"]
    assert (receipt["type"], receipt["reply_to"]) == ("receipt", asked["id"])
    assert receipt["sender_port"] == second


def test_one_message_goes_to_all_and_listeners_have_names(
    copy: Copy, ports: tuple[int, int]
) -> None:
    named = copy.run("listen", "start", "--name", "cleo")["port"]
    said = copy.run("send", "--broadcast", "--from", "cleo", "--message", "to all")
    assert (said["status"], {one["to_port"] for one in said["sent"]}) == ("sent", set(ports))
    copy.run("send", "--to", "cleo", "--from-port", ports[0], "--message", "to one")
    assert copy.texts(named) == ["to one"]
    assert [copy.texts(port) for port in ports] == [["to all"]] * 2
    assert "cleo" in {one.get("name") for one in copy.run("discover")["listeners"]}


# Dependencies and Example Session


def typed(session: str) -> list[tuple[list[str], dict[str, Any]]]:
    """(words after `uv run`, what is shown) of each command of a session."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]]
    return [(shlex.split(command)[2:], json.loads(shown)) for command, _, shown in parts]


def shows(said: Any, shown: Any, ports: dict[str, str]) -> bool:
    """Whether an answer has all that is shown of it; ports and processes are others."""
    if isinstance(shown, dict):
        return all(
            name == "pid" or shows(said[name], value, ports) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return len(said) == len(shown) and all(
            shows(one, other, ports) for one, other in zip(said, shown, strict=True)
        )
    return str(said) == ports.get(str(shown), str(shown))


def test_the_example_session_goes_as_it_stands_there(checkout: Path) -> None:
    terminals = [typed(session) for session in SESSIONS]
    assert [len(commands) for commands in terminals] == [3, 3]
    ports = {"9001": str(free_port()), "9002": str(free_port())}  # those of the page may be in use
    for terminal, number in ORDER:
        words, shown = terminals[terminal][number]
        script, *rest = [ports.get(word, word) for word in words]
        said = Copy(checkout, (*PYTHON, script)).run(*rest)
        assert shows(said, shown, ports), said


def test_there_is_a_script_for_every_command(checkout: Path) -> None:
    for name in ("listen", "check", "send", "discover", "listen-once"):
        path = checkout / "scripts" / f"{name}.py"
        done = subprocess.run(
            [*PYTHON, str(path), "--help"], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith(f"usage: {name}.py")
        assert os.access(path, os.X_OK)
        assert "# dependencies = []" in path.read_text()


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_uv_runs_the_scripts(checkout: Path) -> None:
    command = ("uv", "run", "--offline", "--python", sys.executable, "scripts/discover.py")
    assert Copy(checkout, command).run() == {"listeners": []}
