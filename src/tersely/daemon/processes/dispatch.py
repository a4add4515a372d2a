"""The dispatch of tasks to processes: short tasks pass long ones, and long ones are never on all
processes at once.

Agents that work together ask at the same moment: a long question that came first would have a
process while all short ones wait for the others. So it begins to wait a little later than they.

One process answers as long as that is enough, for each holds a graph of its own. While a task takes
long and others wait, more are started, which are given a task when they have loaded what answers
need; they end when they have had nothing to do for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from tersely.daemon.processes.job_queue import Job, JobQueue, Task
from tersely.daemon.processes.process import AnalysisProcess, ProcessLostError
from tersely.foundation.background import Background
from tersely.foundation.clock import Stopwatch, elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress

MAX_WAITING_REQUESTS = 1_024  # of all
MAX_ANALYSIS_PROCESSES = 3  # the last one is left to tasks that are expected to be short
SPARE_PROCESS_SECONDS = 20  # without work, until one beside the first ends
CANCEL_GRACE_SECONDS = 0.5  # for a question that nobody waits for any more to end by itself
PROCESS_RESTING_BYTES = 130_000_000  # one that has nothing to do and holds more is replaced
PROCESS_MOST_BYTES = 600_000_000  # one that holds more is replaced after the question
RESTING_SECONDS = 5.0  # without a question
LONG_PAUSE_SECONDS = 0.005  # of a long question, for short ones that come at the same moment
HELP_AFTER_SECONDS = 0.1  # that a task has waited, until another process is started
TIDY_SECONDS = 1.0  # between looks at what idle processes hold


class Dispatcher:
    """Gives tasks to processes. Close it."""

    def __init__(self, root: str, answer_words: str) -> None:
        self._root = root
        self._answer_words = answer_words
        self._processes: list[AnalysisProcess] = []
        self._idle: list[AnalysisProcess] = []
        self._waiting = JobQueue()
        self._running: set[Job] = set()
        self._starting = 0
        self._is_closed = False
        self._has_rested = True
        self._asked_seconds = elapsed_seconds()
        self._background = Background()

    @property
    def processes(self) -> list[JsonObject]:
        """The state of each process, for people."""
        return [
            {
                "pid": process.pid,
                "resident_bytes": process.resident_bytes,
                "is_busy": process not in self._idle,
            }
            for process in self._processes
        ]

    @property
    def is_busy(self) -> bool:
        """True if anything waits or is being done."""
        return bool(self._running) or len(self._waiting) > 0

    async def ask(self, client: Hashable, task: Task, on_progress: Progress | None = None) -> Any:
        """The result of a task; raises what the task says, `busy`, or `internal_error` for a lost
        process.

        Whoever stops waiting cancels the task.
        """
        loop = asyncio.get_running_loop()
        job = Job(client, task, loop.create_future(), on_progress=on_progress)
        if job.is_question and self._waiting.is_long(job):
            await asyncio.sleep(LONG_PAUSE_SECONDS)
        if len(self._waiting) >= MAX_WAITING_REQUESTS:
            raise TerselyError(
                "busy", f"{MAX_WAITING_REQUESTS:,} requests are waiting", "ask again later"
            )
        self._waiting.add(job)
        self._asked_seconds = elapsed_seconds()
        self._has_rested = False
        self._hand_out()
        help_timer = (
            loop.call_later(HELP_AFTER_SECONDS, self._get_help) if job.process is None else None
        )
        try:
            kind, value = await job.answer
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        finally:
            if help_timer is not None:
                help_timer.cancel()
        if kind == "failed":
            raise TerselyError(*value)
        return value

    def start(self) -> None:
        """Have a first process, and look after all of them."""
        self._add_process()
        self._background.begin(self._look_after())

    def close(self) -> None:
        """End all processes, and all tasks with them."""
        self._is_closed = True
        self._background.cancel()
        for process in self._processes:
            process.stop()
        self._processes.clear()

    # Handing out

    def _hand_out(self) -> None:
        while (
            self._idle
            and (job := self._waiting.take(elapsed_seconds(), self._is_left_to_short_ones))
            is not None
        ):
            job.process = self._idle.pop()
            self._running.add(job)
            self._background.begin(self._do(job, job.process))

    @property
    def _is_left_to_short_ones(self) -> bool:
        """True if long tasks keep as many processes busy as they may."""
        return sum(map(self._waiting.is_long, self._running)) >= MAX_ANALYSIS_PROCESSES - 1

    async def _do(self, job: Job, process: AnalysisProcess) -> None:
        watch = Stopwatch()
        try:
            answer = await process.ask(job.task, job.on_progress)
        except ProcessLostError:
            self._drop(process)
            self._running.discard(job)
            job.process = None
            self._try_again(job)
            return
        else:
            self._waiting.durations.note(job.kind, watch.seconds())
        self._running.discard(job)
        job.process = None
        if not job.answer.done():
            job.answer.set_result(answer)
        await self._take_back(process)

    async def _take_back(self, process: AnalysisProcess) -> None:
        """Have a process that has answered be idle, unless it is to be replaced."""
        try:
            await process.tidied()
        except ProcessLostError:
            self._drop(process)
        else:
            process.idle_since = elapsed_seconds()
            if process.resident_bytes > PROCESS_MOST_BYTES:
                self._drop(process)
            else:
                self._idle.append(process)
        self._keep_one()
        self._hand_out()

    def _try_again(self, job: Job) -> None:
        """A process may have been ended from outside; a task that ends two is the cause of it."""
        if not job.answer.done():
            if job.is_second_try:
                job.answer.set_result(
                    ("failed", ("internal_error", "the processes that worked on it have ended", ""))
                )
            else:
                job.is_second_try = True
                self._waiting.add(job)
        self._keep_one()
        self._hand_out()

    # Giving up

    def _give_up(self, job: Job) -> None:
        if job.process is None:
            self._stop(job)
        else:  # most tasks are done before it is worth losing what their process has loaded
            asyncio.get_running_loop().call_later(CANCEL_GRACE_SECONDS, self._stop, job)

    def _stop(self, job: Job) -> None:
        if job.process is not None:
            job.process.stop()
        self._waiting.remove(job)

    # Processes

    def _get_help(self) -> None:
        if (
            len(self._waiting) > 0
            and len(self._processes) + self._starting < MAX_ANALYSIS_PROCESSES
        ):
            self._add_process()

    def _keep_one(self) -> None:
        if not self._processes and not self._starting:
            self._add_process()

    def _add_process(self) -> None:
        if not self._is_closed:
            self._starting += 1
            self._background.begin(self._start_process())

    async def _start_process(self) -> None:
        try:
            process = await AnalysisProcess.start(self._root, self._answer_words)
        except OSError as error:
            self._refuse(error)
            return
        finally:
            self._starting -= 1
        if self._is_closed:
            process.stop()
            return
        self._processes.append(process)
        is_help = len(self._processes) > 1
        await (self._prepare(process, ("warm",)) if is_help else self._prepare(process))
        process.idle_since = elapsed_seconds()
        self._keep_one()
        self._hand_out()

    async def _prepare(self, process: AnalysisProcess, *tasks: Task) -> None:
        """Have a process do tasks that nobody waits for, then be idle."""
        try:
            for task in tasks:
                await process.ask(task)
                await process.tidied()
        except ProcessLostError:
            self._drop(process)
            return
        self._idle.append(process)

    def _refuse(self, error: OSError) -> None:
        """Fail what waits where no process can be started: the repository is gone, or there is no
        memory.
        """
        if self._processes or self._starting > 1:  # another process, which may come
            return
        message = f"no process can be started in {self._root}: {error.strerror}"
        for job in list(self._waiting):
            self._waiting.remove(job)
            if not job.answer.done():
                job.answer.set_result(("failed", ("root_not_found", message, "")))

    def _drop(self, process: AnalysisProcess) -> None:
        process.stop()
        if process in self._processes:
            self._processes.remove(process)
        if process in self._idle:
            self._idle.remove(process)

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            for process in list(self._idle):
                if (
                    len(self._processes) > 1
                    and elapsed_seconds() - process.idle_since > SPARE_PROCESS_SECONDS
                ):
                    self._drop(process)
            is_at_rest = (
                not self.is_busy and elapsed_seconds() - self._asked_seconds > RESTING_SECONDS
            )
            if is_at_rest and not self._has_rested:
                self._has_rested = True
                await self._rest()

    async def _rest(self) -> None:
        """Give memory back that a rare question has taken."""
        for process in list(self._idle):
            self._idle.remove(process)
            await self._prepare(process, ("rest",))
            if process.resident_bytes > PROCESS_RESTING_BYTES:
                self._drop(process)
        self._keep_one()
        self._hand_out()
