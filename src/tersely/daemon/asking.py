"""Asking a repository for answers in words: its daemon, else processes of our own that do the same.

For processes that live as long as a conversation, and have an event loop that must not be kept
waiting. What it takes to be what a daemon is, is loaded only where there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tersely.daemon import lifecycle
from tersely.daemon.endpoint import open_connection
from tersely.daemon.ndjson.commands import TEXT_COMMAND, VALUE_COMMAND
from tersely.daemon.ndjson.messages import MILLISECONDS
from tersely.daemon.place import Place
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    DAEMON_CONNECT_SECONDS,
    DAEMON_RECEIPT_SECONDS,
    DAEMON_START_SECONDS,
    MAX_ANSWER_BYTES,
    MAX_REQUEST_SECONDS,
)
from tersely.foundation.network.credentials import is_same_user
from tersely.foundation.process.identity import program_identity
from tersely.foundation.settings import ENVIRONMENT_PREFIX, load
from tersely.foundation.types import JsonMapping, JsonObject

if TYPE_CHECKING:
    from tersely.code.index.refresh import Progress
    from tersely.daemon.processes.own_processes import OwnProcesses

MAX_OPEN_REPOSITORIES = 4  # that one process asks at a time without a daemon
# until a daemon ends that a process like this has started, once no such process is connected
DAEMON_LEFT_SECONDS = 30
_REPLY_BYTES = MAX_ANSWER_BYTES + 100_000  # the longest line of a reply
_CONNECT_AGAIN_SECONDS = 0.05
_NOT_FOR_US = "unknown_command"  # what a daemon says that belongs to another program


class _Held(NamedTuple):
    """A connection on which nothing is asked."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Asking:
    """Asks any number of repositories. Close it, on the event loop that it was used on.

    With `starts_daemons` a daemon that is missing is started where the setting `daemon` does not
    forbid it, and one that is slow is waited for: of such askers there may be many.
    """

    def __init__(self, answer_words: str, *, starts_daemons: bool = False) -> None:
        self._answer_words = answer_words
        self._starts_daemons = starts_daemons
        self._receipt_seconds = DAEMON_START_SECONDS if starts_daemons else DAEMON_RECEIPT_SECONDS
        self._identity = program_identity()
        self._held: dict[str, _Held] = {}  # by resolved root
        self._own: dict[str, OwnProcesses] = {}  # by resolved root, the one asked last at the end

    async def ask(
        self,
        root: Path,
        command: str,
        arguments: JsonMapping,
        on_progress: Progress,
        *,
        is_whole: bool = False,
    ) -> JsonObject:
        """A `capabilities.reply.Reply` in JSON; raises what there is instead. Who is cancelled
        gives the answer up.

        With `is_whole` nothing is cut, and the reply names the files that the answer stands for.
        """
        question = {
            "command": command,
            "arguments": dict(arguments),
            "environment": _environment(),
            "whole": is_whole,
        }
        reply = await self._of_daemon(root, {"cmd": TEXT_COMMAND, **question}, on_progress)
        if reply is None:
            reply = json.loads(await self._own_of(str(root)).ask(question, on_progress))
        return _success_of(reply)

    async def revision(self, root: Path) -> str:
        """The revision that cacheable answers depend on beside their question, as the files are
        now; empty if it is not known.
        """
        reply = await self._of_daemon(root, {"cmd": "revision"})
        return (
            await self._own_of(str(root)).revision()
            if reply is None
            else str(_success_of(reply)["answers"])
        )

    async def value(self, root: Path, command: str, arguments: JsonMapping) -> Any:
        """The result of a command as a plain value, for doors that draw it; raises what there is
        instead.
        """
        question = {"command": command, "arguments": dict(arguments)}
        reply = await self._of_daemon(root, {"cmd": VALUE_COMMAND, **question})
        if reply is None:
            reply = json.loads(await self._own_of(str(root)).value(command, arguments))
        return _success_of(reply)["result"]

    def close(self) -> None:
        """End all processes of our own, and let go of daemons."""
        for held in self._held.values():
            held.writer.close()
        self._held.clear()
        for own in self._own.values():
            own.close()
        self._own.clear()

    async def _of_daemon(
        self,
        place: Path,
        question: JsonObject,
        on_progress: Progress = lambda done, total: None,
    ) -> JsonObject | None:
        """The reply of a daemon, one that is started for it if need be; None if there is none of
        this program.
        """
        root, settings = str(place), load(place, _environment())
        request = {"timeout_ms": MAX_REQUEST_SECONDS * MILLISECONDS, **question}
        if settings.daemon == "off":
            return None
        reply = await self._ask_daemon(root, request, on_progress)
        if reply is None and (self._starts_daemons or settings.daemon == "start"):
            left_seconds = None if settings.daemon == "start" else DAEMON_LEFT_SECONDS
            start = partial(lifecycle.start_missing, left_seconds=left_seconds)
            if await asyncio.to_thread(
                start, root, self._answer_words, settings.daemon_idle_seconds
            ):
                reply = await self._ask_daemon(root, request, on_progress)
        return reply

    async def _stay_connected(self, root: str) -> None:
        """Have a connection to a daemon for as long as this process lives: it knows by that that
        somebody may ask again.
        """
        held = self._held.get(root)
        if held is not None and not held.reader.at_eof():
            return
        if held is not None or len(self._held) >= MAX_OPEN_REPOSITORIES:
            self._held.pop(root if held is not None else next(iter(self._held))).writer.close()
        self._held[root] = _Held(*await _connected(Place.of(root).socket))

    async def _ask_daemon(
        self, root: str, request: JsonObject, on_progress: Progress
    ) -> JsonObject | None:
        """The reply of a daemon of this program, None if there is none."""
        try:
            async with asyncio.timeout(DAEMON_CONNECT_SECONDS):
                if self._starts_daemons:
                    await self._stay_connected(root)
                reader, writer = await _connected(Place.of(root).socket)
        except OSError:  # and `TimeoutError`, which is one
            return None
        with contextlib.closing(writer):  # a daemon gives up what nobody waits for
            if not is_same_user(writer.get_extra_info("socket")):
                return None
            ours = {"root": root, "program_identity": self._identity}
            writer.write(json.dumps({**request, **ours}).encode() + b"\n")
            try:
                reply = await _reply(reader, on_progress, self._receipt_seconds)
            except (OSError, ValueError):
                return None
        return None if reply.get("code") == _NOT_FOR_US else reply

    def _own_of(self, root: str) -> OwnProcesses:
        from tersely.daemon.processes.own_processes import OwnProcesses

        own = self._own.pop(root, None) or OwnProcesses(root, self._answer_words, self._identity)
        self._own[root] = own
        while len(self._own) > MAX_OPEN_REPOSITORIES:
            self._own.pop(next(iter(self._own))).close()
        return own


def _environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)
    }


def _success_of(reply: JsonMapping) -> JsonObject:
    """A reply, unless it is a refusal."""
    if not reply["success"]:
        raise TerselyError(reply["code"], reply["error"], reply.get("hint", ""))
    return dict(reply)


async def _connected(path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a daemon, after those of others where it has more of them waiting than it can
    hold.
    """
    while True:
        try:
            return await open_connection(path, _REPLY_BYTES)
        except BlockingIOError:
            await asyncio.sleep(_CONNECT_AGAIN_SECONDS)


async def _reply(
    reader: asyncio.StreamReader, on_progress: Progress, receipt_seconds: float
) -> JsonObject:
    """The first line that is a reply; before it come a receipt, soon, and words on the progress."""
    async with asyncio.timeout(receipt_seconds):
        line = await reader.readline()
    while True:
        if not line:
            raise ConnectionResetError("the daemon has hung up")
        reply = json.loads(line) if line.strip() else {"progress": 0, "total": 0}
        if "progress" not in reply:
            return dict(reply)
        if reply["total"]:
            on_progress(reply["progress"], reply["total"])
        line = await reader.readline()
