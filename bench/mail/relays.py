"""A relay that is killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Protocol, Self

from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.relay.policy import CONFIG
from tersely.relay.wire.home import socket_path

START_SECONDS = 60
NO_REMOTE = ""  # no address for other machines
TURNS = 1_000_000_000  # its clients answer each other as fast as they can


class Relays(Protocol):
    """One relay or several that run, any of which takes any client."""

    happened: Counter[str]  # how often which harm was done

    @property
    def homes(self) -> list[Path]:
        """Where they are found."""

    def harm(self) -> None:
        """Have something happen that crashes do, and have all in order again afterwards."""


class Alone:
    """One relay on SQLite, which is killed; it runs while this is entered."""

    def __init__(self, home: Path) -> None:
        self.happened: Counter[str] = Counter()
        self._relay = Killed(home)

    @property
    def homes(self) -> list[Path]:
        """Its home."""
        return [self._relay.home]

    def __enter__(self) -> Self:
        self._relay.up()
        return self

    def __exit__(self, *_: object) -> None:
        self._relay.kill()

    def harm(self) -> None:
        """Kill it and start it again."""
        self.happened["a relay is killed"] += 1
        self._relay.kill()
        self._relay.up()


class Killed:
    """The process that serves a home, as `tersely up` starts it; with a `url`, on that database."""

    def __init__(self, home: Path, url: str = "") -> None:
        self.home = home
        self.pid = 0
        self._url = url
        self._process: subprocess.Popen[bytes] | None = None
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / CONFIG).write_text(f"turns = {TURNS}\nmessages_per_minute = {TURNS}\n")

    def up(self) -> None:
        """Start it, and wait until it listens; raises `RuntimeError` where it never does."""
        reading, writing = os.pipe()
        arguments = [
            str(self.home),
            "0",
            str(self.home.parent),
            ANSWER_WORDS,
            NO_REMOTE,
            str(writing),
        ]
        code = "import sys; from tersely.doors.relay_process import main; main(*sys.argv[1:])"
        environment: dict[str, Any] = {**os.environ, "TERSELY_HOME": str(self.home)}
        environment["TERSELY_STORE"] = self._url or "none"
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], pass_fds=(writing,), env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(writing)
        self._process = process
        self.pid = process.pid
        with open(reading, "rb") as told:
            told.read()
        watch = time.monotonic()
        while not _listens(socket_path(self.home)):
            if process.poll() is not None or time.monotonic() - watch > START_SECONDS:
                raise RuntimeError("the relay does not start")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it as a crash does, where it runs."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as tried:
        return tried.connect_ex(str(path)) == 0
