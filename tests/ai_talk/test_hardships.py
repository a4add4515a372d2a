"""Talk where files are shared, removed, odd or missing, and where senders are hostile."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.ai_talk.talking import ENOUGH_SECONDS, Talk, answers, free_port, told
from tests.ai_talk.test_listener import codes, needs_pidfd

from tersely.ai_talk import inbox, listener
from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.messages import MAX_JSON_LEVELS, encode
from tersely.ai_talk.place import TalkPlace


@pytest.fixture
def shared(home: Path, tmp_path: Path) -> tuple[TalkPlace, TalkPlace]:
    """Two places with one message file."""
    found = TalkPlace(home, 9001), TalkPlace(home, 9002)
    for one in found:
        one.file("").mkdir()
        record = {"message_file": str(tmp_path / "shared.jsonl")}
        one.file("listener.json").write_text(json.dumps(record))
    return found


def test_two_listeners_with_one_message_file_lock_each_other_out(
    shared: tuple[TalkPlace, TalkPlace],
) -> None:
    first, second = shared
    inbox.append(first, {"message": "a"}, 9)
    with inbox.taking(first, lambda _: True, None, remove=True):
        appending = threading.Thread(target=inbox.append, args=(second, {"message": "b"}, 9))
        with inbox.changing(first.inbox):
            appending.start()
            appending.join(0.2)
            assert appending.is_alive()
        appending.join(ENOUGH_SECONDS)
    assert [one["message"] for one in inbox.peek(first.inbox)] == ["b"]
    assert not first.file("inbox.lock").exists()


def test_a_callback_goes_where_another_port_took_the_messages(
    shared: tuple[TalkPlace, TalkPlace], talk: Talk
) -> None:
    first, second = shared
    inbox.append(first, {"message": "a"}, 9)
    assert len(talk("check", "--port", second.port)["messages"]) == 1
    talk("check", "--port", first.port, "--unread")
    assert not first.file("callback").exists()


@needs_pidfd
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_waiting_for_one_message_leaves_no_listener_behind(
    talk: Talk, port: int, number: int
) -> None:
    command = [sys.executable, "-m", "tersely.ai_talk", "listen-once", "--port", str(port)]
    waiting = subprocess.Popen([*command, "--timeout", "60"])
    while not (listeners := talk("discover")["listeners"]):
        pass
    assert [one["pid"] for one in listeners] == [waiting.pid]
    waiting.send_signal(number)
    waiting.wait(ENOUGH_SECONDS)
    assert talk("discover") == {"listeners": []}
    assert talk("listen", "start", "--port", port)["status"] == "started"


def typed_json(body: bytes) -> bytes:
    return encode(b'{"v": 1, "type": "json"}\n' + body, is_envelope=True)


def nested(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b"1" + b"]}" * (levels // 2)


@pytest.mark.parametrize("levels", [MAX_JSON_LEVELS + 2, 970, 988])
def test_json_too_deep_for_its_readers_is_refused(talk: Talk, port: int, levels: int) -> None:
    talk("listen", "start", "--port", port)
    said = told(port, typed_json(nested(levels)) + typed_json(nested(MAX_JSON_LEVELS)))
    assert codes(said) == ["INVALID_MESSAGE", "received"]


@pytest.mark.parametrize("number", ["-1", "0", "65536", f"1{'0' * 100}"])
def test_a_header_that_nobody_means_is_answered(listening: int, number: str) -> None:
    data = encode(b'{"v": 1, "from_port": %b}\nx' % number.encode(), is_envelope=True)
    assert codes(told(listening, data)) == ["INVALID_MESSAGE"]


@needs_pidfd
def test_a_listener_whose_files_were_removed_ends(home: Path, talk: Talk, listening: int) -> None:
    process = os.pidfd_open(TalkPlace(home, listening).pid or 0)
    shutil.rmtree(home / str(listening))
    with suppress(OSError):  # one that has looked meanwhile is gone, or goes without an answer
        assert codes(told(listening, b"1:a")) in (["STORAGE_FAILED"], [])
    assert select.select([process], [], [], ENOUGH_SECONDS)[0]
    os.close(process)
    assert talk("listen", "start", "--port", listening)["status"] == "started"


@pytest.mark.parametrize("kind", ["file", "link", "pid"])
def test_what_is_odd_in_the_home_is_passed_over(
    talk: Talk, home: Path, listening: int, kind: str
) -> None:
    odd = home / str(free_port())
    if kind == "file":
        odd.touch()
    elif kind == "link":
        odd.mkdir()
        (odd / "listener.pid").symlink_to(home / str(listening) / "listener.pid")
    else:
        (odd / "listener.pid").mkdir(parents=True)
    assert [one["port"] for one in talk("discover")["listeners"]] == [listening]


def test_one_object_is_printed_where_messages_could_not_be_marked_as_shown(
    talk: Talk, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = TalkPlace(home, 9001)
    at.file("").mkdir()
    inbox.append(at, {"message": "a"}, 9)

    def fail(*_: object) -> None:
        raise TalkError("INBOX_BUSY", "another process holds it")

    monkeypatch.setattr(inbox, "replace", fail)
    assert texts_of(talk("check", "--port", 9001, "--clear", status=3)) == ["a"]
    monkeypatch.undo()
    assert inbox.is_unread(inbox.peek(at.inbox)[0])


def texts_of(said: dict[str, Any]) -> list[Any]:
    return [one["message"] for one in said["messages"]]


@pytest.mark.parametrize("file", ["missing/x", "."])
def test_a_message_file_that_cannot_be_is_refused_at_the_start(
    talk: Talk, tmp_path: Path, port: int, file: str
) -> None:
    start = ("listen", "start", "--port", port, "--message-file", tmp_path / file)
    assert talk(*start, status=3)["error_code"] == "STORAGE_FAILED"
    assert talk("discover") == {"listeners": []}


def test_a_message_that_could_not_be_written_makes_no_callback(home: Path) -> None:
    at = TalkPlace(home, 9001)
    at.file("").mkdir()
    os.mkfifo(at.inbox)
    with pytest.raises(OSError, match="inbox"):
        inbox.append(at, {"message": "a"}, 9)
    assert not at.file("callback").exists()


def test_openssl_is_loaded_before_a_listener_is_reached(
    talk: Talk, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "tersely.ai_talk.tls"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(name, raising=False)
    send = ("send", "--to-port", port, "--from-port", 9001, "--message", "x", "--tls")
    assert talk(*send, status=3)["error_code"] == "CONNECTION_REFUSED"
    assert name in sys.modules


def test_a_silent_connection_is_told_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "FRAME_SECONDS", 0.01)
    one, other = socket.socketpair()

    async def served() -> None:
        reader, writer = await asyncio.open_connection(sock=other)
        await listener.Listener(TalkPlace(home, 9001), listener.Limits())._converse(
            reader, writer, 0.0
        )

    with one:
        asyncio.run(served())
        assert codes(answers(one)) == ["CONNECTION_TIMEOUT"]
