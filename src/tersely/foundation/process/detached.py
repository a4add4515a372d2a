"""Processes that outlive whoever starts them, and say how their beginning went."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import tersely
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.process.pipes import is_readable
from tersely.foundation.types import JsonObject

_SAID_BYTES = 10_000
_OUTPUT = 1  # the descriptor that every process writes to


def start_and_wait(program: str, arguments: Sequence[str], seconds: float, log: str) -> JsonObject:
    """Start one and wait for what it says; raises what it says to have failed by, `OSError` without
    a word in time.

    The process writes one line of JSON to the descriptor that it is told last, after its arguments:
    `ok`, and a `message` where that is false, with `code` and `hint` if it is an error of ours, else
    with `errno`.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as told:
        start(program, arguments, writing)
        said = _read_all(told.fileno(), seconds)
    if not said:
        raise OSError(errno.ETIMEDOUT, f"it has ended or does not listen; its log is {log}")
    answer: JsonObject = json.loads(said)
    if not answer["ok"]:
        if "code" in answer:
            raise TerselyError(answer["code"], answer["message"], answer["hint"])
        raise OSError(answer["errno"], answer["message"])
    return answer


def start(program: str, arguments: Sequence[str], ready: int) -> None:
    """A process that belongs to no terminal, has no streams of ours, and keeps no directory from
    being removed.

    `program` is `module:function` of ours, called with the arguments and, last, the number of the
    descriptor `ready`, which is closed here.
    """
    module, _, function = program.partition(":")
    code = (
        "import os, sys; count = int(sys.argv[1]); sys.path[:] = sys.argv[2 + count:]; "
        f"from {module} import {function}; {function}(*sys.argv[2:2 + count])"
    )
    try:
        if sys.platform == "win32":
            _start_detached(code, [*arguments, str(_OUTPUT)], ready)
        else:
            _start_orphaned(code, [*arguments, str(ready)], ready)
    finally:
        os.close(ready)


if sys.platform == "win32":

    def _start_detached(code: str, given: list[str], ready: int) -> None:
        """A process without a console, whose output is `ready`: no other descriptor can be handed on."""
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen(
            _command(code, given), stdin=subprocess.DEVNULL, stdout=ready, stderr=subprocess.DEVNULL,
            creationflags=flags, cwd=os.path.abspath(os.sep),
        )  # fmt: skip

else:

    def _start_orphaned(code: str, given: list[str], ready: int) -> None:
        """The child of a process that ends at once: nobody's whom it could outlive as a zombie."""
        forks = f"import os; os.fork() and os._exit(0); {code}"
        subprocess.run(
            _command(forks, given), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[ready], start_new_session=True, cwd="/", check=True,
        )  # fmt: skip


def _command(code: str, given: list[str]) -> list[str]:
    return [sys.executable, "-c", code, str(len(given)), *given, *import_path()]


def kill_session(leader: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a session of its own, and all in it; on Windows that process alone."""
    if sys.platform == "win32":
        leader.kill()
    else:
        os.killpg(leader.pid, signal.SIGKILL)


def import_path() -> list[str]:
    """The path on which a child finds the modules that this process has found, but never the
    working directory as such.
    """
    own = str(Path(tersely.__file__).parent.parent)
    return [own, *(entry for entry in sys.path if entry and entry != own)]


class Process:
    """A process of whatever program, which no later one with its number is taken for where the
    system has pidfds.
    """

    def __init__(self, pid: int, descriptor: int | None) -> None:
        self._pid = pid
        self._descriptor = descriptor

    def signal(self, number: int) -> None:
        """Send it a signal; raises `ProcessLookupError` where it has ended."""
        if self._descriptor is None:
            os.kill(self._pid, number)
        else:
            signal.pidfd_send_signal(self._descriptor, number)  # type: ignore[attr-defined,unused-ignore]

    def wait(self, seconds: float) -> None:
        """Return when it has ended, where the system tells; raises `TimeoutError` where it goes on."""
        if (
            self._descriptor is not None
            and not select.select([self._descriptor], [], [], seconds)[0]
        ):
            raise TimeoutError(f"process {self._pid} goes on")


@contextmanager
def process(pid: int) -> Iterator[Process]:
    """The process that has the number now; raises `ProcessLookupError` where none has."""
    descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    try:
        yield Process(pid, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def wait_for_end(pid: int, seconds: float) -> None:
    """Return when a process has ended, where the system tells; raises `TimeoutError` where it goes
    on.
    """
    with suppress(ProcessLookupError), process(pid) as found:
        found.wait(seconds)


def _read_all(descriptor: int, seconds: float) -> bytes:
    """The bytes that are written to a pipe until it is closed; empty if that takes too long."""
    watch, said = Stopwatch(), b""
    while len(said) < _SAID_BYTES:
        left = seconds - watch.seconds()
        if left <= 0 or not is_readable(descriptor, left):
            return b""
        part = os.read(descriptor, _SAID_BYTES)
        if not part:
            return said
        said += part
    return said
