"""Starting, stopping and asking the relay of a user, from outside of it."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import msgspec

from tersely.client import Client, joining
from tersely.client.request import ask
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.network.credentials import is_same_user, process_of
from tersely.foundation.process import detached
from tersely.foundation.process.lockfile import is_held
from tersely.foundation.storage.disk import is_full
from tersely.relay.wire.addresses import Address
from tersely.relay.wire.documents import RelayTold
from tersely.relay.wire.home import HTTP_SOCKET, LOCK, LOG, socket_path

RELAY_START_SECONDS = 30
RELAY_STOP_SECONDS = 20
STAY_SECONDS = 0.5  # between two looks whether the relay of a command that stays is there
_RELAY = "tersely.doors.relay_process:main"
_GATEWAY = "tersely.doors.gateway.process:main"
STATUS_SECONDS = 2.0
_LOOK_SECONDS = 0.05  # between two looks for a relay that somebody else starts


class StartedRelay(NamedTuple):
    """The relay that runs, and whether it did before."""

    told: RelayTold
    was_running: bool


def start(
    home: Path, port: str, workspace: str, answer_words: str, address: Address | None = None
) -> StartedRelay:
    """Have a relay serve a home; one that does already stays. `port` is as
    `doors.relay_process.main` has it.

    Where this machine has joined another relay, what serves the home passes on to that. `address`
    is for other machines; raises `name_taken` where a relay runs that does not listen there,
    `join_state` where none may listen.
    """
    membership = joining.load(home)
    if membership is not None and address is not None:
        message = f"this machine uses the relay at {membership.url}"
        raise TerselyError("join_state", message, "`tersely leave` has it use its own again")
    found = running(home)
    if found is not None:
        if address is not None and found.remote_url != address.url:
            message = f"the relay runs already, and does not listen at {address.url}"
            raise TerselyError("name_taken", message, "tersely down, then again")
        return StartedRelay(found, True)
    remote = "" if address is None else msgspec.json.encode(address).decode()
    program, arguments = _RELAY, [str(home.absolute()), port, workspace, answer_words, remote]
    if membership is not None:
        program, arguments = _GATEWAY, [str(home.absolute()), workspace, answer_words]
    return _begin(home, program, arguments)


def _begin(home: Path, program: str, arguments: Sequence[str]) -> StartedRelay:
    try:
        said = detached.start_and_wait(program, arguments, RELAY_START_SECONDS, str(home / LOG))
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = (
            f"make room on the disk of {home}"
            if isinstance(error, OSError) and is_full(error)
            else f"{home} has to be a directory that this user can write to; the log there may say more"
        )
        raise TerselyError("daemon_unavailable", f"no relay can be started: {why}", hint) from error
    # it listens, and answers once it has loaded everything
    found = running(home, RELAY_START_SECONDS)
    if found is None and not said["pid"]:
        found = _begun_by_another(home)
    if found is None:
        raise TerselyError(
            "daemon_unavailable", "the relay does not answer", f"its log is {home / LOG}"
        )
    return StartedRelay(found, not said["pid"])


def _begun_by_another(home: Path) -> RelayTold | None:
    """The relay that somebody else starts at the same time, when it answers."""
    watch = Stopwatch()
    while watch.seconds() < RELAY_START_SECONDS:
        time.sleep(_LOOK_SECONDS)
        found = running(home)
        if found is not None:
            return found
    return None


def endings() -> SimpleQueue[int]:
    """A queue of the signals that tell this process to end, which from now on do not end it."""
    told: SimpleQueue[int] = SimpleQueue()  # the only one that a signal may put something in
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda given, frame: told.put(given))
    return told


def stay(home: Path, told: SimpleQueue[int]) -> None:
    """Return when this process is told to end, having ended the relay of a home.

    Raises `daemon_unavailable` where the relay ends by itself, and what `stop` raises.
    """
    while not _has_one(told):
        if not is_held(str(home / LOCK)):
            message = "the relay has ended"
            raise TerselyError("daemon_unavailable", message, f"its log is {home / LOG}")
    stop(home)


def _has_one(told: SimpleQueue[int]) -> bool:
    """True if there is a signal within `STAY_SECONDS`."""
    try:
        told.get(timeout=STAY_SECONDS)
    except Empty:
        return False
    return True


def stop(home: Path) -> bool:
    """End the relay of a home; whether there was one. What it was answering is answered, and it is
    gone.

    Raises `not_a_relay` where the process that listens does not hold the lock, `daemon_unavailable`
    where a process holds it that does not listen, or does not end.
    """
    path, watch, was_held = socket_path(home, HTTP_SOCKET), Stopwatch(), False
    while True:
        with _connected(path) as listener:
            if listener is not None:
                _end_relay(home, listener)
                return True
        if not is_held(str(home / LOCK)):
            return was_held
        was_held = True  # it does not listen yet, or no longer
        if watch.seconds() > RELAY_STOP_SECONDS:
            message = f"a process holds {home / LOCK} and does not listen at {path}"
            raise TerselyError("daemon_unavailable", message, f"its log is {home / LOG}")
        time.sleep(_LOOK_SECONDS)


def _end_relay(home: Path, listener: socket.socket) -> None:
    if not (is_same_user(listener) and is_held(str(home / LOCK))):
        raise _foreign(home)
    _end(listener)


@contextmanager
def _connected(path: Path) -> Iterator[socket.socket | None]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.settimeout(STATUS_SECONDS)
        try:
            listener.connect(str(path))
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
            yield None
        except OSError as error:
            raise TerselyError(
                "daemon_unavailable", f"{path}: {error.strerror or error}"
            ) from error
        else:
            yield listener


def _end(listener: socket.socket) -> None:
    """Have the process at the other end of a connection end, and no other, whatever number it has."""
    pid = process_of(listener)
    if not pid:
        hint = "it may run in another container: end it there"
        raise TerselyError(
            "daemon_unavailable", "the system does not say which process the relay is", hint
        )
    try:
        with detached.process(pid) as relay:
            if not _has_ended(listener):  # so that this was its number when the process was opened
                relay.signal(signal.SIGTERM)
                relay.wait(RELAY_STOP_SECONDS)
    except ProcessLookupError:
        return
    except TimeoutError as error:
        raise TerselyError("daemon_unavailable", f"the relay does not end: {error}") from error


def _has_ended(listener: socket.socket) -> bool:
    """True if the other end of a connection over which nothing was asked is gone."""
    listener.setblocking(False)
    try:
        return not listener.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def running(home: Path, seconds: float = STATUS_SECONDS) -> RelayTold | None:
    """The relay that answers for a home within a time, in seconds.

    Raises `not_a_relay` where what listens in its place does not hold the lock, is another user's,
    or answers as none.
    """
    try:
        with Client.local(home=home, seconds=seconds) as relay:
            told: RelayTold = relay(ask("status"))
    except TerselyError as error:
        if error.code in {"daemon_not_running", "daemon_unavailable"}:
            return None
        raise
    if not is_held(str(home / LOCK)):
        raise _foreign(home)
    return told


def _foreign(home: Path) -> TerselyError:
    path = socket_path(home, HTTP_SOCKET)
    return TerselyError(
        "not_a_relay",
        f"what listens at {path} is not the relay of {home}",
        f"find it: fuser {path}",
    )
