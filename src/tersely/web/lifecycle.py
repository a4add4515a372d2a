"""Starting, stopping and asking the relay of a user, from outside of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.process import detached
from tersely.protocols.relay.place import LOG, Owner, owner

RELAY_START_SECONDS = 30
RELAY_STOP_SECONDS = 20
_MAIN = "tersely.web.serve:main"
_HEALTH_SECONDS = 2.0
MAX_HEALTH_BYTES = 100_000
_LOOK_SECONDS = 0.05  # between two looks for a relay that somebody else starts


class Started(NamedTuple):
    """The relay that runs, and whether it did before."""

    owner: Owner
    was_running: bool


def start(home: Path, port: int, workspace: str, answer_words: str) -> Started:
    """Have a relay serve a home; the one that does already stays as it is."""
    found = running(home)
    if found is not None:
        return Started(found, True)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        arguments = [str(home.resolve()), str(port), workspace, answer_words]
        said = detached.start_and_wait(_MAIN, arguments, RELAY_START_SECONDS, str(home / LOG))
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise TerselyError("daemon_unavailable", f"no relay can be started: {why}") from error
    found = running(home, RELAY_START_SECONDS)  # it listens, and answers once it has loaded everything
    if found is None and not said["pid"]:
        found = _begun_by_another(home)
    if found is None:
        raise TerselyError("daemon_unavailable", "the relay does not answer", f"its log is {home / LOG}")
    return Started(found, not said["pid"])


def _begun_by_another(home: Path) -> Owner | None:
    """The relay that somebody else starts at the same time, when it answers."""
    watch = Stopwatch()
    while watch.seconds() < RELAY_START_SECONDS:
        time.sleep(_LOOK_SECONDS)
        found = running(home)
        if found is not None:
            return found
    return None


def stop(home: Path) -> bool:
    """End the relay of a home; whether there was one. What it was answering is answered, and it is gone."""
    found = running(home)
    if found is None:
        return False
    try:
        os.kill(found.pid, signal.SIGTERM)
        detached.wait_for_end(found.pid, RELAY_STOP_SECONDS)
    except (ProcessLookupError, TimeoutError) as error:
        if isinstance(error, TimeoutError):
            raise TerselyError("daemon_unavailable", f"the relay does not end: {error}") from error
    return True


def running(home: Path, seconds: float = _HEALTH_SECONDS) -> Owner | None:
    """The relay that answers for a home within a time. A lock file of one that is gone says nothing."""
    found = owner(home)
    return found if found is not None and _is_healthy(found, seconds) else None


def _is_healthy(found: Owner, seconds: float) -> bool:
    from tersely.foundation import http

    url = f"http://127.0.0.1:{found.port}/health"
    try:
        with http.connections() as pool:
            reply = http.ask(pool, "GET", url, http.waits(seconds, seconds), MAX_HEALTH_BYTES, headers={})
        told: Any = json.loads(reply.body)
        return bool(told.get("status") == "ok")
    except (*http.FAILURES, http.TooLongError, ValueError, AttributeError):
        return False
