"""A command in a terminal that an editor shows to the user, kept in check like any other.

The supervisor reads what it is told from a named pipe in a folder of this user's alone: that pipe
stays open as long as somebody waits for the command.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tersely.foundation.clock import Stopwatch

MAX_TOLD_BYTES = 16_384  # that a pipe takes everywhere before somebody reads it
STATUS_DESCRIPTOR = 3  # at which the supervisor says how the command ended
TellTerminal = Callable[[str], Awaitable[None]]
_SCRIPT = f'exec "$@" <"$0/told" {STATUS_DESCRIPTOR}>"$0/status"'


class TerminalOfEditor(Protocol):
    """A terminal in which a program runs."""

    async def output(self) -> str:
        """The output of the program once it has ended, "" where the editor does not say."""

    async def close(self) -> None:
        """End the program if it runs, and let go of the terminal."""


class Terminals(Protocol):
    """The terminals of an editor."""

    async def open(
        self, words: Sequence[str], folder: str, tell: TellTerminal
    ) -> TerminalOfEditor | None:
        """Start a program in a terminal, and tell its id; None where the editor starts none."""


class ShownCommand(NamedTuple):
    """A command that has ended: what its supervisor says of it, and what it printed."""

    status: bytes
    output: str


async def untold(terminal: str) -> None:
    """Of a call that nobody looks on at."""


class Window(NamedTuple):
    """The place where a command is shown."""

    terminals: Terminals
    tell: TellTerminal

    async def run(
        self, words: Sequence[str], told: bytes, folder: str, seconds: float, end_seconds: float
    ) -> ShownCommand | None:
        """Run a supervisor there for at most that long; None where it was not started."""
        if len(told) > MAX_TOLD_BYTES:
            return None
        with _place(told) as place:
            terminal = await self._open(["/bin/sh", "-c", _SCRIPT, place.folder, *words], folder)
            if terminal is None:
                return None
            ending = asyncio.ensure_future(terminal.output())
            try:
                await asyncio.wait([ending], timeout=seconds)
            finally:
                place.let_go()
                try:
                    await waited(ending, end_seconds)
                finally:
                    await terminal.close()
            output = ending.result() if ending.done() else ""
            return ShownCommand(Path(place.folder, "status").read_bytes(), output)

    async def _open(self, words: Sequence[str], folder: str) -> TerminalOfEditor | None:
        """Open a terminal; whoever is cancelled meanwhile closes what was opened."""
        opening = asyncio.ensure_future(self.terminals.open(words, folder, self.tell))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if terminal := await opening:
                await terminal.close()
            raise


class _PipeFolder(NamedTuple):
    """A folder with the pipe to a supervisor, and our end of it."""

    folder: str
    ends: list[int]

    def let_go(self) -> None:
        """Have the supervisor know that nobody waits any more."""
        while self.ends:
            os.close(self.ends.pop())


@contextlib.contextmanager
def _place(told: bytes) -> Iterator[_PipeFolder]:
    with tempfile.TemporaryDirectory(prefix="tersely-", ignore_cleanup_errors=True) as folder:
        os.mkfifo(f"{folder}/told", 0o600)
        Path(folder, "status").touch(0o600)
        place = _PipeFolder(folder, [os.open(f"{folder}/told", os.O_RDWR | os.O_NONBLOCK)])
        try:
            os.write(place.ends[0], told)
            yield place
        finally:
            place.let_go()


async def waited(ending: asyncio.Future[str] | asyncio.Future[int], seconds: float) -> None:
    """Wait for what ends at most that long; one who is cancelled again waits too."""
    watch = Stopwatch()
    cancelled: asyncio.CancelledError | None = None
    while not ending.done() and (left := seconds - watch.seconds()) > 0:
        try:
            await asyncio.wait([ending], timeout=left)
        except asyncio.CancelledError as error:
            cancelled = error
    if not ending.done():
        ending.cancel()
    if cancelled is not None:
        raise cancelled
