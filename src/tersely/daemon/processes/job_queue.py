"""The queue of waiting tasks: short ones pass long ones, and none waits for ever.

The task with the highest response ratio goes first: the time that it waits, by the time that it
takes (P. Brinch Hansen, 1971). How long it takes is what tasks of its kind usually took before. A
client with many tasks counts as one that waits since it was last given a process, so that it keeps
nobody out.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.types import entity, field

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress
    from tersely.daemon.processes.process import AnalysisProcess

MAX_KNOWN_KINDS = 256  # of tasks, whose durations are remembered; their names come from clients
UNKNOWN_SECONDS = 0.05  # that a task of an unknown kind is expected to take
LEAST_SECONDS = 0.001  # that any is
_NEWEST_SHARE = 0.25  # of the last duration in the expected one
_QUESTIONS = frozenset({"call", "text", "words"})  # whose kind is their command

Task = tuple[Any, ...]


@entity
class Job:
    """A task on its way."""

    client: Hashable
    task: Task
    answer: asyncio.Future[Any]
    process: AnalysisProcess | None = None  # while it is being done
    on_progress: Progress | None = None
    is_second_try: bool = False
    asked_seconds: float = field(default_factory=elapsed_seconds)

    @property
    def is_question(self) -> bool:
        """True if a client has asked it, rather than the daemon itself."""
        return self.task[0] in _QUESTIONS

    @property
    def kind(self) -> tuple[str, Hashable]:
        """The kind of tasks that take about as long: what is asked, and about nothing in
        particular.
        """
        name: str = self.task[0]
        if not self.is_question:
            return name, ""
        # The standing comes first; a command line begins with its program.
        asked: Hashable = self.task[3][:1] if name == "words" else self.task[2]
        return (name, asked)


class Durations:
    """The expected seconds of tasks, by their kind: the geometric mean of what such tasks took, the
    last ones counting most. One that takes a hundred times as long says little of the next.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, float] = OrderedDict()

    def expected(self, kind: Hashable) -> float:
        """The seconds that such a task usually takes."""
        return self._known.get(kind, UNKNOWN_SECONDS)

    def note(self, kind: Hashable, seconds: float) -> None:
        """A task of that kind took so long."""
        took = max(LEAST_SECONDS, seconds)
        before = self._known.pop(kind, took)
        self._known[kind] = before * (took / before) ** _NEWEST_SHARE
        while len(self._known) > MAX_KNOWN_KINDS:
            self._known.popitem(last=False)


class JobQueue:
    """Jobs that wait, and what is known of how long such jobs take."""

    def __init__(self) -> None:
        self.durations = Durations()
        self._waiting: dict[Hashable, list[Job]] = {}  # by client
        # when each of these was last given a process
        self._served_seconds: dict[Hashable, float] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __iter__(self) -> Iterator[Job]:
        for jobs in self._waiting.values():
            yield from jobs

    def add(self, job: Job) -> None:
        """Have a job wait."""
        self._waiting.setdefault(job.client, []).append(job)

    def remove(self, job: Job) -> None:
        """Have a job wait no longer, if it does."""
        jobs = self._waiting.get(job.client, [])
        if job in jobs:
            jobs.remove(job)
        if not jobs:
            self._waiting.pop(job.client, None)
            self._served_seconds.pop(job.client, None)

    def is_long(self, job: Job) -> bool:
        """True if a job is expected to take longer than one of which nothing is known."""
        return self.durations.expected(job.kind) > UNKNOWN_SECONDS

    def take(self, now: float, only_short: bool) -> Job | None:
        """The job that is done next, of all or of those that are not long; it waits no longer.
        `now` is in seconds.
        """
        firsts: list[Job] = []
        for jobs in self._waiting.values():
            fitting = [job for job in jobs if not (only_short and self.is_long(job))]
            if fitting:
                firsts.append(
                    max(fitting, key=lambda job: self._ratio(job, now, job.asked_seconds))
                )
        if not firsts:
            return None
        job = max(firsts, key=lambda job: self._ratio(job, now, self._unserved_since(job)))
        self._served_seconds[job.client] = now
        self.remove(job)
        return job

    def _ratio(self, job: Job, now: float, since_seconds: float) -> float:
        return (now - since_seconds) / self.durations.expected(job.kind)

    def _unserved_since(self, job: Job) -> float:
        return max(job.asked_seconds, self._served_seconds.get(job.client, job.asked_seconds))
