"""One process that analyses, as the daemon sees it: a task goes out, an answer comes back, or the
process is gone.

A task is stopped by killing its process. Nothing else ends a computation at any point, and nothing
else is certain to leave no half-changed graph behind; the index is safe, as its database undoes
what was not committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tersely.daemon.processes.job_queue import Task
from tersely.foundation.process.detached import import_path
from tersely.foundation.process.frames import LENGTH_BYTES, PROGRESS, TIDIED, encode_frame

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress

_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[4:]; "
    "from tersely.daemon.processes.analysis import main; main(*sys.argv[1:4])"
)


class ProcessLostError(Exception):
    """The process ended over its task."""


class AnalysisProcess(asyncio.Protocol):
    """A child process. One task at a time."""

    def __init__(self, process: subprocess.Popen[bytes], lifeline: int) -> None:
        self._process = process
        self._lifeline = lifeline  # the child ends when this end is closed, by whatever closes it
        self._received = bytearray()
        self._answer: asyncio.Future[Any] | None = None
        self._tidied: asyncio.Future[None] | None = None  # while it looks for garbage
        self._on_progress: Progress | None = None
        self._transport: asyncio.Transport | None = None
        self.resident_bytes = 0
        self.idle_since = 0.0

    @classmethod
    async def start(cls, root: str, answer_words: str) -> AnalysisProcess:
        """Start one for the repository at `root`; `answer_words` names what prints for the command
        line.
        """
        ours, theirs = socket.socketpair()
        try:
            process, lifeline = _started(root, answer_words, theirs)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        _, self = await asyncio.get_running_loop().create_connection(
            lambda: cls(process, lifeline), sock=ours
        )
        return self

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    async def ask(self, task: Task, on_progress: Progress | None = None) -> Any:
        """The result of a task; raises `ProcessLostError`."""
        if self._transport is None or self._transport.is_closing():
            raise ProcessLostError
        self._answer = asyncio.get_running_loop().create_future()
        self._on_progress = on_progress
        self._transport.write(encode_frame(task))
        return await self._answer

    async def tidied(self) -> None:
        """Wait until it can be asked again, which it cannot be while it looks for garbage after an
        answer; raises `ProcessLostError`.
        """
        if self._tidied is not None:
            await self._tidied

    def stop(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        if self._transport is not None:
            self._transport.abort()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process can be asked."""
        transport = cast("asyncio.Transport", transport)  # those of uvloop are none by their class
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Part of an answer has come, or of what is said of the progress towards it."""
        self._received += data
        while len(self._received) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._received[:LENGTH_BYTES], "big")
            if len(self._received) < end:
                return
            value = marshal.loads(memoryview(self._received)[LENGTH_BYTES:end])  # noqa: S302
            del self._received[:end]
            self._take(*value)

    def _take(self, kind: str, *told: Any) -> None:
        if kind == PROGRESS:
            if self._on_progress is not None:
                self._on_progress(*told)
        elif kind == TIDIED:
            if self._tidied is not None and not self._tidied.done():
                self._tidied.set_result(None)
            self._tidied = None
        elif self._answer is not None and not self._answer.done():
            answer, self.resident_bytes, is_tidying = told
            self._tidied = asyncio.get_running_loop().create_future() if is_tidying else None
            self._answer.set_result(answer)

    def connection_lost(self, error: Exception | None) -> None:
        """The process has ended."""
        for waiting in (self._answer, self._tidied):
            if waiting is not None and not waiting.done():
                waiting.set_exception(ProcessLostError())
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


if sys.platform == "win32":

    def _started(
        root: str, answer_words: str, theirs: socket.socket
    ) -> tuple[subprocess.Popen[bytes], int]:
        """A process with its end of the socket, which it is told of by a pipe, and that pipe."""
        reading, lifeline = os.pipe()
        try:
            process = _process([root, answer_words, "0"], reading)
        except OSError:
            os.close(lifeline)
            raise
        finally:
            os.close(reading)
        os.write(lifeline, theirs.share(process.pid))
        return process, lifeline

else:

    def _started(
        root: str, answer_words: str, theirs: socket.socket
    ) -> tuple[subprocess.Popen[bytes], int]:
        """A process that has one end of the socket as its input, and our end of a pipe to it."""
        reading, lifeline = os.pipe()
        try:
            return _process(
                [root, answer_words, str(reading)], theirs.fileno(), [reading]
            ), lifeline
        except OSError:
            os.close(lifeline)
            raise
        finally:
            os.close(reading)


def _process(given: list[str], stdin: int, passed: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *given, *import_path()], cwd=given[0], stdin=stdin,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=passed,
    )  # fmt: skip
