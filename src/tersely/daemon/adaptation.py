"""Fitting search to the repository while nobody asks: now and then, in a process of its own of the lowest priority.

That process ends with the daemon, by whatever end, and is ended when it takes too long. What it makes takes the place
of what there was in one step, and answers are as they were until then.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from tersely.foundation.clock import Stopwatch, elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import ADAPT_AFTER_SECONDS, ADAPT_EVERY_SECONDS, ADAPT_SECONDS
from tersely.foundation.process.detached import import_path
from tersely.foundation.settings import load

UNLEARNT_SHARE = 0.2  # of the files, from which on it is worth fitting search again
LOWEST_PRIORITY = 19

_LOG = logging.getLogger(__name__)
_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from tersely.daemon.adaptation import main; main(sys.argv[1])"
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Adaptation:
    """When search is fitted to one repository, and how that goes. Close it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._running: asyncio.Task[None] | None = None
        self._revision = ""  # that was looked at last
        self._ended_seconds = 0.0
        self._is_awaited = False
        self.state: dict[str, Any] = {"state": "waiting", "seconds": None}

    def soon(self) -> None:
        """Do not wait until nobody asks for a while."""
        self._is_awaited = True

    def look(self, revision: str, unasked_seconds: float) -> asyncio.Task[None] | None:
        """Begin if it is time to; to be called now and then. `unasked_seconds` says how long nobody has asked.

        Returns what is going on, None for nothing.
        """
        if not revision or revision == self._revision or self._running is not None:
            return self._running
        has_rested = not self._ended_seconds or elapsed_seconds() - self._ended_seconds > ADAPT_EVERY_SECONDS
        if self._is_awaited or (has_rested and unasked_seconds > ADAPT_AFTER_SECONDS):
            self._is_awaited = False
            self._revision = revision
            self._running = asyncio.get_running_loop().create_task(self._run())
        return self._running

    async def close(self) -> None:
        """End what is going on."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        watch = Stopwatch()
        self._tell("running", None)
        try:
            said = await self._said() if self._is_allowed() else "off"
        except TimeoutError:
            _LOG.warning("search was not fitted to the repository within %s s", ADAPT_SECONDS)
            said = ""
        except OSError as error:
            _LOG.warning("search is not fitted to the repository: %s", error)
            said = ""
        self._tell(said or "failed", round(watch.seconds(), 3))
        self._ended_seconds = elapsed_seconds()
        self._running = None

    def _tell(self, state: str, seconds: float | None) -> None:
        self.state = {"state": state, "seconds": seconds}

    def _is_allowed(self) -> bool:
        try:
            return load(Path(self._root)).adapt == "idle"
        except TerselyError:
            return False  # whoever asks next is told what is wrong with the settings

    async def _said(self) -> str:
        command = [sys.executable, "-c", _PROGRAM, self._root, *import_path()]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=self._root, env={**os.environ, **_ONE_THREAD},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async with asyncio.timeout(ADAPT_SECONDS):
                return (await process.stdout.readline()).decode().strip()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def main(root: str) -> None:
    """Fit search to the repository at `root` if it has changed enough, and say what came of it in one word."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    os.nice(LOWEST_PRIORITY)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # only while no other process wants to compute
    from tersely.code.engine import Engine  # for this process alone: the daemon itself stays small

    with Engine.open(Path(root)) as engine:
        if engine.search.unlearnt_share < UNLEARNT_SHARE:
            said = "fitted"
        else:
            said = "fitted" if engine.search.adapt() else "too_small"
    print(said, flush=True)


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)
