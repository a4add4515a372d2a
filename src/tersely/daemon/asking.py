"""Asking a repository for answers in words: its daemon if one answers, else processes of our own that do the same.

For processes that live as long as a conversation, and have an event loop that must not be kept waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tersely.code.index.refresh import Progress
from tersely.daemon import lifecycle
from tersely.daemon.dispatch import Dispatcher
from tersely.daemon.freshness import Freshness
from tersely.daemon.place import Place
from tersely.daemon.service import Service
from tersely.foundation.credentials import is_same_user
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    DAEMON_CONNECT_SECONDS,
    DAEMON_RECEIPT_SECONDS,
    MAX_ANSWER_BYTES,
    MAX_OPEN_REPOSITORIES,
    MAX_REQUEST_SECONDS,
)
from tersely.foundation.process.identity import program_identity
from tersely.foundation.settings import ENVIRONMENT_PREFIX, load
from tersely.protocols.commands import TEXT_COMMAND
from tersely.protocols.messages import MILLISECONDS

_REPLY_BYTES = MAX_ANSWER_BYTES + 100_000  # the longest line of a reply
_NOT_FOR_US = "unknown_command"  # what a daemon says that belongs to another program


class Asking:
    """Asks any number of repositories. Close it, on the event loop that it was used on."""

    def __init__(self, answer_words: str) -> None:
        self._answer_words = answer_words
        self._identity = program_identity()
        self._own: dict[str, _Own] = {}  # by resolved root, the one asked last at the end
        self._starting: set[asyncio.Task[None]] = set()

    async def ask(
        self, root: Path, command: str, arguments: Mapping[str, Any], on_progress: Progress, *, is_whole: bool = False
    ) -> dict[str, Any]:
        """A `capabilities.reply.Reply` in JSON; raises what there is instead. Who is cancelled gives the answer up.

        With `is_whole` nothing is cut, and the reply names the files that the answer stands for.
        """
        environment = _environment()
        settings = load(root, environment)
        question = {"command": command, "arguments": dict(arguments), "environment": environment, "whole": is_whole}
        request = {"cmd": TEXT_COMMAND, "timeout_ms": MAX_REQUEST_SECONDS * MILLISECONDS, **question}
        reply = None if settings.daemon == "off" else await self._ask_daemon(str(root), request, on_progress)
        if reply is None:
            reply = json.loads(await self._own_of(str(root)).ask(question, on_progress))
            if settings.daemon == "start":
                self._start_daemon(str(root), settings.daemon_idle_seconds)
        return _told(reply)

    async def revision(self, root: Path) -> str:
        """What cacheable answers depend on beside their question, as the files are now; empty if it is not known."""
        if load(root, _environment()).daemon != "off":
            request = {"cmd": "revision", "timeout_ms": MAX_REQUEST_SECONDS * MILLISECONDS}
            reply = await self._ask_daemon(str(root), request, lambda done, total: None)
            if reply is not None:
                return str(_told(reply)["answers"])
        return await self._own_of(str(root)).revision()

    async def value(self, root: Path, command: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a command as a plain value, for doors that draw it; raises what there is instead."""
        return _told(json.loads(await self._own_of(str(root)).value(command, arguments)))["result"]

    def close(self) -> None:
        """End all processes of our own."""
        for own in self._own.values():
            own.close()
        self._own.clear()

    async def _ask_daemon(self, root: str, request: dict[str, Any], on_progress: Progress) -> dict[str, Any] | None:
        """The reply of a daemon of this program, None if there is none."""
        try:
            async with asyncio.timeout(DAEMON_CONNECT_SECONDS):
                reader, writer = await asyncio.open_unix_connection(Place.of(root).socket, limit=_REPLY_BYTES)
        except OSError:  # and `TimeoutError`, which is one
            return None
        with contextlib.closing(writer):  # a daemon gives up what nobody waits for
            if not is_same_user(writer.get_extra_info("socket")):
                return None
            ours = {"root": root, "program_identity": self._identity}
            writer.write(json.dumps({**request, **ours}).encode() + b"\n")
            try:
                reply = await _reply(reader, on_progress)
            except (OSError, ValueError):
                return None
        return None if reply.get("code") == _NOT_FOR_US else reply

    def _own_of(self, root: str) -> _Own:
        own = self._own.pop(root, None) or _Own(root, self._answer_words, self._identity)
        self._own[root] = own
        while len(self._own) > MAX_OPEN_REPOSITORIES:
            self._own.pop(next(iter(self._own))).close()
        return own

    def _start_daemon(self, root: str, idle_seconds: int) -> None:
        starting = asyncio.to_thread(lifecycle.start_unasked, root, self._answer_words, idle_seconds)
        task = asyncio.get_running_loop().create_task(starting)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)}


def _told(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply, unless it is a refusal."""
    if not reply["success"]:
        raise TerselyError(reply["code"], reply["error"], reply.get("hint", ""))
    return dict(reply)


async def _reply(reader: asyncio.StreamReader, on_progress: Progress) -> dict[str, Any]:
    """The first line that is a reply; before it come a receipt, soon, and words on the progress."""
    async with asyncio.timeout(DAEMON_RECEIPT_SECONDS):
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


class _Own:
    """What a daemon is without its socket."""

    def __init__(self, root: str, answer_words: str, identity: str) -> None:
        self._dispatcher = Dispatcher(root, answer_words)
        self._freshness = Freshness(root, self._dispatcher)
        self._service = Service(root, identity, self._dispatcher, self._freshness)
        self._dispatcher.start()
        self._freshness.start()

    async def ask(self, question: Mapping[str, Any], on_progress: Progress) -> bytes:
        task = ("text", question["command"], question["arguments"], question["environment"], question["whole"])
        client = object()  # every question is a client of its own: none waits for the turn of another
        return await self._service.ask(client, MAX_REQUEST_SECONDS, task, on_progress)

    async def value(self, command: str, arguments: Mapping[str, Any]) -> bytes:
        return await self._service.ask(object(), MAX_REQUEST_SECONDS, ("call", command, dict(arguments)))

    async def revision(self) -> str:
        return await self._service.revision()

    def close(self) -> None:
        self._freshness.close()
        self._dispatcher.close()
