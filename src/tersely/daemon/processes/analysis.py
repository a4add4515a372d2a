"""The process that analyses: it holds the index and the graph of one repository, and does one task
after another.

A task is a tuple whose first word says what to do; each has a function below. The answer goes back
as a plain value.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import BUDGET, reply, whole_reply
from tersely.capabilities.declaration.declaration import Repeats
from tersely.capabilities.declaration.projection import to_json
from tersely.capabilities.invoke import invoke
from tersely.code.engine import Engine
from tersely.code.index.directories import watched_directories
from tersely.code.index.refresh import Progress, RefreshReport
from tersely.daemon.ndjson.commands import call
from tersely.daemon.ndjson.messages import encode, failure
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_ANSWER_BYTES, PROGRESS_SECONDS
from tersely.foundation.process.frames import ANSWER, PROGRESS, TIDIED, read_frame, write_frame
from tersely.foundation.process.memory import resident_bytes
from tersely.foundation.settings import load
from tersely.foundation.types import JsonObject, Strings
from tersely.workspace import Workspace

_SHARED_SOCKET_BYTES = 4_096  # more than Windows needs to say which socket it is
COLLECTED_OBJECTS = 200_000  # new ones, after which garbage is looked for between two tasks


class Standing(NamedTuple):
    """The state of the index as the daemon knows it when it asks."""

    is_fresh: bool  # False: the question has to look for changes itself
    notices: Strings
    is_behind: bool
    generation: int  # differs when files have changed that no revision covers


class Refreshed(NamedTuple):
    """The report of a refresh to the daemon."""

    revision: str
    notices: Strings
    news: Strings
    is_behind: bool
    files: int


class Words(NamedTuple):
    """A command as it was typed, and where: what decides how its answer is printed."""

    program: str
    words: Strings
    directory: str
    environment: dict[str, str]
    is_out_terminal: bool
    is_error_terminal: bool


class Printed(NamedTuple):
    """The output of a command."""

    parts: list[tuple[int, str]]  # 1 for standard output, 2 for standard error; in order
    exit_status: int
    repeats: Repeats


# environment, whether to look for changes
OpenWorkspace = Callable[[Mapping[str, str], bool], Workspace]
# None: not for this process to answer
AnswerWords = Callable[[Words, Path, OpenWorkspace], Printed | None]


class Analysis:
    """One repository, held open."""

    def __init__(self, root: Path, answer_words: AnswerWords, on_progress: Progress) -> None:
        self._root = root
        self._engine = Engine.open(root)
        self._answer_words = answer_words
        self._on_progress = on_progress
        self._workspace: Workspace | None = None
        self._standing = Standing(False, (), False, 0)
        self._has_frozen_garbage = False  # of a graph that another revision has replaced
        self._tasks: dict[str, Callable[..., Any]] = {
            "call": self.call,
            "words": self.words,
            "text": self.text,
            "refresh": self.refresh,
            "directories": self.directories,
            "warm": self.warm,
            "rest": self.rest,
        }

    def do(self, task: tuple[Any, ...]) -> Any:
        """One task; a failure on purpose is told by its parts."""
        self._engine.has_read_documents = False
        try:
            return "done", self._tasks[task[0]](*task[1:])
        except TerselyError as error:
            return "failed", (error.code, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - a defect must reach the client as an answer
            return "failed", ("internal_error", f"{type(error).__name__}: {error}", "")

    def call(self, standing: tuple[Any, ...], command: str, given: JsonObject) -> tuple[bytes, int]:
        """The encoded reply to a command of the protocol, and for how long it stays true."""
        self._take(standing)
        asked = call(command, given, str(self._root))
        capability = catalogue.load(asked.capability)
        outcome = invoke(capability, self._open(os.environ, True), asked.arguments)
        if outcome.failure is not None:
            wrong = outcome.failure
            return encode(
                failure(TerselyError(wrong.code, wrong.message, wrong.hint))
            ), Repeats.NEVER.value
        told = {
            "success": True,
            "result": asked.shape(to_json(outcome.result)),
            "revision": outcome.revision,
        }
        encoded = encode({**told, "notes": list(outcome.notes)} if outcome.notes else told)
        return self._reply(encoded, capability.repeats(asked.arguments))

    def words(self, standing: tuple[Any, ...], *words: Any) -> tuple[bytes, int]:
        """The encoded reply to the command line."""
        self._take(standing)
        printed = self._answer_words(Words(*words), self._root, self._open)
        if printed is None:
            raise TerselyError("unknown_command", "this is not for the daemon to answer")
        told = {"success": True, "parts": printed.parts, "exit_status": printed.exit_status}
        return self._reply(encode(told), printed.repeats)

    def text(
        self,
        standing: tuple[Any, ...],
        command: str,
        given: JsonObject,
        environment: dict[str, str],
        is_whole: bool = False,
    ) -> tuple[bytes, int]:
        """The encoded reply to a command, in words. Beside the parameters of its own it takes a
        `budget` of tokens, unless the answer is wanted whole.
        """
        self._take(standing)
        own = {name: value for name, value in given.items() if is_whole or name != BUDGET}
        asked = call(command, own, str(self._root))
        capability = catalogue.load(asked.capability)
        workspace = self._open(environment, True)
        if is_whole:
            said = whole_reply(capability, workspace, asked.arguments)
        else:
            said = reply(capability, workspace, asked.arguments, given.get(BUDGET))
        encoded = encode({"success": True, **to_json(said)})
        return self._reply(encoded, capability.repeats(asked.arguments))

    def _reply(self, encoded: bytes, repeats: Repeats) -> tuple[bytes, int]:
        """A reply, and for how long it stays true: documents are in no index, and may lie where nobody watches."""
        if len(encoded) > MAX_ANSWER_BYTES:
            raise TerselyError(
                "answer_too_large",
                f"the answer is longer than {MAX_ANSWER_BYTES:,} bytes",
                "ask for less: limit, depth or budget",
            )
        return encoded, 0 if self._engine.has_read_documents else repeats.value

    def refresh(self, paths: list[str] | None) -> tuple[object, ...]:
        """Bring the index up to date; gives the values of a `Refreshed`, as processes hand plain
        tuples on.
        """
        before = self._engine.revision
        report = self._engine.refresh(self._on_progress, paths)
        if report.revision != before:
            self._workspace = None
            self._has_frozen_garbage = True
        return tuple(
            Refreshed(
                report.revision,
                report.notices,
                report.news,
                report.is_behind,
                self._engine.store.number_of_files(),
            )
        )

    def directories(self) -> list[str]:
        """The directories to watch."""
        if self._engine.store.directory is None:
            raise TerselyError(
                "database_unavailable", "the index cannot be written, so nothing can be kept warm"
            )
        return watched_directories(str(self._root), self._engine.store)

    def warm(self) -> None:
        """Load what answers need."""
        for capability in catalogue.every(catalogue.CODE_NAMES):
            _ = capability.parameters
        _ = self._engine.graph
        self.rest()

    def rest(self) -> None:
        """Give back what is not needed, while nobody waits."""
        self._has_frozen_garbage = False
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    @property
    def is_untidy(self) -> bool:
        """True if there may be much garbage."""
        return gc.get_count()[0] > COLLECTED_OBJECTS

    def tidy(self) -> None:
        """Look for garbage; to be called between tasks."""
        if self._has_frozen_garbage:
            self._has_frozen_garbage = False
            gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _take(self, standing: tuple[Any, ...]) -> None:
        told = Standing(*standing)
        if told.generation != self._standing.generation:
            self._engine.drop_outdated_graph()
        self._standing = told

    def _open(self, environment: Mapping[str, str], refresh: bool) -> Workspace:
        """The workspace under the settings of whoever asks, its index as the daemon has left it."""
        settings = load(self._root, environment)
        standing = self._standing
        wants_refresh = refresh and not standing.is_fresh
        workspace, wanted = self._workspace, (settings, wants_refresh)
        if workspace is None or (workspace.settings, workspace.refreshes) != wanted:
            workspace = self._workspace = Workspace(
                self._engine, settings, refresh=wants_refresh, progress=self._on_progress
            )
        workspace.may_refresh = refresh
        workspace.report = (
            RefreshReport(
                self._engine.revision, is_behind=standing.is_behind, notices=standing.notices
            )
            if refresh and standing.is_fresh
            else None
        )
        return workspace


def main(root: str, answer_words: str, lifeline: str) -> None:
    """Do tasks until there are no more. `answer_words` is `module:function`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the daemon decides when this ends
    tasks, answers = _streams()
    threading.Thread(target=_end_with, args=(int(lifeline),), daemon=True).start()
    gc.disable()  # garbage is looked for between tasks
    module, _, name = answer_words.partition(":")
    analysis = Analysis(Path(root), getattr(import_module(module), name), _Telling(answers))
    _serve(analysis, tasks, answers)


if sys.platform == "win32":

    def _streams() -> tuple[BinaryIO, BinaryIO]:
        """What the daemon sends and reads: a socket, which it has shared by the pipe that is our input."""
        wire = socket.fromshare(os.read(0, _SHARED_SOCKET_BYTES))
        return wire.makefile("rb"), wire.makefile("wb")

else:

    def _streams() -> tuple[BinaryIO, BinaryIO]:
        """What the daemon sends and reads: our input, a socket, which nobody else is to read."""
        tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(0), "wb")
        os.dup2(1, 0)
        return tasks, answers


class _Telling:
    """Says now and then how far the work has come."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._told_seconds = -math.inf

    def __call__(self, done: int, total: int) -> None:
        """So many of so many files are done."""
        now = elapsed_seconds()
        if now - self._told_seconds >= PROGRESS_SECONDS:
            self._told_seconds = now
            write_frame(self._answers, (PROGRESS, done, total))


def _serve(analysis: Analysis, tasks: BinaryIO, answers: BinaryIO) -> None:
    while True:
        try:
            task = read_frame(tasks)
        except EOFError:
            return
        answer = analysis.do(task)
        is_untidy = analysis.is_untidy
        write_frame(answers, (ANSWER, answer, resident_bytes(), is_untidy))
        if is_untidy:
            analysis.tidy()
            write_frame(answers, (TIDIED,))


def _end_with(lifeline: int) -> None:
    """End this process, in the middle of whatever it does, when the daemon's end of a pipe is
    closed.
    """
    os.read(lifeline, 1)
    os._exit(0)
