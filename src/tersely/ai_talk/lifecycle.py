"""Starting, stopping and finding listeners."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import inbox
from .failures import TalkError, failure_of
from .place import DRAIN_SECONDS, Listening, Place, checked_port, limits_of, live, pid_in, record_of

START_SECONDS = 15.0  # for a listener to listen
STOP_SECONDS = 5.0  # for a listener to end by itself
_SOURCES = Path(__file__).parents[__name__.count(".")]  # where this package is found
# The first process ends at once, so that the listener is nobody's child, whom it could outlive as a
# zombie.
_PROGRAM = (
    "import os, sys; os.fork() and os._exit(0); sys.path[:0] = sys.argv[1].split(os.pathsep); "
    "from importlib import import_module; import_module(sys.argv[2]).run(sys.argv[3], int(sys.argv[4]))"
)
_SAID_BYTES = 65_536
_LOOK_SECONDS = 0.01


def start(
    asked: Listening, module: str = f"{__package__}.process", paths: Sequence[str] = ()
) -> dict[str, Any]:
    """Start a listener; what it says of itself. Raises what kept it from listening.

    Its process is `run` of the module, which sees no installed packages but those in `paths`.
    """
    asked = asked._replace(tls=asked.tls or limits_of(asked.home).tls)
    if asked.tls:
        from . import tls  # loads OpenSSL

        tls.certificate(asked.home)
    import subprocess  # only who starts one pays for it

    reading, writing = os.pipe()
    words = json.dumps({**asked._asdict(), "home": str(asked.home)})
    found = os.pathsep.join([str(_SOURCES), *paths])
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, found, module, words, str(writing)]
    with os.fdopen(reading, "rb") as told:
        try:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[writing], start_new_session=True, cwd="/", check=True,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            raise TalkError("LISTENER_FAILED", f"no process can be started: {error}") from error
        finally:
            os.close(writing)
        said = _said(told.fileno())
    if said is None:
        raise TalkError(
            "LISTENER_FAILED", "the listener has ended or does not listen", port=asked.port
        )
    if said.get("status") == "error":
        raise failure_of(said)
    return {"status": "started", **_public(said)}


def stop(at: Place) -> dict[str, Any]:
    """End a listener; raises `LISTENER_NOT_RUNNING`, `LISTENER_FAILED` where it goes on."""
    pid = running_pid(at)
    if pid is None:
        raise TalkError("LISTENER_NOT_RUNNING", f"no listener runs on port {at.port}", port=at.port)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _signal(at, pid, number):
            return {"status": "stopped", "port": at.port, "pid": pid}
    raise TalkError("LISTENER_FAILED", f"process {pid} does not end", port=at.port, pid=pid)


def status(at: Place) -> dict[str, Any]:
    """The status of a listener: whether it runs, and what it says of itself."""
    kept = inbox.peek(at.inbox_shelf)
    unread = sum(not one.was_read for one in kept)
    waiting = {"message_file": str(at.inbox), "message_count": len(kept), "unread": unread}
    if running_pid(at) is None:
        stale = {"stale_pid_file": True} if at.pid_file.exists() else {}
        return {"status": "not_running", "port": at.port, **waiting, **stale}
    return {"status": "running", **_public(record_of(at.directory)), **waiting}


def discover(home: Path) -> dict[str, Any]:
    """All listeners of this user that run."""
    shown = ("port", "pid", "started", "name", "tls", "relay")
    return {"listeners": [{key: one[key] for key in shown if key in one} for one in live(home)]}


def running_pid(at: Place) -> int | None:
    """The process that listens on a port; None where the pid file is missing or stale."""
    return pid_in(at.pid_file)


def port_named(home: Path, word: str) -> int:
    """The port that a port or the name of a listener that runs means; raises `INVALID_PORT`,
    `UNKNOWN_NAME`.
    """
    if word.lstrip("+-").isdigit():
        return checked_port(word)
    for one in live(home):
        if one.get("name") == word:
            return int(one["port"])
    raise TalkError("UNKNOWN_NAME", f"no listener that runs is called {word}", name=word)


def _public(record: dict[str, Any]) -> dict[str, Any]:
    shown = ("port", "pid", "message_file", "started", "name", "tls", "relay")
    return {key: record[key] for key in shown if key in record}


def _signal(at: Place, pid: int, number: int) -> bool:
    """Send a signal; whether the process has ended after it."""
    until = time.monotonic() + STOP_SECONDS + DRAIN_SECONDS
    try:
        _send(at, pid, number)
    except ProcessLookupError:
        return True
    while running_pid(at) == pid:
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _send(at: Place, pid: int, number: int) -> None:
    """To that very process: where the system can, it is held fast before it is looked at once more."""
    if not hasattr(os, "pidfd_open"):
        os.kill(pid, number)
        return
    held = os.pidfd_open(pid)
    try:
        if running_pid(at) == pid:
            signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _said(descriptor: int) -> dict[str, Any] | None:
    """The report of a starting listener; None where it says nothing in time."""
    until, said = time.monotonic() + START_SECONDS, b""
    while len(said) < _SAID_BYTES:
        left = until - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        part = os.read(descriptor, _SAID_BYTES)
        if not part:
            break
        said += part
    found = json.loads(said) if said else None
    return found if isinstance(found, dict) else None
