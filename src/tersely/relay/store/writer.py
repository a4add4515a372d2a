"""The one thread that writes, and the many that wait for it.

Whatever is waiting when the disk is ready is written in one transaction and so by one wait for the
disk (group commit). Each job stands for itself: one that is refused is rolled back to its savepoint
and the others go on. Nobody is answered before the transaction has reached the disk, and nobody is
refused on the ground of what did not reach it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.relay.store.engines.engine import Statements
from tersely.relay.store.tables import Tables

MAX_GROUP_JOBS = 256  # written in one transaction
MAX_WAITING_JOBS = 10_000  # writes that wait for the disk

Do = Callable[[Tables], Any]
_LOG = logging.getLogger("tersely.relay")


class _Job(NamedTuple):
    do: Do
    future: Future[Any]


class StoreWriter:
    """A thread of its own with the only connection that writes. Close it to have everything written
    and end.
    """

    def __init__(
        self,
        database: Statements,
        tables: Callable[[], Tables],
        before: Callable[[Tables], None],
        after: Callable[[Tables, Exception | None], None],
    ) -> None:
        """`tables` says what a group is written to, and when; `before` is called with each at its
        end, to write more, and `after` behind it, with what failed it.
        """
        self._database = database
        self._tables = tables
        self._before = before
        self._after = after
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closing = Lock()
        self._is_closed = False
        self._thread = Thread(target=self._run, name="tersely-store-writer", daemon=True)
        self._thread.start()

    def submit(self, do: Do) -> Future[Any]:
        """Have a job done; what it gives is there once it is on the disk. Raises `busy` where too
        many wait.
        """
        future: Future[Any] = Future()
        with self._closing:
            if self._is_closed:
                raise TerselyError("database_unavailable", "the store is closed")
            if self._jobs.qsize() >= MAX_WAITING_JOBS:
                raise TerselyError(
                    "busy", f"{MAX_WAITING_JOBS:,} writes are waiting", "try again in a moment"
                )
            self._jobs.put(_Job(do, future))
        return future

    def close(self) -> None:
        """Write what is waiting, and end."""
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._waiting()
            if group:
                self._write(group)

    def _waiting(self) -> tuple[list[_Job], bool]:
        """The jobs that wait, at least one; and whether more can come."""
        group: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == MAX_GROUP_JOBS:
                return group, True
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _write(self, group: list[_Job]) -> None:
        group = [job for job in group if job.future.set_running_or_notify_cancel()]
        try:
            outcomes = self._written(group)
        except Exception as error:  # noqa: BLE001 - whoever waits must be told, and the thread must live on
            outcomes = [_RefusedJob(error)] * len(group)
        for job, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, _RefusedJob):
                job.future.set_exception(outcome.error)
            else:
                job.future.set_result(outcome)

    def _written(self, group: list[_Job]) -> list[Any]:
        """What became of each job, all in one transaction; raises what failed it."""
        tables = self._tables()
        try:
            with self._database.transaction():
                outcomes = [self._outcome(tables, job) for job in group]
                self._before(tables)
        except Exception as error:
            self._follow(tables, error)
            raise
        self._follow(tables, None)
        return outcomes

    def _follow(self, tables: Tables, failure: Exception | None) -> None:
        try:
            self._after(tables, failure)
        except Exception:  # noqa: BLE001 - what was written is written, and who waits for it is told so
            _LOG.exception("what follows a transaction has failed")

    def _outcome(self, tables: Tables, job: _Job) -> Any:
        self._database.execute("savepoint job")
        try:
            outcome = job.do(tables)
        except TerselyError as error:
            if error.code.startswith("database_"):
                # it concerns all of them: the transaction may be gone already
                raise
            outcome = _RefusedJob(error)
        except Exception as error:  # noqa: BLE001 - a defect in one job must not take the others with it
            outcome = _RefusedJob(error)
        if isinstance(outcome, _RefusedJob):
            self._database.execute("rollback to job")
        self._database.execute("release job")
        return outcome


class _RefusedJob(NamedTuple):
    error: Exception
