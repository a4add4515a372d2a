"""A git that stands before the real one, and holds up whoever asks it."""

from __future__ import annotations

import fcntl
import os
import select
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.doors.mcp.conversing import DEADLINE_SECONDS

# A lock is let go of with whoever has it, also one who is killed; opening a pipe would wait for ever
# for the other end of one who is gone.
_STAND_IN = """
import fcntl, os, sys
git, started, gate = sys.argv[1:4]
try:
    os.write(os.open(started, os.O_WRONLY | os.O_NONBLOCK), b"x")
except OSError:
    sys.exit(1)
fcntl.flock(os.open(gate, os.O_RDONLY), fcntl.LOCK_SH)
os.execv(git, ["git", *sys.argv[4:]])
"""


class HeldGit:
    """What is known of it, by this process."""

    def __init__(self, started: int, gate: int) -> None:
        self._started, self._gate = started, gate

    def wait(self) -> None:
        """Until one has been started."""
        assert select.select([self._started], [], [], DEADLINE_SECONDS)[0], "git was not started"

    def release(self) -> None:
        """Have all of them go on."""
        fcntl.flock(self._gate, fcntl.LOCK_UN)


@contextmanager
def held_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldGit]:
    """A git that says that it was started, and goes on when it is released or this process ends."""
    started, gate, script = folder / "started", folder / "gate", folder / "stand_in.py"
    script.write_text(_STAND_IN)
    os.mkfifo(started)
    gate.touch()
    git = folder / "bin" / "git"
    git.parent.mkdir()
    words = [sys.executable, "-ISE", script, shutil.which("git"), started, gate]
    git.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    told, held = os.open(started, os.O_RDWR), os.open(gate, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield HeldGit(told, held)
    finally:
        os.close(told)
        os.close(held)
