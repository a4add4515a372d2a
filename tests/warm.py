"""Processes that analyse, forked from one that has imported everything and answered once.

Each agent of the tests has such a process, whose CPU time is imports and first uses for the most part.
What is forked is else what the product starts: a process of its own, asked, killed and waited for as
any. Processes that are started in earnest are tests of the daemon's.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from tersely.daemon.processes import process as analysing
from tersely.foundation.process.detached import import_path

ANSWERS = "tersely.daemon.processes.analysis:main", "tersely.cli.printing.recorded_output:answer"
MAX_REQUEST_BYTES = 150_000  # of one packet, with the environment
MAX_DESCRIPTORS = 8
PID_BYTES = 8
QUESTIONS = (("plan", "sum of prices"), ("context", "total"), ("symbol", "callers", "price"))
SOURCE = (
    "def price(item):\n    return item\n\n\ndef total(items):\n    return sum(map(price, items))\n"
)
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from tests.warm import serve; serve(int(sys.argv[1]))"
)


class Forked:
    """A process that runs `python -c PROGRAM WORDS…`, with what `AnalysisProcess` asks of `Popen`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int,
        pass_fds: Sequence[int],
        cwd: str,
        **streams: int,
    ) -> None:
        assert set(streams.values()) == {subprocess.DEVNULL}  # as its parent has them
        _, _, program, *words = command
        asked = {
            "program": program, "words": words, "folder": cwd, "places": [0, *pass_fds],
            "environment": dict(os.environ),
        }  # fmt: skip
        self.pid = _parent().fork(json.dumps(asked).encode(), [stdin, *pass_fds])
        self._descriptor = os.pidfd_open(self.pid)

    def kill(self) -> None:
        """End it, if it has not."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def wait(self) -> None:
        """Until it has ended."""
        select.select([self._descriptor], [], [])

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


@contextmanager
def forked_analysis() -> Iterator[None]:
    """Meanwhile this process forks those that analyse, where the system has descriptors of them."""
    if not hasattr(os, "pidfd_open"):
        yield
        return
    started = analysing.subprocess
    analysing.subprocess = SimpleNamespace(Popen=Forked, DEVNULL=subprocess.DEVNULL)
    try:
        yield
    finally:
        analysing.subprocess = started


class _Parent:
    """The process that all are forked from. It ends with this one."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        words = [sys.executable, "-c", _PROGRAM, str(theirs.fileno()), *import_path()]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(
            words, stdin=null, stdout=null, stderr=null, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        atexit.register(self._end)

    def fork(self, asked: bytes, descriptors: Sequence[int]) -> int:
        """The number of a new process that does what it is asked, with copies of some descriptors."""
        with self._lock:
            socket.send_fds(self._socket, [asked], descriptors)
            answer = self._socket.recv(PID_BYTES)
        assert answer, "the process that others are forked from has ended"
        return int.from_bytes(answer, "big")

    def _end(self) -> None:
        """Fork no more."""
        self._socket.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    return _Parent()


def serve(descriptor: int) -> None:
    """Fork a process for each request, until nobody can ask for one any more."""
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    _warm_up()
    assert threading.active_count() == 1, "only one thread is forked"
    signal.signal(signal.SIGCHLD, _reap)
    gc.collect()
    gc.freeze()
    while True:
        asked, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST_BYTES, MAX_DESCRIPTORS)
        if not asked:
            return
        number = os.fork()
        if not number:
            control.close()
            _become(descriptors=descriptors, **json.loads(asked))
            return
        for each in descriptors:
            os.close(each)
        control.send(number.to_bytes(PID_BYTES, "big"))


def _reap(*_signal: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(
    program: str, words: list[str], folder: str, environment: dict[str, str], places: list[int],
    descriptors: list[int],
) -> None:  # fmt: skip
    """Be the process that was asked for, until it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    apart = max(*places, *descriptors) + 1  # no copy is written over by another
    moved = [os.dup2(each, apart + number) for number, each in enumerate(descriptors)]
    for each, place in zip(moved, places, strict=True):
        os.dup2(each, place)
        os.close(each)
    for each in set(descriptors) - set(places):
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *words]
    exec(program, {"__name__": "__main__"})


def _warm_up() -> None:
    """Answer the questions of the tests once, of a repository that is removed then."""
    from importlib import import_module

    from tersely.cli.main import main

    for name in ANSWERS:
        import_module(name.partition(":")[0])
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(TERSELY_HOME=f"{folder}/home", TERSELY_DAEMON="off")
        root = Path(folder, "repository")
        root.mkdir()
        os.chdir(root)
        Path("prices.py").write_text(SOURCE, encoding="utf-8")
        for words in QUESTIONS:
            assert main(words) == 0
        os.chdir("/")
    os.environ.clear()
    os.environ.update(before)
