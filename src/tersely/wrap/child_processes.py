"""Programs that a program has had started: each runs wrapped as this one does, without a terminal
of a user's; and processes that it has left, which stay below its wrapper.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePath

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import WRAPPER_END_SECONDS
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.wrap.inline.commands import Spawn

MAX_SPAWNED_PROGRAMS = 16  # of one program, at a time
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all below this process whose parents end: a program that a wrapped agent
    has cut off from itself is still known as the agent's. Linux alone has that.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(own: Collection[int]) -> None:
    """Wait for the adopted processes that have ended; `own` are the children that others wait for,
    beside those in the session of this process.
    """
    for path in Path("/proc/self/task").glob("*/children"):
        for pid in map(int, path.read_text("ascii").split()):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                if pid not in own and os.getsid(pid) != os.getsid(0):
                    os.waitpid(pid, os.WNOHANG)


class Spawned:
    """The programs that one program has started, by name. They end with it."""

    def __init__(
        self, wrapper: Sequence[str], allowed: Sequence[str], count: Callable[[], object]
    ) -> None:
        """`count` has one more program counted, and raises what keeps it from being started."""
        self._wrapper = tuple(wrapper)
        self._count = count
        self._allowed = frozenset(allowed)
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, asked: Spawn) -> str:
        """Start a program; what to say of it. Raises `denied`, `name_taken`, `spending_limit`,
        `program_failed`.
        """
        self._forget_ended()
        program = asked.program[0]
        if program not in self._allowed:
            hint = f"whoever runs this agent allows it: tersely run --spawn {program}"
            raise TerselyError("denied", f"{program} may not be started from here", hint)
        if asked.name in self._running:
            raise TerselyError(
                "name_taken", f"{asked.name} runs already", f"->relay:release {asked.name} ends it"
            )
        if len(self._running) >= MAX_SPAWNED_PROGRAMS:
            raise TerselyError(
                "busy", f"{MAX_SPAWNED_PROGRAMS} programs run already", "release one of them"
            )
        await asyncio.to_thread(self._count)
        # it is counted by now, where else it would be as it starts
        environment = {name: value for name, value in os.environ.items() if name != NAME_VARIABLE}
        # one word: the text may look like an option
        task = [f"--task={asked.task}"] if asked.task else []
        words = [*self._wrapper, f"--name={asked.name}", *task, "--", *asked.program]
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise TerselyError(
                "program_failed", f"{program} cannot be run: {error.strerror}"
            ) from error
        self._running[asked.name] = process
        return f"{asked.name} runs as {PurePath(program).name}, process {process.pid}"

    async def end(self, name: str) -> str:
        """End a program; what to say of it. Raises `recipient_not_found`."""
        self._forget_ended()
        process = self._running.get(name)
        if process is None:
            raise TerselyError(
                "recipient_not_found", f"no program that was started from here is called {name!r}"
            )
        await _end(process)
        self._running.pop(name, None)
        return f"{name} has ended"

    def process_ids(self) -> set[int]:
        """The processes that are waited for here."""
        return {one.pid for one in self._running.values()}

    async def end_all(self) -> None:
        """End all that still run."""
        self._forget_ended()
        await asyncio.gather(*map(_end, self._running.values()))
        self._running.clear()

    def _forget_ended(self) -> None:
        self._running = {name: one for name, one in self._running.items() if one.returncode is None}


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), WRAPPER_END_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
