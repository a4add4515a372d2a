"""The record of a session, written down while it goes on, and told to its thread when it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from tersely.capabilities.answers.text import counted
from tersely.capabilities.relay.foreign import neutral
from tersely.client import Client, ask
from tersely.client.peer import Delivery
from tersely.foundation.clock import elapsed_seconds
from tersely.foundation.ids import new_id
from tersely.foundation.limits import BRIEF_MESSAGE_CHARACTERS, MAX_WAITING_TEXTS
from tersely.foundation.text.shortening import one_line
from tersely.foundation.text.templates import from_template
from tersely.foundation.types import field, record
from tersely.wrap.inline.arguments import CODE_SERVICE
from tersely.wrap.inline.commands import (
    Command,
    MalformedCommand,
    OutgoingMessage,
    Release,
    Spawn,
    Unmarked,
)

MAX_SESSION_LINES = 200  # of each kind in a summary
_TASK_CHARACTERS = 400


@record
class _Lines:
    """The first lines of one kind, and how many there were."""

    kept: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, line: str) -> None:
        self.total += 1
        if len(self.kept) < MAX_SESSION_LINES:
            self.kept.append(one_line(neutral(line), BRIEF_MESSAGE_CHARACTERS))


class Record:
    """The words that one session has said and heard."""

    def __init__(self, task: str = "") -> None:
        self.task = task
        self.sent, self.asked, self.received, self.started = _Lines(), _Lines(), _Lines(), _Lines()
        self._ids: deque[str] = deque(maxlen=MAX_WAITING_TEXTS)
        self._began = elapsed_seconds()

    def heard(self, command: Command) -> None:
        """The program has written a command."""
        if isinstance(command, OutgoingMessage) and command.to != CODE_SERVICE:
            self.sent.add(f"to {command.to}{_thread(command.thread)}: {command.body}")
        elif isinstance(command, OutgoingMessage):
            self.asked.add(f"{command.to} {command.body}")
        elif isinstance(command, Spawn):
            self.started.add(f"{command.name}: {' '.join(command.program)} {command.task}")
        else:
            # which are of no use to who reads on
            assert isinstance(command, Release | MalformedCommand | Unmarked)

    def came(self, delivery: Delivery) -> None:
        """A message has come, perhaps again."""
        if delivery.id not in self._ids:
            self._ids.append(delivery.id)
            self.received.add(f"from {delivery.sender}{_thread(delivery.thread)}: {delivery.body}")

    def seconds(self) -> float:
        """For how long it has gone on."""
        return elapsed_seconds() - self._began


class EndedSession(NamedTuple):
    """A session that is over: whose, of which program, with which exit status, and the files that
    it changed.
    """

    name: str
    program: str
    status: int
    changed: Sequence[str]
    record: Record


def description(ended: EndedSession) -> str:
    """One line about it."""
    record = ended.record
    figures = [
        f"{counted(len(ended.changed), 'file')} changed" if ended.changed else "",
        f"{record.sent.total:,} sent" if record.sent.total else "",
        f"{record.received.total:,} received" if record.received.total else "",
        f"{record.asked.total:,} asked" if record.asked.total else "",
    ]
    told = ", ".join([f"exit status {ended.status}", *filter(None, figures)])
    task = f": {one_line(neutral(record.task), BRIEF_MESSAGE_CHARACTERS)}" if record.task else ""
    return f"{ended.name} ran {ended.program}{task} ({told})"


def summary(ended: EndedSession) -> str:
    """All of it, in Markdown."""
    record = ended.record
    changed = _Lines()
    for path in ended.changed:
        changed.add(path)
    parts = (
        ("Files changed", changed), ("Asked", record.asked), ("Sent", record.sent), ("Received", record.received),
        ("Started", record.started),
    )  # fmt: skip
    task = one_line(neutral(record.task), _TASK_CHARACTERS)
    return from_template("wrap/handoff/summary.jinja", ended=ended, task=task, parts=parts)


def tell(relay: Client, thread: str, ended: EndedSession) -> None:
    """Leave the summary in a thread; raises what the relay answers."""
    key = new_id()
    relay(
        ask(
            "session_end",
            thread=thread,
            program=ended.program,
            description=description(ended),
            summary=summary(ended),
            exit_status=ended.status,
            key=key,
        )
    )


def _thread(thread: str) -> str:
    return f" [thread:{thread}]" if thread else ""
