"""The commands in the lines of a program."""

from __future__ import annotations

from tersely.foundation.types import JsonMapping, Strings, field, frozen

PREFIX = "->relay:"  # without a marker


def marked_prefix(marker: str) -> str:
    """The prefix of the commands of a run. It has nothing in it that Markdown draws as something
    else.
    """
    return f"->relay-{marker}:" if marker else PREFIX


SPAWN, RELEASE = "spawn", "release"


@frozen
class OutgoingMessage:
    """Something to be said to somebody: an agent, `project:agent`, `#channel`, or `*`."""

    to: str
    body: str
    thread: str = ""
    topic: str = ""
    kind: str = "message"
    data: JsonMapping = field(default_factory=dict)


def read_message(kept: JsonMapping) -> OutgoingMessage:
    """A message as an outbox keeps it; raises `TypeError` for anything else."""
    message = OutgoingMessage(**kept)
    texts = (message.to, message.body, message.thread, message.topic, message.kind)
    if not all(isinstance(text, str) for text in texts) or not isinstance(message.data, dict):
        raise TypeError("that is no message")
    return message


@frozen
class Spawn:
    """Another program to be started under a name, and what it is to do."""

    name: str
    program: Strings
    task: str = ""


@frozen
class Release:
    """A program that was started so, to be ended."""

    name: str


@frozen
class MalformedCommand:
    """A text that was meant as a command and is none: the reason, and its beginning."""

    reason: str
    text: str


@frozen
class Unmarked:
    """A text that would be a command if it carried the marker of the run: its beginning."""

    text: str


Command = OutgoingMessage | Spawn | Release | MalformedCommand | Unmarked
