"""What a program that is run has where there is no tmux."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.relay_home import Home
from tests.wrap.conftest import PATIENCE_SECONDS


def run(relay: Home, folder: Path, program: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tersely", "run", "--no-start", "--no-brief", "--", str(program)]
    environment = {**os.environ, **relay.environment, "PATH": str(folder)}
    return subprocess.run(
        words, cwd=relay.root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\necho it runs\nexit 7\n")
    path.chmod(0o755)
    return path


def test_one_without_hooks_is_not_run_and_it_is_said_why(relay: Home, tmp_path: Path) -> None:
    done = run(relay, tmp_path, program(tmp_path, "anything"))
    assert "it runs" not in done.stdout
    assert "program_failed: tmux is not installed" in done.stderr


def test_one_with_hooks_is_run_and_not_read(relay: Home, tmp_path: Path) -> None:
    done = run(relay, tmp_path, program(tmp_path, "gemini"))
    assert (done.returncode, "it runs" in done.stdout) == (7, True)
    assert "what it showed was not read" in done.stderr
