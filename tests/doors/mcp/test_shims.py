"""Servers are small, however many there are, and end with whoever has started them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.daemon.asking import wait_for_end
from tests.doors.mcp.conversing import COMMAND, DEADLINE_SECONDS
from tests.doors.mcp.held_git import HeldGit, held_git
from tests.doors.mcp.wire import request, wired
from tests.repositories import initialized

from tersely.daemon import lifecycle

SHIMS = 8
MOST_RESIDENT_BYTES = 40_000_000


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])
        * 1024
    )


def children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the memory")
def test_many_clients_share_one_daemon(shop: Path) -> None:
    with ExitStack() as stack:
        wires = [stack.enter_context(wired()) for _ in range(SHIMS)]
        for wire in wires:
            client = {"name": "test", "version": "1"}
            wire.send(
                request(
                    0,
                    "initialize",
                    protocolVersion="2025-11-25",
                    capabilities={},
                    clientInfo=client,
                ),
                request(1, "tools/list"),
                request(2, "tools/call", name="symbol_get", arguments={"symbol": "format_cents"}),
            )
        for wire in wires:
            answers = [wire.receive() for _ in range(3)]
            assert [one["id"] for one in answers] == [0, 1, 2]
            assert "def format_cents" in answers[2]["result"]["content"][0]["text"]
        assert [one["project"] for one in lifecycle.running()] == [str(shop)]
        assert max(resident_bytes(wire.process.pid) for wire in wires) <= MOST_RESIDENT_BYTES
        assert [children(wire.process.pid) for wire in wires] == [[]] * SHIMS
        assert [wire.close() for wire in wires] == [0] * SHIMS


@pytest.fixture
def git(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldGit]:
    initialized(shop)
    with held_git(tmp_path, monkeypatch) as held:
        yield held


# Starts a server on the descriptors that it is given, says its number, and ends when it is told to.
PARENT = """
import subprocess, sys
server = subprocess.Popen(sys.argv[3:], stdin=int(sys.argv[1]), stdout=int(sys.argv[2]))
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("is_busy", [False, True])
def test_it_ends_with_its_parent_though_its_input_stays_open(
    shop: Path, request_in: tuple[int, int], git: HeldGit, is_busy: bool
) -> None:
    incoming, outgoing = os.pipe()
    command = [
        sys.executable,
        "-c",
        PARENT,
        str(request_in[0]),
        str(outgoing),
        sys.executable,
        *COMMAND,
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[request_in[0], outgoing]
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.write(request_in[1], b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert select.select([incoming], [], [], DEADLINE_SECONDS)[0]
        if is_busy:
            client = b'"clientInfo":{"name":"t","version":"1"}'
            hello = b'"params":{"protocolVersion":"2025-11-25","capabilities":{},' + client + b"}"
            os.write(
                request_in[1], b'{"jsonrpc":"2.0","id":2,"method":"initialize",' + hello + b"}\n"
            )
            call = b'"params":{"name":"map","arguments":{}}'
            os.write(
                request_in[1], b'{"jsonrpc":"2.0","id":3,"method":"tools/call",' + call + b"}\n"
            )
            git.wait()
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(DEADLINE_SECONDS)
        wait_for_end(pid)
    os.close(incoming)
    os.close(outgoing)


@pytest.fixture
def request_in() -> Iterator[tuple[int, int]]:
    """A pipe whose both ends this process holds."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_it_ends_in_the_middle_of_a_request_when_its_input_is_closed(
    shop: Path, git: HeldGit
) -> None:
    with wired() as wire:
        wire.shake_hands()
        wire.send(request(1, "tools/call", name="map", arguments={}))
        git.wait()
        assert wire.close() == 0


def test_it_ends_when_nobody_reads_what_it_says(shop: Path) -> None:
    with wired() as wire:
        wire.shake_hands()
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.send(request(1, "ping"))
        assert wire.process.wait(DEADLINE_SECONDS) == 0
