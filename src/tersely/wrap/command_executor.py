"""The requests of a program by its lines, done in their order; what comes of them is put where it
is typed in.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable

from tersely.capabilities.relay.answers.results import error_text, result_text
from tersely.client.outbox import Outbox, Unsent
from tersely.foundation.background import Background
from tersely.foundation.errors import TerselyError
from tersely.wrap.child_processes import Spawned
from tersely.wrap.inline.arguments import CODE_SERVICE, ServiceQuestion, asked
from tersely.wrap.inline.commands import (
    Command,
    MalformedCommand,
    OutgoingMessage,
    Release,
    Spawn,
    Unmarked,
)
from tersely.wrap.mail import AWAY, RunMail

MAX_WAITING_COMMANDS = 1_000  # of one program, not yet done
_AWAY_SECONDS = 0.5  # before a relay that was away is asked again
RELAY = "relay"  # whose errors those are that no service has made

# for the relay to say that there is no such service, before the next message is looked at
_MISSING_SECONDS = 2.0
# What is on the screen may come from a file, so nothing of it is ever typed.
_UNMARKED = (
    "a line that would be a command does not carry the marker of this run and was not obeyed; there may be more, and "
    "none is reported again"
)
_PLAIN_NAME = re.compile(r"\w[\w.-]*")

Say = Callable[[str, str], object]  # who says it, and what


class Speech:
    """The commands of one program. Messages are sent one after the other; services may take their
    time.
    """

    def __init__(
        self, mail: RunMail, outbox: Outbox[OutgoingMessage], spawned: Spawned, say: Say
    ) -> None:
        """Messages that an earlier run has left in the outbox are sent first."""
        self._mail = mail
        self._outbox = outbox
        self._spawned = spawned
        self._say = say
        self._waiting: asyncio.Queue[Command | Unsent[OutgoingMessage]] = asyncio.Queue(
            MAX_WAITING_COMMANDS
        )
        self._tasks = Background()
        self._has_noted = False  # that there was a line without a marker
        for unsent in outbox:
            self._waiting.put_nowait(unsent)

    def hear(self, command: Command) -> None:
        """Take a command; a message is on the disk then. Beyond what can wait, it is refused."""
        if self._waiting.full():
            self._fail(
                RELAY,
                TerselyError(
                    "busy", f"{MAX_WAITING_COMMANDS:,} commands wait; this one was not done"
                ),
            )
            return
        try:
            if isinstance(command, OutgoingMessage) and command.to != CODE_SERVICE:
                self._waiting.put_nowait(self._outbox.put(command))
            else:
                self._waiting.put_nowait(command)
        except TerselyError as error:
            self._fail(RELAY, error)

    async def run(self) -> None:
        """Do what is heard, for as long as this is awaited."""
        while True:
            command = await self._waiting.get()
            try:
                await self._do(command)
            except TerselyError as error:
                is_question = isinstance(command, OutgoingMessage) and command.to == CODE_SERVICE
                self._fail(CODE_SERVICE if is_question else RELAY, error)
            finally:
                self._waiting.task_done()

    async def finish(self) -> None:
        """Wait until all is done that was heard."""
        await self._waiting.join()
        await asyncio.gather(*self._tasks)

    async def _do(self, command: Command | Unsent[OutgoingMessage]) -> None:
        if isinstance(command, Unsent):
            task = self._tasks.begin(self._send(command))
            seconds = None if _question(command.message) is None else _MISSING_SECONDS
            await asyncio.wait([task], timeout=seconds)
            while not (task.done() or self._mail.is_connected):  # messages keep their order
                await asyncio.wait([task], timeout=seconds)
        elif isinstance(command, OutgoingMessage):
            self._tasks.begin(self._ask(asked(command.to, command.body)))
        elif isinstance(command, Spawn):
            self._say(f"[{RELAY}]", await self._spawned.start(command))
        elif isinstance(command, Release):
            self._say(f"[{RELAY}]", await self._spawned.end(command.name))
        elif isinstance(command, Unmarked):
            self._note_unmarked()
        elif isinstance(command, MalformedCommand):
            raise TerselyError("usage", f"a command was not understood: {command.reason}")

    async def _send(self, unsent: Unsent[OutgoingMessage]) -> None:
        """Send a message, or put it as a question where its recipient is a service: names are of
        one or the other.
        """
        try:
            question = _question(unsent.message)
            if question is None or not await self._is_answered(question):
                await self._mail.send(unsent.message, unsent.id)
        except TerselyError as error:
            self._fail(RELAY, error)
        self._outbox.remove(unsent)

    async def _is_answered(self, question: ServiceQuestion) -> bool:
        """Have the answer of a service typed in; False where there is no such service."""
        while True:
            try:
                await self._answer(question)
            except TerselyError as error:
                if error.code == "service_not_found":
                    return False
                if error.code not in AWAY:
                    self._fail(question.service, error)
                    return True
                await asyncio.sleep(_AWAY_SECONDS)
            else:
                return True

    async def _ask(self, question: ServiceQuestion) -> None:
        try:
            await self._answer(question)
        except TerselyError as error:
            self._fail(question.service, _with_hint(question, error))

    async def _answer(self, question: ServiceQuestion) -> None:
        result = await self._mail.ask(*question)
        self._say(f"[{question.service} {question.method}]", result_text(result))

    def _note_unmarked(self) -> None:
        if not self._has_noted:
            self._has_noted = True
            self._say(f"[{RELAY}]", _UNMARKED)

    def _fail(self, who: str, error: TerselyError) -> None:
        text = error_text(who, error)
        head, _, body = text.partition("] ")
        self._say(f"{head}]", body)


def _question(message: OutgoingMessage) -> ServiceQuestion | None:
    """A message as a question, if it can be one."""
    if message.kind != "message" or message.thread or not _PLAIN_NAME.fullmatch(message.to):
        return None
    try:
        return asked(message.to, message.body)
    except TerselyError:
        return None


def _with_hint(question: ServiceQuestion, error: TerselyError) -> TerselyError:
    """The error, with what to do without the service where that is known."""
    if error.code != "service_not_found" or question.service != CODE_SERVICE:
        return error
    words = next((value for value in question.parameters.values() if isinstance(value, str)), "")
    hint = " ".join(["Try: tersely", question.method, *([shlex.quote(words)] if words else [])])
    return TerselyError(error.code, error.message, hint)
