"""Starting, stopping and finding daemons, from outside of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import NamedTuple

from tersely.daemon.client import Client
from tersely.daemon.place import Place, runtime_directory
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import DAEMON_START_SECONDS
from tersely.foundation.process import detached
from tersely.foundation.process.identity import program_identity
from tersely.foundation.process.lockfile import held, read_record
from tersely.foundation.storage.private import make_private
from tersely.foundation.types import JsonObject

DAEMON_STOP_SECONDS = 10
MAX_DAEMONS_LISTED = 1_000
_MAIN = "tersely.daemon.serve:main"


class Started(NamedTuple):
    """The outcome of starting: the daemon's status, and whether it ran already."""

    status: JsonObject
    was_running: bool


def start(
    root: str, answer_words: str, idle_seconds: int, left_seconds: int | None = None
) -> Started:
    """Have a daemon of this very program for a resolved root; one of another program is replaced.

    With `left_seconds` it ends so soon after the last client has gone; one that would is replaced by
    one that stays.
    """
    place = Place.of(root)
    running = status(root)
    if running is not None:
        is_ours = running.get("program") == program_identity()
        if is_ours and not (running.get("ends_when_left") and left_seconds is None):
            return Started(running, True)
        stop(root)
    try:
        make_private(place.directory)
        arguments = _arguments(root, answer_words, idle_seconds, left_seconds)
        is_new = bool(
            detached.start_and_wait(_MAIN, arguments, DAEMON_START_SECONDS, place.log)["pid"]
        )
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise TerselyError("daemon_unavailable", f"no daemon can be started: {why}") from error
    found = status(root)
    if found is None:
        raise TerselyError(
            "daemon_unavailable", "the daemon does not answer", f"its log is {place.log}"
        )
    return Started(found, not is_new)


def start_missing(
    root: str, answer_words: str, idle_seconds: int, left_seconds: int | None = None
) -> bool:
    """Have a daemon of a resolved root, of whatever program; whether there is one. Of many callers
    one starts it.
    """
    place = Place.of(root)
    with contextlib.suppress(OSError, TerselyError):
        make_private(place.directory)
        with held(place.turn, waits=True):
            if not _listens(place):
                start(root, answer_words, idle_seconds, left_seconds)
            return True
    return False


def start_unasked(root: str, answer_words: str, idle_seconds: int) -> None:
    """Have a daemon some time soon, if there is none; whether that succeeds is not waited for."""
    if status(root) is not None:
        return
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        place = Place.of(root)
        make_private(place.directory)
        nobody = os.open(os.devnull, os.O_WRONLY)
        detached.start(_MAIN, _arguments(root, answer_words, idle_seconds, None), nobody)


def _arguments(
    root: str, answer_words: str, idle_seconds: int, left_seconds: int | None
) -> list[str]:
    left = idle_seconds if left_seconds is None else min(left_seconds, idle_seconds)
    return [root, answer_words, str(idle_seconds), str(left)]


def status(root: str) -> JsonObject | None:
    """The status of the daemon of a resolved root, None if there is none."""
    return _ask(Place.of(root), {"cmd": "status"})


def ask(root: str, request: JsonObject) -> JsonObject:
    """The reply of a running daemon; raises `daemon_not_running`."""
    reply = _ask(Place.of(root), request)
    if reply is None:
        raise TerselyError(
            "daemon_not_running", f"no daemon serves {root}", "tersely daemon start starts one"
        )
    return reply


def stop(root: str) -> bool:
    """End the daemon of a resolved root; whether there was one. It is gone when this returns."""
    place = Place.of(root)
    pid = read_record(place.lock).get("pid")
    try:
        client = Client(place)
    except OSError:
        return False
    try:
        with client, contextlib.suppress(ConnectionError):  # it hangs up: it ends
            client.ask({"cmd": "shutdown"}, seconds=DAEMON_STOP_SECONDS)
            client.wait_until_closed(DAEMON_STOP_SECONDS)
        if isinstance(pid, int):
            detached.wait_for_end(pid, DAEMON_STOP_SECONDS)
    except (OSError, ValueError) as error:
        raise TerselyError("daemon_unavailable", f"the daemon does not end: {error}") from error
    return True


def _listens(place: Place) -> bool:
    try:
        Client(place).close()
    except OSError:
        return False
    return True


def running() -> list[JsonObject]:
    """The status of every daemon of this user, by root."""
    directory = runtime_directory(os.environ)
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".sock"))
    except OSError:
        return []
    found = (
        _ask(Place(directory, name.removesuffix(".sock")), {"cmd": "status"})
        for name in names[:MAX_DAEMONS_LISTED]
    )
    return sorted(
        (one for one in found if one is not None), key=lambda one: str(one.get("project"))
    )


def _ask(place: Place, request: JsonObject) -> JsonObject | None:
    try:
        with Client(place) as client:
            return client.ask(request)
    except (OSError, ValueError):
        return None
