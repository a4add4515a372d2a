"""What runs on Windows, with what Windows lacks hidden."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
PROGRAM = (
    f"import sys; sys.path.insert(0, {str(TESTS)!r}); import windows; windows.hide(); "
    "from tersely.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
# long enough that a packet is worth more than the file
OTHERS = "".join(
    f"\n\ndef other_{number}(first, second):\n    return first + second\n" for number in range(150)
)
SOURCE = {
    "shop.py": f"def price():\n    return 1\n\n\ndef bill():\n    return price()\n{OTHERS}",
    "inner/till.py": "from shop import bill\n\n\ndef ring():\n    return bill()\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    for path, text in SOURCE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """What Windows sets."""
    state, home = tmp_path / "state", tmp_path / "home"
    state.mkdir()
    home.mkdir()
    return {
        "LOCALAPPDATA": str(state),
        "TEMP": str(state),
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
    }


def run(
    root: Path, environment: Mapping[str, str], *words: str, given: str = ""
) -> tuple[int, str]:
    """The exit status and all that `tersely WORDS…` prints."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], check=False, cwd=root, env=dict(environment), input=given, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_code_is_indexed_and_asked(repository: Path, environment: Mapping[str, str]) -> None:
    status, told = run(repository, environment, "index")
    assert (status, "2 files" in told) == (0, True)
    assert "bill" in run(repository, environment, "symbol", "callers", "price")[1]
    assert "return price()" in run(repository, environment, "context", "bill", "--budget", "300")[1]
    assert "inner/till.py" in run(repository, environment, "plan", "mend", "ring")[1]


def test_a_daemon_answers_at_a_port_whose_secret_its_file_names(
    repository: Path, environment: Mapping[str, str]
) -> None:
    assert run(repository, environment, "daemon", "start")[0] == 0
    try:
        status = json.loads(run(repository, environment, "daemon", "status", "--json")[1])
        assert "bill" in run(repository, environment, "symbol", "callers", "price")[1]
        place = Path(status["result"]["socket"])
        port, secret = place.read_text().split(" ")
        assert place.stat().st_mode & 0o077 == 0
        assert asked_at(int(port), b"0" * len(secret)) == b""
        assert b"success" in asked_at(int(port), secret.encode())
    finally:
        assert run(repository, environment, "daemon", "stop")[0] == 0
    assert not place.exists()


def asked_at(port: int, secret: bytes) -> bytes:
    """The reply to whoever connects and begins with a secret; b"" for one who is turned away."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        try:
            wire.sendall(secret + b'{"cmd": "status"}\n')
            return wire.recv(10_000)
        except ConnectionError:
            return b""


def test_tools_are_served_to_agents(repository: Path, environment: Mapping[str, str]) -> None:
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    question = {"name": "impact", "arguments": {"symbol": "price"}}
    calls = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": question},
    ]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mcp"],
        cwd=repository,
        env={**environment, "TERSELY_DAEMON": "off"},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for call in calls:
            process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.wait() == 0
    assert "inner/till.py" in json.dumps(replies[1])


def test_a_prompt_gets_its_packet(repository: Path, environment: Mapping[str, str]) -> None:
    run(repository, environment, "index")
    call = {
        "hook_event_name": "UserPromptSubmit",
        "prompt": "`bill()` in shop.py gives the wrong price",
        "cwd": str(repository),
        "session_id": "1",
    }
    told = run(
        repository, environment, "hook", "prompt", "--agent", "claude", given=json.dumps(call)
    )[1]
    assert "shop.py" in told


@pytest.mark.parametrize(
    "words", [("up",), ("relay", "status"), ("chat", "-p", "x"), ("run", "claude")]
)
def test_what_needs_more_says_so(
    repository: Path, environment: Mapping[str, str], words: tuple[str, ...]
) -> None:
    status, told = run(repository, environment, *words)
    assert status != 0
    assert told.startswith("system_unsupported: ")
    assert "Windows Subsystem for Linux" in told
