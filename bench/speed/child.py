"""A command run as a child process: wall clock, processor time and memory of it and all that it
starts.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

FIRST_SAMPLE_SECONDS = 0.004  # after the start; then ever more slowly
SAMPLING_GROWTH = 1.2
SLOWEST_SAMPLING_SECONDS = 0.05
KIBIBYTES_A_MEBIBYTE = 1024
MAX_SECONDS = 1800.0  # a command that takes longer is stopped


@dataclass(frozen=True, slots=True)
class Run:
    """One run, or the medians of several. Memory is the peak of the process tree, shared pages
    counted once.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and where."""

    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str] | None = None  # beside our own
    seconds: float = MAX_SECONDS  # after which it and all that it started are stopped
    output: Path | None = None  # where what it prints is kept
    statuses: Collection[int] = (0,)  # with which it may end


def median_of(runs: int, command: Command, before: Callable[[], object] = lambda: None) -> Run:
    """Medians of several runs; `before` sets the stage for each."""
    measured = []
    for _ in range(runs):
        before()
        measured.append(run(command))
    return Run(
        statistics.median(each.wall_seconds for each in measured),
        statistics.median(each.cpu_seconds for each in measured),
        max(each.peak_mb for each in measured),
    )


def run(command: Command) -> Run:
    """Run once. Raises `CalledProcessError` when the command fails, `TimeoutError` when it takes
    too long.
    """
    environment = {**os.environ, **(command.environment or {})}
    with open(command.output or os.devnull, "wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command.words, cwd=command.folder, env=environment, stdout=output, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    watch = _Watch(process.pid)
    watch.start()
    timer = threading.Timer(command.seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    with cast("IO[bytes]", process.stderr) as said:
        errors = said.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    watch.stop()
    if wall >= command.seconds:
        raise TimeoutError(f"more than {command.seconds:.0f} s")
    if process.returncode not in command.statuses:
        raise subprocess.CalledProcessError(
            process.returncode, list(command.words), stderr=errors[-2000:]
        )
    return Run(
        wall,
        usage.ru_utime + usage.ru_stime,
        watch.peak_mb or usage.ru_maxrss / KIBIBYTES_A_MEBIBYTE,
    )


class _Watch(threading.Thread):
    """Samples the memory of a process tree."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_mb = 0.0
        self._done = threading.Event()

    def run(self) -> None:
        """Sample until stopped. The kernel's own peak of a child would count the memory of its
        parent.
        """
        pause = FIRST_SAMPLE_SECONDS
        while not self._done.wait(pause):
            sampled = sum(_proportional_kib(pid) for pid in _tree(self.pid)) / KIBIBYTES_A_MEBIBYTE
            self.peak_mb = max(self.peak_mb, sampled)
            pause = min(pause * SAMPLING_GROWTH, SLOWEST_SAMPLING_SECONDS)

    def stop(self) -> None:
        """End sampling."""
        self._done.set()
        self.join()


def _tree(pid: int) -> list[int]:
    """A process and its descendants; Linux only, elsewhere the process counts alone by its rusage."""
    found, pending = [], [pid]
    while pending:
        current = pending.pop()
        found.append(current)
        try:
            for task in Path(f"/proc/{current}/task").iterdir():
                pending.extend(int(child) for child in (task / "children").read_text().split())
        except OSError:
            continue
    return found


def _proportional_kib(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    except OSError:
        return 0
