"""A daemon of a small repository, and talking to it over its socket."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tersely.daemon import lifecycle
from tersely.daemon.place import Place

DEADLINE_SECONDS = 60
ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
IDLE_SECONDS = 600


class Talk:
    """One connection. Every wait has a deadline."""

    def __init__(self, root: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(DEADLINE_SECONDS)
        self._socket.connect(Place.of(str(root)).socket)
        self._file = self._socket.makefile("rb")

    def send(self, **request: Any) -> None:
        self.send_bytes(json.dumps(request).encode() + b"\n")

    def send_bytes(self, sent: bytes) -> None:
        self._socket.sendall(sent)

    def receive(self) -> dict[str, Any]:
        line = self._file.readline()
        assert line.endswith(b"\n"), "the daemon has hung up"
        reply = json.loads(line)
        assert isinstance(reply, dict)
        return reply

    def skip_receipt(self) -> None:
        """Read what says that a question in words has been received."""
        assert self._file.readline() == b"\n"

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        return self.receive()

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def serving(root: Path) -> Iterator[dict[str, Any]]:
    """A daemon for as long as the block runs; its status."""
    yield lifecycle.start(str(root), ANSWER_WORDS, IDLE_SECONDS).status
    lifecycle.stop(str(root))


def wait_for_end(pid: int) -> None:
    """Return when a process has ended; it need not be our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], DEADLINE_SECONDS)[0], (
            f"process {pid} has not ended"
        )
    finally:
        os.close(descriptor)
