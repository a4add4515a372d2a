"""`tersely` as a user starts it: a process of its own, against a server of models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def environment(root: Path, url: str) -> dict[str, str]:
    """The environment of a command about a repository, with sessions of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    own = {
        "TERSELY_HOME": str(root.parent / "home"),
        "TERSELY_DAEMON": "off",
        "TERSELY_CHAT_URL": url,
    }
    return {**os.environ, **own, "PYTHONPATH": path}


def ran(
    root: Path, url: str, words: Sequence[str], **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """A command that has ended."""
    command = [sys.executable, "-m", "tersely", *words]
    return subprocess.run(
        command, cwd=root, env=environment(root, url), capture_output=True, timeout=120, check=False,
        **({"stdin": subprocess.DEVNULL} | more if "input" not in more else more),
    )  # fmt: skip


@contextmanager
def running(root: Path, url: str, words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that runs, and is killed at the latest when the caller is done."""
    command = [sys.executable, "-m", "tersely", *words]
    with subprocess.Popen(
        command, cwd=root, env=environment(root, url), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, bufsize=0,
        preexec_fn=_heed_signals,  # noqa: PLW1509 - it takes no lock
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def _heed_signals() -> None:
    """As from a terminal: what runs the tests may ignore them, as `nohup` does, and programs
    inherit that.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def printed_until(process: subprocess.Popen[bytes], awaited: bytes) -> bytes:
    """What a command has printed once it has printed something."""
    printed = b""
    while awaited not in printed:
        more = read(process)
        assert more, printed
        printed += more
    return printed


def read(process: subprocess.Popen[bytes], most: int = 1_000) -> bytes:
    """The next that a command prints, nothing at its end."""
    assert process.stdout is not None
    return os.read(process.stdout.fileno(), most)


def rest(process: subprocess.Popen[bytes]) -> bytes:
    """All that a command still prints, once it has ended."""
    assert process.stdout is not None
    found = process.stdout.read()
    process.wait(60)
    return found


def events(printed: bytes) -> list[dict[str, Any]]:
    """The objects of whole lines."""
    return [json.loads(line) for line in printed.split(b"\n")[:-1]]
