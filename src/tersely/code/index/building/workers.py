"""Building rows on all cores: parsing holds Python's lock, so the work goes to processes.

They are plain child processes that speak over pipes, and not `multiprocessing`: nothing is forked
from a process that may have threads and an open database, nobody's `__main__` is imported again,
and a child whose parent was killed reads the end of its input and leaves.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from queue import SimpleQueue
from typing import Any, BinaryIO, cast

from tersely.code.index.content import Reason
from tersely.code.index.storage.schema import Batch, Job
from tersely.foundation.process.detached import import_path
from tersely.foundation.process.frames import read_frame, write_frame
from tersely.foundation.process.pipes import is_readable

WORKER_START_SECONDS = 30  # for one to load its program; then the work is done without them
WORKER_SILENCE_SECONDS = 40  # for one file; some grammars can be led to search for a very long time
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from tersely.code.index.building.worker import main; main()"


class _WorkerLostError(Exception):
    """The process ended or fell silent over its jobs."""


class _Worker:
    """One child process."""

    def __init__(self, root: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *import_path()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._requests = cast("BinaryIO", self._process.stdin)
        # Without its buffer, which would hide frames from `poll`.
        self._answers = cast("BinaryIO", cast("BufferedReader", self._process.stdout).raw)
        self.reached = 0  # the place of the file that it is at
        self._send(root)

    def await_ready(self) -> None:
        """Return when the process has loaded its program."""
        self._receive(WORKER_START_SECONDS)

    def ask(self, chunk: Sequence[Job]) -> Batch:
        """The rows of a chunk."""
        self.reached = 0
        self._send([tuple(job) for job in chunk])
        while type(received := self._receive(WORKER_SILENCE_SECONDS)) is int:
            self.reached = received
        return Batch._make(received)

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._answers.close()
        with contextlib.suppress(OSError):  # what it no longer read cannot be flushed
            self._requests.close()

    def _send(self, value: Any) -> None:
        try:
            write_frame(self._requests, value)
        except OSError as error:
            raise _WorkerLostError from error

    def _receive(self, seconds: float) -> Any:
        if not is_readable(self._answers.fileno(), seconds):
            raise _WorkerLostError
        try:
            return read_frame(self._answers)
        except (OSError, EOFError) as error:
            raise _WorkerLostError from error


class Crew:
    """The processes of one build. A thread for each waits for its answers; the caller's thread
    writes them down.
    """

    def __init__(self, root: str, workers: list[_Worker]) -> None:
        self._root = root
        self._workers = workers
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._is_closed = False
        for worker in workers:
            self._idle.put(worker)

    @classmethod
    def start(cls, root: str, count: int) -> Crew | None:
        """A crew, None where this program cannot start itself."""
        if not sys.executable or getattr(sys, "frozen", False):
            return None
        workers: list[_Worker] = []
        try:
            workers.extend(_Worker(root) for _ in range(count))
            for worker in workers:
                worker.await_ready()
        except (OSError, _WorkerLostError):
            for worker in workers:
                worker.stop()
            return None
        return cls(root, workers)

    def batches(self, chunks: Sequence[Sequence[Job]]) -> Iterator[Batch]:
        """The rows of the chunks in order, only so far ahead of the caller as keeps everybody busy."""
        ahead = 2 * len(self._workers)
        with ThreadPoolExecutor(len(self._workers)) as threads:
            try:
                pending: deque[Future[list[Batch]]] = deque()
                for chunk in chunks:
                    pending.append(threads.submit(self._build, chunk))
                    if len(pending) > ahead:
                        yield from pending.popleft().result()
                while pending:
                    yield from pending.popleft().result()
            finally:
                self._close()

    def _build(self, chunk: Sequence[Job]) -> list[Batch]:
        """The rows of a chunk; of a file that takes down a process of its own too, only that it
        does.
        """
        worker = self._idle.get()
        try:
            return [worker.ask(chunk)]
        except _WorkerLostError:
            at = worker.reached
            worker = self._replace(worker)
        finally:
            self._idle.put(worker)
        if len(chunk) == 1:
            return [_failed(chunk[0])]
        parts = (chunk[:at], chunk[at : at + 1], chunk[at + 1 :])
        return [batch for part in parts if part for batch in self._build(part)]

    def _replace(self, lost: _Worker) -> _Worker:
        lost.stop()
        if self._is_closed:
            raise _WorkerLostError
        worker = self._workers[self._workers.index(lost)] = _Worker(self._root)
        worker.await_ready()
        return worker

    def _close(self) -> None:
        self._is_closed = True
        for worker in self._workers:
            worker.stop()


def _failed(job: Job) -> Batch:
    batch = Batch.empty()
    batch.skip(job, b"", Reason.EXTRACTION_FAILED, "the process that read it died or did not end")
    return batch
