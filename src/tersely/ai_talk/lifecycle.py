"""Starting, being and stopping listeners."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from . import inbox, place
from .failures import TalkError, told
from .listener import DRAIN_SECONDS, Listener
from .messages import parsed_object, timestamp
from .place import HOST, Place

START_SECONDS = 15.0  # for a listener to listen
STOP_SECONDS = 5.0  # for a listener to end by itself, beside what it drains
MAX_BACKLOG_CONNECTIONS = 1_024  # not accepted yet
_GLANCE_SECONDS = 0.5  # who looks whether a pid file is held holds it for a moment
_LOOK_SECONDS = 0.01
GONE_SECONDS = 30.0  # after which a listener sees that its files were removed
# The first process ends at once, so that the listener is nobody's child, whom it could outlive as a
# zombie.
_PROGRAM = (
    "import os, sys; os.fork() and os._exit(0); sys.path.insert(0, sys.argv[1]); "
    "from importlib import import_module; import_module(sys.argv[2]).run(sys.argv[3])"
)


class Listening(NamedTuple):
    """The request to a listener."""

    home: str
    port: int  # 0 for any
    message_file: str | None = None
    name: str | None = None
    tls: bool = False


def start(asked: Listening) -> dict[str, Any]:
    """Start a listener; what it says of itself. Raises what kept it from listening."""
    sources = Path(__file__).parents[__name__.count(".")]  # where this package is found
    words = [str(sources), __name__, json.dumps(asked)]
    try:
        said = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *words], start_new_session=True, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, timeout=START_SECONDS,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise TalkError("LISTENER_FAILED", f"the listener does not start: {error}") from error
    answer = parsed_object(said)
    if answer.get("status") != "started":
        code, why = answer.get("error_code", "LISTENER_FAILED"), answer.get("error_message", "")
        raise TalkError(code, why, **answer.get("details", {}))
    return answer


def run(words: str) -> None:
    """Be the listener that the words, JSON, ask for; its beginning is said on standard output."""
    asked = Listening(*json.loads(words))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    told_to: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told_to.append(number))
    ended, ending = socket.socketpair()
    ending.setblocking(False)
    signal.set_wakeup_fd(ending.fileno())  # a signal wakes who waits for the socket
    try:
        with _listening(asked) as (at, serve):
            _say({"status": "started", **at.record})
            serve(lambda: told_to or not at.file("listener.pid").exists(), GONE_SECONDS, ended)
    except (OSError, TalkError) as error:
        _say(told(error))


def wait_for_one(at: Place, tls: bool, seconds: float) -> None:
    """Return when the inbox of a port has a message, or the time is over, for which this process
    listens; raises `PORT_IN_USE`.
    """
    until = time.monotonic() + seconds
    asked = Listening(str(at.home), at.port, str(at.inbox), tls=tls)
    with _listening(asked) as (_, serve):
        serve(lambda: time.monotonic() >= until or inbox.peek(at.inbox), _LOOK_SECONDS)


def stop(at: Place) -> dict[str, Any]:
    """End a listener; raises `LISTENER_NOT_RUNNING`, `LISTENER_FAILED` where it goes on."""
    pid = at.pid
    if pid is None:
        raise TalkError("LISTENER_NOT_RUNNING", f"no listener runs on port {at.port}", port=at.port)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        until = time.monotonic() + STOP_SECONDS + DRAIN_SECONDS
        while time.monotonic() < until:
            if at.pid != pid:
                return {"status": "stopped", "port": at.port, "pid": pid}
            time.sleep(_LOOK_SECONDS)
    raise TalkError("LISTENER_FAILED", f"process {pid} does not end", port=at.port, pid=pid)


def status(at: Place) -> dict[str, Any]:
    """The status of a listener: whether it runs, and what it says of itself."""
    kept, is_running = inbox.peek(at.inbox), at.pid is not None
    return {
        "status": "running" if is_running else "not_running",
        **(at.public if is_running else {"port": at.port}),
        "message_file": str(at.inbox),
        "message_count": len(kept),
        "unread": sum(map(inbox.is_unread, kept)),
    }


@contextmanager
def _listening(asked: Listening) -> Iterator[tuple[Place, partial[None]]]:
    """The place of a listener that is announced, and its `Listener.serve`; raises what keeps it from
    listening.
    """
    home, context = Path(asked.home), None
    limits = place.limits_of(home)
    if asked.tls:
        from . import tls  # loads OpenSSL

        context = tls.server_context(home)
    with _bound(asked.port) as server:
        at = Place(home, server.getsockname()[1])
        pid_file = place.made(home / str(at.port)) / "listener.pid"
        with place.locked(pid_file, "PORT_IN_USE", _GLANCE_SECONDS) as held:
            try:
                _announce(asked, at, held)
                server.listen(MAX_BACKLOG_CONNECTIONS)
                yield at, partial(Listener(at, limits, context).serve, server)
            finally:
                pid_file.unlink(missing_ok=True)


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=1)
    except OSError as error:
        code = "PORT_IN_USE" if error.errno == errno.EADDRINUSE else "LISTENER_FAILED"
        raise TalkError(code, f"port {port}: {error.strerror}", port=port) from error


def _announce(asked: Listening, at: Place, pid_file: IO[bytes]) -> None:
    """Write what the listener says of itself; raises `NAME_IN_USE`, and `OSError` where messages
    could not be kept.
    """
    path = Path(asked.message_file or at.file("inbox.jsonl"))
    with inbox.changing(path):
        place.read(path)
    with place.locked(at.home / "names.lock"):
        if asked.name and any(one.get("name") == asked.name for one in place.live(at.home)):
            why = f"another listener is called {asked.name}"
            raise TalkError("NAME_IN_USE", why, name=asked.name)
        record = {
            "port": at.port,
            "pid": os.getpid(),
            "message_file": str(path),
            "started": timestamp("seconds"),
            **({"name": asked.name} if asked.name else {}),
            **({"tls": True} if asked.tls else {}),
        }
        place.replace(at.file("listener.json"), json.dumps(record).encode())
        pid_file.truncate(0)
        pid_file.write(f"{os.getpid()}\n".encode())
        pid_file.flush()


def _say(said: dict[str, Any]) -> None:
    """Tell who starts the listener, once."""
    print(json.dumps(said), flush=True)
    os.dup2(2, 1)
