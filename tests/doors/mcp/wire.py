"""Talking to a server line by line, for what the official client never says. Every wait has a
deadline.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.doors.mcp.conversing import COMMAND, DEADLINE_SECONDS

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """The standard streams of a server."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._input = process.stdin
        self._output = process.stdout
        self._received = b""

    def send(self, *messages: Any) -> None:
        self.send_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in messages))

    def send_bytes(self, sent: bytes) -> None:
        self._input.write(sent)
        self._input.flush()

    def receive(self) -> Any:
        while b"\n" not in self._received:
            assert select.select([self._output], [], [], DEADLINE_SECONDS)[0], (
                "the server says nothing"
            )
            part = os.read(self._output.fileno(), 1_000_000)
            assert part, "the server has ended"
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)

    def ask(self, request_id: int | str, method: str, **params: Any) -> Any:
        self.send(request(request_id, method, **params))
        return self.receive()

    def shake_hands(self, version: str = "2025-11-25", **capabilities: Any) -> Any:
        client = {"name": "test", "version": "1"}
        answer = self.ask(
            "hello",
            "initialize",
            protocolVersion=version,
            capabilities=capabilities,
            clientInfo=client,
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def close(self) -> int:
        """Close its input; the exit status."""
        self._input.close()
        return self.process.wait(DEADLINE_SECONDS)


def request(request_id: int | str, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


@contextmanager
def wired(*words: str, cwd: Path | None = None) -> Iterator[Wire]:
    """A server of its own, gone at the end."""
    command = [sys.executable, *COMMAND, *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()
