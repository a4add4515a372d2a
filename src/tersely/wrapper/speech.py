"""What a program asks for by its lines, done in their order; what comes of it is put where it is typed in."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable

from tersely.foundation.errors import TerselyError
from tersely.protocols.inline.arguments import CODE_SERVICE, Asked, asked
from tersely.protocols.inline.commands import Command, Malformed, Message, Release, Spawn
from tersely.wrapper.mail import Mail
from tersely.wrapper.results import error_text, result_text
from tersely.wrapper.spawned import Spawned

MAX_WAITING_COMMANDS = 1_000  # of one program, not yet done
RELAY = "relay"  # whose errors those are that no service has made

_MISSING_SECONDS = 2.0  # for the relay to say that there is no such service
_PLAIN_NAME = re.compile(r"\w[\w.-]*")

Say = Callable[[str, str], None]  # who says it, and what


class Speech:
    """The commands of one program. Messages are sent one after the other; services may take their time."""

    def __init__(self, mail: Mail, spawned: Spawned, say: Say) -> None:
        self._mail = mail
        self._spawned = spawned
        self._say = say
        self._waiting: asyncio.Queue[Command] = asyncio.Queue(MAX_WAITING_COMMANDS)
        self._questions: set[asyncio.Task[bool]] = set()

    def hear(self, command: Command) -> None:
        """Take a command. Beyond what can wait, it is refused."""
        try:
            self._waiting.put_nowait(command)
        except asyncio.QueueFull:
            self._fail(RELAY, TerselyError("busy", f"{MAX_WAITING_COMMANDS:,} commands wait; this one was not done"))

    async def run(self) -> None:
        """Do what is heard, for as long as this is awaited."""
        while True:
            command = await self._waiting.get()
            try:
                await self._do(command)
            except TerselyError as error:
                is_question = isinstance(command, Message) and command.to == CODE_SERVICE
                self._fail(CODE_SERVICE if is_question else RELAY, error)
            finally:
                self._waiting.task_done()

    async def finish(self) -> None:
        """Wait until all is done that was heard."""
        await self._waiting.join()
        await asyncio.gather(*self._questions)

    async def _do(self, command: Command) -> None:
        if isinstance(command, Message) and command.to == CODE_SERVICE:
            self._ask(asked(command.to, command.body))
        elif isinstance(command, Message):
            await self._send(command)
        elif isinstance(command, Spawn):
            self._say(f"[{RELAY}]", await self._spawned.start(command))
        elif isinstance(command, Release):
            self._say(f"[{RELAY}]", await self._spawned.end(command.name))
        elif isinstance(command, Malformed):
            raise TerselyError("usage", f"{command.reason}: {command.text}")

    async def _send(self, message: Message) -> None:
        """Send a message, or put it as a question where its recipient is a service: names are of one or the other."""
        question = _question(message)
        if question is not None:
            task = self._begin(question, message)
            await asyncio.wait([task], timeout=_MISSING_SECONDS)
            if not task.done() or task.result():
                return
        await self._mail.send(message)

    def _ask(self, question: Asked) -> None:
        self._begin(question, None)

    def _begin(self, question: Asked, message: Message | None) -> asyncio.Task[bool]:
        task = asyncio.create_task(self._answer(question, may_be_nobody=message is not None))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)
        return task

    async def _answer(self, question: Asked, *, may_be_nobody: bool) -> bool:
        """Put a question and have the answer typed in; False where there is no such service and that is no error."""
        try:
            result = await self._mail.ask(*question)
        except TerselyError as error:
            if may_be_nobody and error.code == "service_not_found":
                return False
            self._fail(question.service, _with_hint(question, error))
        else:
            self._say(f"[{question.service} {question.method}]", result_text(result))
        return True

    def _fail(self, who: str, error: TerselyError) -> None:
        text = error_text(who, error)
        head, _, body = text.partition("] ")
        self._say(f"{head}]", body)


def _question(message: Message) -> Asked | None:
    """A message as a question, if it can be one."""
    if message.kind != "message" or message.thread or not _PLAIN_NAME.fullmatch(message.to):
        return None
    try:
        return asked(message.to, message.body)
    except TerselyError:
        return None


def _with_hint(question: Asked, error: TerselyError) -> TerselyError:
    """The error, with what to do without the service where that is known."""
    if error.code != "service_not_found" or question.service != CODE_SERVICE:
        return error
    words = next((value for value in question.parameters.values() if isinstance(value, str)), "")
    hint = " ".join(["Try: tersely", question.method, *([shlex.quote(words)] if words else [])])
    return TerselyError(error.code, error.message, hint)
