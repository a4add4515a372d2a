"""A relay of its own in a process of its own, and what the system says of that process."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.process import cpu_seconds
from tersely.relay.relay import HomeToken


class Served(NamedTuple):
    """One server."""

    pid: int
    port: int
    token: str

    def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> bytes:
        """A request as it is sent."""
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}",
        ]
        if body:
            lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask once."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return json.loads(connection.getresponse().read())


def up(home: Path) -> Served:
    """A relay that serves a home."""
    environment = {**os.environ, "TERSELY_HOME": str(home)}
    command = [sys.executable, "-m", "tersely", "up", "--root", str(home.parent)]
    done = subprocess.run([*command, "--json"], env=environment, check=True, capture_output=True)
    found = json.loads(done.stdout)["result"]
    port = urlsplit(found["url"]).port
    assert port is not None
    return Served(found["pid"], port, HomeToken(home).text())


def kill(served: Served) -> None:
    """End it as a crash would."""
    with suppress(ProcessLookupError):
        os.kill(served.pid, signal.SIGKILL)
        while Path(f"/proc/{served.pid}").exists():
            time.sleep(0.01)


@contextmanager
def bare() -> Iterator[Served]:
    """The floor."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.relay.bare"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Served(process.pid, int(process.stdout.readline()), "none")
        finally:
            process.kill()


def load(
    served: Served, requests: list[bytes], connections: int, seconds: float
) -> dict[str, float]:
    """Answers a second, and microseconds of processor time that each took the server."""
    command = [
        sys.executable,
        "-m",
        "bench.relay.load",
        str(served.port),
        str(connections),
        str(seconds),
    ]
    lines = "\n".join(json.dumps(one.decode()) for one in requests)
    before = cpu_seconds(served.pid)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    answered, failed = json.loads(done.stdout)
    assert not failed, f"{failed} of {answered} requests failed"
    return {
        "per_second": answered / seconds,
        "cpu_us": (cpu_seconds(served.pid) - before) / answered * 1e6,
    }
