"""Commands about messages: who there is, sending, mailboxes, what was sent, and what nobody took."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tersely.capabilities.declaration import Role, option, positional
from tersely.capabilities.text import aligned, counted
from tersely.cli.relay.declared import Asked, Nothing, RelayCommand, plain
from tersely.foundation.escape import visible_line
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.protocols.inline.foreign import neutral

if TYPE_CHECKING:
    from tersely.protocols.relay.messages import Membership

_OWN = "cli"  # as whom messages are sent where no other is named
_PAGE_MESSAGES = 20  # of a list


@dataclass(frozen=True, slots=True)
class _Send:
    to: str = positional("a name, project:name, #channel, or * for all connected agents")
    body: str = positional("what to say, - for standard input", role=Role.TEXT, metavar="TEXT")
    agent: str = option(_OWN, "the sender")
    thread: str = option("", "what it belongs to")
    queue: bool = option(False, "also for a name that is not yet known")


@dataclass(frozen=True, slots=True)
class _Inbox:
    name: str = positional("of which agent", default=_OWN)
    after: int = option(0, "messages behind this number", minimum=0)
    waiting: bool = option(False, "those alone that are not acknowledged")
    ack: bool = option(False, "acknowledge those that are shown and wait, as is done for who has commands alone")


@dataclass(frozen=True, slots=True)
class _Messages:
    words: str = positional("words that all have to be in them", default="", role=Role.TEXT)
    after: int = option(0, "messages behind this number", minimum=0)


@dataclass(frozen=True, slots=True)
class _Membership:
    channel: str = positional("its name, which begins with #")
    agent: str = option(_OWN, "the agent that joins or leaves")


@dataclass(frozen=True, slots=True)
class _DeadLetters:
    after: int = option(0, "messages behind this number", minimum=0)


@dataclass(frozen=True, slots=True)
class _Resend:
    message_id: str = positional("what dead-letters calls it")


def _agents(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.agent_list()).agents
    rows = [
        (one.name, one.kind, visible_line(one.state), f"{one.waiting:,}", visible_line(one.project),
         one.last_seen, visible_line(str(one.details.get("task", ""))))
        for one in found
    ]  # fmt: skip
    titles = ("name", "kind", "is", "waiting", "project", "last seen", "task")
    return {"agents": plain(found), "text": _table(titles, rows, asked, "no agents known\n", right=(3,))}


def _send(asked: Asked, parameters: _Send) -> dict[str, Any]:
    from tersely.client import ask
    from tersely.protocols.relay.messages import NewMessage

    body = sys.stdin.read(MAX_FRAME_BYTES) if parameters.body == "-" else parameters.body
    message = NewMessage(parameters.to, body, thread=parameters.thread, queue=parameters.queue)
    sent = asked.ask(ask.message_send(message))
    reached = counted(sent.recipients, "recipient") if sent.recipients else "no recipients"
    told = [f"{sent.message_id}  {reached}, kept ({sent.durability})"]
    if sent.refused:
        told.append(f"not for {', '.join(map(visible_line, sent.refused))}: their mailboxes are full")
    return {**plain(sent), "text": "\n".join(told) + "\n"}


def _inbox(asked: Asked, parameters: _Inbox) -> dict[str, Any]:
    from tersely.client import Client, ask

    page = asked.ask(ask.inbox(parameters.name, parameters.after, _PAGE_MESSAGES, waiting=parameters.waiting))
    waiting = [one.message_id for one in page.messages if one.stage == "accepted"]
    is_persons = bool(waiting) and _is_person(asked, parameters.name)
    if parameters.ack or is_persons:
        with Client.local(parameters.name) as owner:
            for message_id in waiting:
                owner(ask.receipt_new(message_id, "seen" if is_persons else "delivered"))
    shown = [_shown(one.number, one.sent_at, one.sender, one.to, one.stage, one.body) for one in page.messages]
    text = (
        "".join(shown) + _more(page.next_after) if shown else f"nothing has come to {visible_line(parameters.name)}\n"
    )
    return {**plain(page), "text": text}


def _is_person(asked: Asked, name: str) -> bool:
    """Whether a mailbox is of somebody who has commands alone: then what is listed has been read."""
    from tersely.client import ask

    agents = asked.ask(ask.agent_list()).agents
    return any(one.name == name and one.kind == "user" and not one.connected for one in agents)


def _messages(asked: Asked, parameters: _Messages) -> dict[str, Any]:
    from tersely.client import ask

    page = asked.ask(ask.message_list(query=parameters.words, after=parameters.after, limit=_PAGE_MESSAGES))
    shown = [_shown(one.number, one.sent_at, one.sender, one.to, "", one.body) for one in page.messages]
    return {**plain(page), "text": "".join(shown) + _more(page.next_after) if shown else "no messages found\n"}


def _channels(asked: Asked, parameters: Nothing) -> dict[str, Any]:
    from tersely.client import ask

    found = asked.ask(ask.channel_list()).channels
    rows = [(one.name, f"{len(one.members):,}", visible_line(", ".join(one.members))) for one in found]
    return {"channels": plain(found), "text": _table(("channel", "members", ""), rows, asked, "there are none\n")}


def _join(asked: Asked, parameters: _Membership) -> dict[str, Any]:
    from tersely.client import ask

    return _members(asked.ask(ask.channel_join(parameters.channel)))


def _leave(asked: Asked, parameters: _Membership) -> dict[str, Any]:
    from tersely.client import ask

    return _members(asked.ask(ask.channel_leave(parameters.channel)))


def _members(told: Membership) -> dict[str, Any]:
    members = visible_line(", ".join(told.members)) or "no members left"
    return {**plain(told), "text": f"{told.channel}  {members}\n"}


def _dead_letters(asked: Asked, parameters: _DeadLetters) -> dict[str, Any]:
    from tersely.client import ask

    page = asked.ask(ask.dead_letters(parameters.after, _PAGE_MESSAGES))
    rows = [
        (
            one.message_id,
            one.dead_at or "",
            one.sender,
            one.mailbox,
            visible_line(one.note),
            visible_line(one.body)[:60],
        )
        for one in page.messages
    ]
    table = _table(("message", "since", "from", "for", "why", ""), rows, asked, "there are none\n")
    return {**plain(page), "text": table + _more(page.next_after)}


def _resend(asked: Asked, parameters: _Resend) -> dict[str, Any]:
    from tersely.client import ask

    told = asked.ask(ask.dead_letter_resend(parameters.message_id))
    return {**plain(told), "text": f"waits again in {told.mailboxes:,} mailbox{'es' * (told.mailboxes != 1)}\n"}


COMMANDS: tuple[RelayCommand, ...] = (
    RelayCommand(("agents",), "List agents, whether they are connected, and how much waits for them", Nothing, _agents),
    RelayCommand(("send",), "Send a message", _Send, _send),
    RelayCommand(("inbox",), "List a mailbox, the oldest message first", _Inbox, _inbox),
    RelayCommand(("messages",), "Search messages", _Messages, _messages),
    RelayCommand(("channels", "join"), "Join a channel; creates it if needed", _Membership, _join),
    RelayCommand(("channels", "leave"), "Leave a channel", _Membership, _leave),
    RelayCommand(("channels",), "The channels and their members", Nothing, _channels),
    RelayCommand(("dead-letters", "resend"), "Let a dead letter wait again", _Resend, _resend),
    RelayCommand(("dead-letters",), "Messages that were refused or not collected in time", _DeadLetters, _dead_letters),
)


def _shown(number: int, sent_at: str, sender: str, to: str, stage: str, body: str) -> str:
    """One message. What it says is indented, so that it cannot be taken for the next, and neutral: where a wrapped
    program shows it, it must not be read as something that the program says."""
    head = f"{number} {sent_at} {sender} → {visible_line(to)}{f' ({stage})' if stage else ''}"
    return head + "".join(f"\n    {line}" for line in neutral(body).split("\n")) + "\n"


def _more(next_after: int | None) -> str:
    """That there may be more than is shown, and how to see it."""
    return "" if next_after is None else f"… for more: --after {next_after}\n"


def _table(titles: tuple[str, ...], rows: list[Any], asked: Asked, empty: str, right: tuple[int, ...] = ()) -> str:
    return "\n".join(aligned([titles, *rows], [asked.style.symbol], right=right)) + "\n" if rows else empty
