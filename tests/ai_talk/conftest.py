"""What the tests of talk share: a home of their own, whose listeners end with the test, and the
commands.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ai_talk.talking import Talk, free_port

from tersely.ai_talk import listener, place
from tersely.ai_talk.commands import main
from tersely.ai_talk.place import TalkPlace


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`~/.ai-talk` of this test alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    found = place.made(tmp_path / ".ai-talk")
    yield found
    for one in place.live(found):
        listener.stop(TalkPlace(found, one["port"]))


@pytest.fixture
def talk(home: Path, capsys: pytest.CaptureFixture[str]) -> Talk:
    """A command, and what it prints: one object."""

    def asked(*words: object, status: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        ended = main([str(word) for word in words])
        printed = capsys.readouterr().out
        assert ended == status, printed
        said: dict[str, Any] = json.loads(printed)
        return said

    return asked


@pytest.fixture
def port(home: Path) -> int:
    """A port that nobody uses."""
    return free_port()


@pytest.fixture
def listening(talk: Talk, port: int) -> int:
    """A port with a listener."""
    talk("listen", "start", "--port", port)
    return port


@pytest.fixture
def connection(listening: int) -> Iterator[socket.socket]:
    """A connection to a listener."""
    with socket.create_connection(("127.0.0.1", listening), 20) as connected:
        yield connected
