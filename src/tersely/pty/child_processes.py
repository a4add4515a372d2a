"""Programs that a program has had started: each runs wrapped as this one does, without a terminal
of a user's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import PurePath

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import WRAPPER_END_SECONDS
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.pty.inline.commands import Spawn

MAX_SPAWNED_PROGRAMS = 16  # of one program, at a time


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
        process = self._running.pop(name, None)
        if process is None:
            raise TerselyError(
                "recipient_not_found", f"no program that was started from here is called {name!r}"
            )
        await _end(process)
        return f"{name} has ended"

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
