"""The service of requests: the daemon's own commands here, all others by an analysis process, or
from memory.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Hashable, Mapping

import tersely
from tersely.capabilities.declaration.declaration import Repeats
from tersely.code.index.directories import UNWATCHED_DIRECTORIES
from tersely.code.index.refresh import Progress
from tersely.daemon.cache import AnswerCache
from tersely.daemon.connection import Connection
from tersely.daemon.freshness import Freshness
from tersely.daemon.ndjson.commands import OWN_COMMANDS, TEXT_COMMAND, VALUE_COMMAND, WORDS_COMMAND
from tersely.daemon.ndjson.messages import Request, encode, line
from tersely.daemon.place import Place
from tersely.daemon.processes.analysis import Words
from tersely.daemon.processes.dispatch import Dispatcher
from tersely.daemon.processes.job_queue import Task
from tersely.daemon.sharing import Sharing
from tersely.daemon.watch import Changes
from tersely.foundation.clock import Stopwatch, elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.state import git_state
from tersely.foundation.process.identity import program_identity
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import JsonMapping, JsonObject

ANSWER_CACHE_BYTES = 16_000_000
_SETTINGS = ("pyproject.toml", ".tersely/config.toml")  # answers depend on them beside the files


class Service:
    """One repository, as its clients see it."""

    def __init__(
        self,
        root: str,
        identity: str,
        dispatcher: Dispatcher,
        freshness: Freshness,
        ends_when_left: bool = False,
    ) -> None:
        self._root = root
        self._identity = identity
        self._dispatcher = dispatcher
        self._freshness = freshness
        self._ends_when_left = ends_when_left
        self._stamped = [f"{root}/{path}" for path in _SETTINGS]
        self._cache = AnswerCache(ANSWER_CACHE_BYTES)
        self._sharing: Sharing[tuple[bytes, int]] = Sharing()
        self._age = Stopwatch()
        self._requests = 0
        self.asked_seconds = elapsed_seconds()
        self.shutdown = asyncio.Event()
        self._own: Mapping[str, Callable[[Connection, JsonMapping], Awaitable[JsonObject]]] = {
            "ping": self._ping,
            "status": self._status,
            "shutdown": self._shut_down,
            "invalidate": self._invalidate,
            "notify": self._notify,
            "warm": self._warm,
            "cancel": self._cancel,
            "revision": self._revision,
        }

    @property
    def is_busy(self) -> bool:
        """True if somebody waits for an answer."""
        return self._dispatcher.is_busy

    async def answer(self, connection: Connection, request: Request) -> bytes:
        """The encoded reply to a request; raises what the reply has to say otherwise."""
        self._requests += 1
        self.asked_seconds = elapsed_seconds()
        if request.command in self._own:
            for name in request.parameters:
                if name not in OWN_COMMANDS[request.command]:
                    raise TerselyError(
                        "invalid_argument", f"{request.command} has no parameter {name!r}"
                    )
            return encode(
                {
                    "success": True,
                    **await self._own[request.command](connection, request.parameters),
                }
            )
        if request.command == WORDS_COMMAND:
            self._check_program(request.parameters)
            words = _words(request.parameters)
            # says that somebody is here: a client does not wait long for a daemon that hangs
            connection.send(b"\n")
            return await self.ask(connection, request.seconds, ("words", *words))
        if request.command == TEXT_COMMAND:
            self._check_program(request.parameters)
            question = _question(request.parameters)
            connection.send(b"\n")

            def tell(done: int, total: int) -> None:
                connection.send(line(request.id, encode({"progress": done, "total": total})))

            return await self.ask(connection, request.seconds, ("text", *question), tell)
        if request.command == VALUE_COMMAND:
            self._check_program(request.parameters)
            command, arguments = _command(request.parameters)
            connection.send(b"\n")
            return await self.ask(connection, request.seconds, ("call", command, arguments))
        return await self.ask(
            connection, request.seconds, ("call", request.command, request.parameters)
        )

    async def ask(
        self,
        client: Hashable,
        seconds: float,
        task: Task,
        on_progress: Progress | None = None,
    ) -> bytes:
        """The encoded reply to a task of an analysis process, at the revision of the files as they
        are now.

        `on_progress` is told of indexing that the answer waits for.
        """
        watch = Stopwatch()
        try:
            async with asyncio.timeout(seconds):
                await self._ensure(on_progress)
        except TimeoutError:
            message = f"the index was not up to date within {seconds:g} s"
            raise TerselyError(
                "timed_out", message, "the first index of a repository takes longest"
            ) from None
        standing = self._freshness.standing
        key = self._key(task)
        state = git_state(self._root, UNWATCHED_DIRECTORIES)
        kept = self._cache.get(key) or self._cache.get((key, state))
        if kept is not None and standing.is_fresh:
            return kept
        asked = (task[0], tuple(standing), *task[1:])

        def work(tell: Progress | None) -> Awaitable[tuple[bytes, int]]:
            return self._dispatcher.ask(client, asked, tell)

        try:
            async with asyncio.timeout(max(0.001, seconds - watch.seconds())):
                shared = await self._sharing.ask((key, state, standing), work, on_progress)
                answer, repeats = shared.answer
                # whoever asks the same at the same state of the repository is given the same
                is_for_all = repeats == Repeats.AT_REVISION or (repeats and state is not None)
                if not (shared.is_own or is_for_all):
                    answer, repeats = await work(on_progress)
        except TimeoutError:
            message = f"there was no answer within {seconds:g} s"
            raise TerselyError(
                "timed_out", message, "ask for less, or allow more with timeout_ms"
            ) from None
        if repeats and standing.is_fresh and not standing.is_behind and key == self._key(task):
            self._keep(key, state, Repeats(repeats), answer)
        return bytes(answer)

    def _keep(self, key: Hashable, state: Hashable | None, repeats: Repeats, answer: bytes) -> None:
        """Keep an answer for as long as it is the same, if that can be told."""
        if repeats is Repeats.AT_REVISION:
            self._cache.put(key, answer)
        elif state is not None and state == git_state(self._root, UNWATCHED_DIRECTORIES):
            self._cache.put((key, state), answer)

    async def _ensure(self, on_progress: Progress | None) -> None:
        listeners = self._freshness.listeners
        if on_progress is not None:
            listeners.add(on_progress)
        try:
            await self._freshness.ensure()
        finally:
            if on_progress is not None:
                listeners.discard(on_progress)

    def _key(self, task: Task) -> Hashable:
        """All that an answer depends on."""
        return (*self._files(), json.dumps(task, sort_keys=True))

    def _files(self) -> tuple[Hashable, ...]:
        """What tells states of the files apart, also of those that are in no index."""
        stamps = tuple(map(_stamp, self._stamped))
        return (self._freshness.revision, self._freshness.standing.generation, stamps)

    # What it does itself

    async def _ping(self, connection: Connection, given: JsonMapping) -> JsonObject:
        return {}

    async def _status(self, connection: Connection, given: JsonMapping) -> JsonObject:
        return {
            "status": "ready" if self._freshness.revision else "indexing",
            "project": self._root,
            "socket": Place.of(self._root).socket,
            "uptime": round(self._age.seconds(), 3),
            "files": self._freshness.files,
            "revision": self._freshness.revision,
            "pid": os.getpid(),
            "version": tersely.__version__,
            "program": self._identity,
            "ends_when_left": self._ends_when_left,
            "requests": self._requests,
            "cached_answers": len(self._cache),
            "watched_directories": self._freshness.watched,
            "why_unwatched": self._freshness.why_unwatched,
            "processes": self._dispatcher.processes,
        }

    async def _shut_down(self, connection: Connection, given: JsonMapping) -> JsonObject:
        self.shutdown.set()
        return {"status": "shutting_down"}

    async def _invalidate(self, connection: Connection, given: JsonMapping) -> JsonObject:
        self._note_change(given.get("path"))
        await self._freshness.ensure()
        return {"result": {"revision": self._freshness.revision}}

    async def _notify(self, connection: Connection, given: JsonMapping) -> JsonObject:
        if "file" not in given:
            raise TerselyError(
                "invalid_argument", "notify needs file", "the path of a file that has changed"
            )
        return await self._invalidate(connection, {"path": given["file"]})

    async def _warm(self, connection: Connection, given: JsonMapping) -> JsonObject:
        await self._freshness.ensure()
        await self._dispatcher.ask(connection, ("warm",))
        return {"files": self._freshness.files, "revision": self._freshness.revision}

    async def revision(self) -> str:
        """The revision that cacheable answers depend on beside the question, as the files are now;
        empty if not known.
        """
        await self._freshness.ensure()
        standing = self._freshness.standing
        if not standing.is_fresh or standing.is_behind:
            return ""
        return content_hash(repr(self._files()).encode()).hex()

    async def _revision(self, connection: Connection, given: JsonMapping) -> JsonObject:
        self._check_program(given)
        connection.send(b"\n")
        return {"answers": await self.revision()}

    async def _cancel(self, connection: Connection, given: JsonMapping) -> JsonObject:
        if "request" not in given:
            raise TerselyError("invalid_argument", "cancel needs the id of a request")
        current = asyncio.current_task()
        found = [
            task
            for task, one in connection.requests.items()
            if one.id == given["request"] and task is not current
        ]
        for task in found:
            task.cancel()
        return {"result": {"cancelled": len(found)}}

    def _check_program(self, given: JsonMapping) -> None:
        """Raise `unknown_command` for a client of another program, which would use other words.

        Where this program has been replaced since it was started, its daemon ends.
        """
        if given.get("program_identity") == self._identity and given.get("root") == self._root:
            return
        if program_identity() != self._identity:
            self.shutdown.set()
        raise TerselyError(
            "unknown_command", "this daemon belongs to another program or repository"
        )

    def _note_change(self, path: object) -> None:
        if path is None:
            self._freshness.mark_everything()
            return
        if not isinstance(path, str):
            raise TerselyError("invalid_argument", "a path is a string")
        self._freshness.mark(Changes(paths={path.removeprefix(f"{self._root}/")}))


def _words(given: JsonMapping) -> Task:
    """The words of a command line, checked."""
    words = Words(
        given.get("program", ""), tuple(given.get("words", ())), given.get("directory", ""),
        given.get("environment", {}), given.get("is_out_terminal", False), given.get("is_error_terminal", False),
    )  # fmt: skip
    texts = (
        words.program,
        words.directory,
        *words.words,
        *words.environment,
        *words.environment.values(),
    )
    if not all(isinstance(text, str) for text in texts):
        raise TerselyError("invalid_argument", "words are strings")
    return tuple(words)


def _question(given: JsonMapping) -> Task:
    """A question that is answered in words, checked."""
    question = (
        given.get("command"),
        given.get("arguments"),
        given.get("environment"),
        given.get("whole", False),
    )
    for value, kind in zip(question, (str, dict, dict, bool), strict=True):
        if not isinstance(value, kind):
            raise TerselyError(
                "invalid_argument", "text needs a command, its arguments, and an environment"
            )
    return question


def _command(given: JsonMapping) -> tuple[str, JsonObject]:
    """A command whose result is wanted as a value, and its arguments, checked."""
    command, arguments = given.get("command"), given.get("arguments")
    if not isinstance(command, str) or not isinstance(arguments, dict):
        raise TerselyError("invalid_argument", "value needs a command and its arguments")
    return command, arguments


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino
