"""A relay that is killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tersely.cli.daemon import ANSWER_WORDS
from tersely.doors.socket.socket_paths import socket_path
from tersely.relay.policy import CONFIG

START_SECONDS = 60
NO_REMOTE = ""  # no address for other machines
TURNS = 1_000_000_000  # its clients answer each other as fast as they can


class Killed:
    """The process that serves a home, as `tersely up` starts it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.pid = 0
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
        """End it as a crash does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as tried:
        return tried.connect_ex(str(path)) == 0
