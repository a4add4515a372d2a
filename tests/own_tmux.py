"""A program in a terminal of tmux, as a user starts it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.wrap.conftest import wait_for


class Terminal:
    """One window, of a tmux server of its own."""

    def __init__(self, folder: Path, **variables: str) -> None:
        places = {"TMUX_TMPDIR": str(folder), "TERSELY_HOME": str(folder / "home")}
        self.environment = {
            **os.environ,
            **places,
            "TERSELY_DAEMON": "off",
            "TERM": "xterm-256color",
            **variables,
        }
        for name in ("TMUX", "NO_COLOR"):
            self.environment.pop(name, None)

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", *words], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def start(self, command: str, folder: Path, columns: int = 80, rows: int = 24) -> None:
        size = ("-x", str(columns), "-y", str(rows))
        self.tmux("new-session", "-d", "-s", "one", *size, "-c", str(folder), command)

    def keys(self, *keys: str) -> None:
        self.tmux("send-keys", "-t", "one", *keys)

    def text(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "one")

    def coloured(self) -> str:
        """The screen with the sequences that colour it."""
        return self.tmux("capture-pane", "-p", "-e", "-t", "one")

    def shows(self, words: str) -> str:
        try:
            return wait_for(lambda: text if words in (text := self.text()) else "")
        except AssertionError:
            raise AssertionError(f"{words!r} has not come:\n{self.text()}") from None
