"""Messages between agents: sending, mailboxes, receipts, what was sent, and what nobody took."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from tersely.capabilities.answers.later import Later
from tersely.capabilities.answers.text import Style, aligned, clipped, counted
from tersely.capabilities.declaration.declaration import (
    Effect,
    Role,
    group,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.answers.messages import (
    Deliveries,
    DeliveryTold,
    Messages,
    MessageSent,
    MessageTold,
    ReceiptTold,
    Resent,
)
from tersely.capabilities.relay.answers.pages import Page, piece
from tersely.capabilities.relay.context import PERSON, USER, RelayContext, meet
from tersely.capabilities.relay.foreign import neutral, one_word
from tersely.foundation.activity import GONE, IDLE, WORKING
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_TTL_MILLISECONDS
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonObject, without_none

if TYPE_CHECKING:
    from tersely.relay.mail.mail import Mail
    from tersely.relay.store.mailboxes import HistoryMessage, Waiting

MAX_SHORT_CHARACTERS = 200  # of addresses, threads and topics
MAX_WAIT_SECONDS = 50  # for a message, within one question
_DAY, _MINUTE = slice(0, 10), slice(11, 16)  # of a time as answers tell it
_SHOWN_BODY_CHARACTERS = 60  # of a dead letter in a list


class MessageKind(StrEnum):
    """The kinds of messages."""

    MESSAGE = "message"
    ACTION = "action"
    STATE = "state"
    THINKING = "thinking"


class State(StrEnum):
    """The states of an agent that has hooks and no connection."""

    WORKING = WORKING
    IDLE = IDLE
    GONE = GONE


class Reached(StrEnum):
    """The stages of a message that its recipient tells."""

    DELIVERED = "delivered"
    INJECTED = "injected"
    SEEN = "seen"


# Sending

_SOMETHING = r"[\s\S]*\S[\s\S]*"


def _sent_text(sent: MessageSent, style: Style) -> str:
    reached = counted(sent.recipients, "recipient") if sent.recipients else "no recipients"
    lines = [f"{sent.message_id}  {reached}, kept ({sent.durability})"]
    if sent.refused:
        lines.append(f"not for {', '.join(sent.refused)}: their mailboxes are full")
    return "\n".join(lines)


@relay_capability(
    "mail.send",
    _sent_text,
    'send ada "the parser is yours"',
    'send "#build" "main is red"',
    effect=Effect.WRITE,
    fails=(
        "recipient_not_found",
        "channel_not_found",
        "key_reused",
        "name_taken",
        "unauthorized",
        "busy",
        "payload_too_large",
        "invalid_argument",
        "not_permitted",
    ),
)
def send(
    context: RelayContext,
    *,
    to: str = positional(
        "a name, project:name, #channel, or * for all connected agents",
        minimum=1,
        maximum=MAX_SHORT_CHARACTERS,
    ),
    body: str = positional("what to say", role=Role.PROSE, metavar="TEXT", pattern=_SOMETHING),
    thread: str = option("", "what it belongs to", maximum=MAX_SHORT_CHARACTERS),
    reply_to: str = option(
        "", "the message that it answers, as inbox calls it", maximum=MAX_SHORT_CHARACTERS
    ),
    topic: str = option(
        "", "what it is about, for those who subscribe to topics", maximum=MAX_SHORT_CHARACTERS
    ),
    kind: MessageKind = option(MessageKind.MESSAGE, "what it is"),
    data: JsonObject | None = option(None, "an object beside the text", metavar="JSON"),
    importance: float | None = option(None, "above 50 it is marked, above 75 doubly"),
    ttl_ms: int | None = option(
        None,
        "how long it waits before it is a dead letter",
        minimum=1,
        maximum=MAX_TTL_MILLISECONDS,
    ),
    id: str = option(
        "",
        "sent again under the same, it is accepted once",
        maximum=MAX_SHORT_CHARACTERS,
        hidden=True,
    ),
    queue: bool = option(False, "also for a name that is not yet known"),
) -> MessageSent:
    """Send a message to another agent, or answer one.

    It is kept until its recipient has it, also while the recipient is away. On the command line, -
    is what is read from standard input.
    """
    from tersely.relay.encoding import encode
    from tersely.relay.store.mailboxes import Post

    mail = context.relay.mail
    meet(context)
    sender = mail.identities.get(context.agent)
    payload: JsonObject = {"kind": kind.value, "body": body}
    if data is not None:
        payload["data"] = data
    if thread:
        payload["thread"] = thread
    treatment = without_none(
        {
            "ttl_ms": ttl_ms,
            "importance": importance,
            "replyTo": reply_to or None,
            "queue": queue or None,
        }
    )
    now_ms = mail.store.now_ms()
    one = Post(
        sender=context.agent,
        sender_kind=sender.kind if sender else USER,
        id=id or context.key or new_id(),
        at_ms=now_ms,
        addressed=to,
        topic=topic,
        thread=thread,
        kind=kind.value,
        payload=encode(payload),
        treatment=encode(treatment) if treatment else b"",
        expires_ms=ttl_ms and now_ms + ttl_ms,
    )
    sent = mail.send(mail.compose(one, is_queued=queue, is_of_person=context.is_of_person))
    return MessageSent(
        id=one.id,
        message_id=sent.id,
        seq=sent.seq,
        durability=sent.durability,
        recipients=sent.recipients,
        refused=list(sent.refused),
        repeated=sent.is_repetition,
    )


# Mailboxes


_WHOSE = positional(
    "of which agent (default: of who asks)", default="", maximum=MAX_SHORT_CHARACTERS
)


def _deliveries_text(found: Deliveries, style: Style) -> str:
    shown = [_message_text(one, _delivery_words(one)) for one in found.messages]
    held = (
        f"{counted(found.held_back, 'message')} held back: a person who writes ends it\n"
        if found.held_back
        else ""
    )
    if not shown:
        return f"nothing has come to {found.mailbox}\n{held}"
    return "".join(shown) + held + _how_to_answer(found) + _more(found.next_after)


@relay_capability("mail.box", _deliveries_text)
def mailbox(
    context: RelayContext,
    *,
    name: str = _WHOSE,
    waiting: bool = option(False, "those alone that are not acknowledged"),
    page: Page = group(Page),
    state: State | None = option(None, "what who asks does now, as its hook says", hidden=True),
) -> Deliveries:
    """List a mailbox, the oldest message first.

    Nothing is acknowledged by it.
    """
    if state is not None:
        context.relay.mail.identities.hear(context.agent, state.value)
    return _delivered(context, name or context.agent, page, waiting=waiting)


def _delivered(context: RelayContext, name: str, page: Page, *, waiting: bool) -> Deliveries:
    mail = context.relay.mail
    read = mail.waiting if waiting else mail.box
    found, after = piece(partial(read, name), page.after, page.limit)
    shown = [delivery(mail, one) for one in found]
    is_of_another = name not in {context.agent, PERSON}
    return Deliveries(shown, after, name, mail.brakes.held[name], is_of_another)


@relay_capability(
    "mail.inbox",
    _deliveries_text,
    "inbox",
    "inbox ada --waiting",
    "inbox --waiting --wait 30",
    effect=Effect.WRITE,
)
def inbox(
    context: RelayContext,
    *,
    name: str = _WHOSE,
    waiting: bool | None = option(
        None,
        "those alone that are not acknowledged; without a name, an agent is shown no others by default",
    ),
    page: Page = group(Page),
    ack: bool = option(
        False, "acknowledge those that are shown, as is done for who has commands alone"
    ),
    wait: float = option(
        0.0,
        "seconds to wait for a new message, none if not given",
        minimum=0,
        maximum=MAX_WAIT_SECONDS,
    ),
) -> Deliveries | Later[Deliveries]:
    """Read the messages that came, the oldest first, or wait for one.

    What is listed counts as seen where it is read by its owner. --waiting lists what has not been
    read yet; --wait waits for it.
    """
    mail = context.relay.mail
    of = name or context.agent
    is_of_agent = not name and not context.is_of_person
    unread = (is_of_agent or wait > 0) if waiting is None else waiting

    def read(come: None = None) -> Deliveries:
        found = _delivered(context, of, page, waiting=unread)
        is_seen = of == context.agent or _is_person(mail, of)
        if ack or is_seen:
            for one in found.messages:
                if one.stage == "accepted":
                    _reach(mail, of, one.number, Reached.SEEN if is_seen else Reached.DELIVERED)
        return found

    if not wait:
        return read()
    return Later(mail.wait(of, page.after, wait), read)


def _is_person(mail: Mail, name: str) -> bool:
    identity = mail.identities.get(name)
    has_commands_alone = (
        identity is not None and identity.kind == USER and name not in mail.presence.connected()
    )
    return name == PERSON or has_commands_alone


def _how_to_answer(found: Deliveries) -> str:
    """For whoever reads the mail of a name: most agents have been told nothing else."""
    senders = {
        one.sender for one in found.messages if one.stage != "dead" and one.sender_kind != "service"
    }
    if not senders:
        return ""
    name = quote(visible_line(senders.pop())) if len(senders) == 1 else "NAME"
    own = f" --agent {quote(visible_line(found.mailbox))}" if found.is_of_another else ""
    return f"Answer: `tersely send {name} TEXT{own}`\n"


def _delivery_words(one: DeliveryTold) -> str:
    """The part of a message's first line that the reader of its mailbox does not know."""
    to = "" if one.to == one.mailbox else f" → {one_word(one.to)}"
    return to if one.stage == "accepted" else f"{to} ({one.stage})"


# Receipts


def _receipt_text(told: ReceiptTold, style: Style) -> str:
    return f"{told.message_id}  {told.stage}"


@relay_capability(
    "mail.receipt",
    _receipt_text,
    effect=Effect.WRITE,
    fails=("message_not_found", "name_taken", "unauthorized", "invalid_argument"),
)
def receipt(
    context: RelayContext,
    *,
    message_id: str = positional("what inbox calls it"),
    stage: Reached = option(Reached.DELIVERED, "how far it has come"),
) -> ReceiptTold:
    """Say how far a message has come with who asks.

    A stage is never taken back.
    """
    mail, name = context.relay.mail, context.agent
    meet(context)
    number = mail.number(message_id)
    if mail.delivery(name, number) is None:
        raise TerselyError(
            "message_not_found",
            f"no such message came to {name}",
            f"`tersely inbox {name}` lists them",
        )
    _reach(mail, name, number, stage)
    found = mail.delivery(name, number)
    assert found is not None
    return ReceiptTold(mail.message_id(number), name, stage_name(found))


def _reach(mail: Mail, name: str, number: int, reached: Reached) -> None:
    from tersely.relay.store.mailboxes import Mark, Stage

    mail.settle(Mark(name, number, Stage[reached.name], mail.store.now_ms()))


# History


def _messages_text(found: Messages, style: Style) -> str:
    shown = [_message_text(one, f" → {one_word(one.to)}") for one in found.messages]
    return "".join(shown) + _more(found.next_after) if shown else "no messages found"


@relay_capability("mail.search", _messages_text, "messages parser", "messages --with ada")
def search(
    context: RelayContext,
    *,
    query: str = positional("words that all have to be in them", default="", metavar="WORDS"),
    with_: str = option("", "sent by or to this name or channel", metavar="NAME"),
    thread: str = option("", "of this thread"),
    page: Page = group(Page),
) -> Messages:
    """Search messages, the oldest first."""
    from tersely.relay.store.mailboxes import Sought

    mail = context.relay.mail
    sought = Sought(with_, thread, query.split())
    found, after = piece(partial(mail.history, sought), page.after, page.limit)
    return Messages([_description(mail, one) for one in found], after)


# Dead letters


def _dead_text(found: Deliveries, style: Style) -> str:
    if not found.messages:
        return "there are none"
    rows = [("message", "since", "from", "for", "why", "")]
    for one in found.messages:
        body = clipped(one.body, _SHOWN_BODY_CHARACTERS)
        rows.append((one.message_id, one.dead_at or "", one.sender, one.mailbox, one.note, body))
    return "\n".join([*aligned(rows, [style.symbol]), _more(found.next_after)])


@relay_capability("mail.dead", _dead_text)
def dead(
    context: RelayContext,
    *,
    page: Page = group(Page),
) -> Deliveries:
    """Messages that were refused or not collected in time."""
    mail = context.relay.mail
    found, after = piece(mail.dead, page.after, page.limit)
    return Deliveries([delivery(mail, one) for one in found], after)


def _resent_text(told: Resent, style: Style) -> str:
    return f"waits again in {counted(told.mailboxes, 'mailbox', 'mailboxes')}"


@relay_capability(
    "mail.resend",
    _resent_text,
    effect=Effect.WRITE,
    fails=("message_not_found", "invalid_argument"),
)
def resend(
    context: RelayContext,
    *,
    message_id: str = positional("what dead-letters calls it"),
    mailbox: str = option(
        "", "the one in which it is to wait; all without", maximum=MAX_SHORT_CHARACTERS
    ),
) -> Resent:
    """Let a dead letter wait again."""
    mail = context.relay.mail
    return Resent(message_id, mail.revive(mail.number(message_id), mailbox))


# What they share


def delivery(mail: Mail, one: Waiting) -> DeliveryTold:
    """One message as it came to a mailbox."""
    from tersely.relay.encoding import decode, timestamp
    from tersely.relay.mail.questions import is_question

    said = _members_of(mail, one)
    treatment = decode(one.treatment) if one.treatment else {}

    def at(at_ms: int | None) -> str | None:
        return None if at_ms is None else timestamp(at_ms)

    return DeliveryTold(
        **said,
        mailbox=one.mailbox,
        sender_kind=one.sender_kind,
        reply_to=treatment.get("replyTo", ""),
        seq=one.seq,
        attempts=one.attempts,
        stage=stage_name(one),
        note=one.note,
        delivered_at=at(one.delivered_ms),
        injected_at=at(one.injected_ms),
        seen_at=at(one.seen_ms),
        dead_at=at(one.dead_ms),
        is_question=one.kind == MessageKind.MESSAGE and is_question(said["body"]),
    )


def stage_name(one: Waiting) -> Any:
    """The stage of a delivery, as answers say it."""
    return one.stage.name.lower()


def _description(mail: Mail, one: HistoryMessage) -> MessageTold:
    reached: Any = {name: stage.name.lower() for name, stage in one.deliveries}
    return MessageTold(**_members_of(mail, one), id=one.id, recipients=reached)


def _members_of(mail: Mail, one: Waiting | HistoryMessage) -> JsonObject:
    """The members that every answer tells of a message, by the names of its fields."""
    from tersely.relay.encoding import decode, timestamp

    payload = decode(one.payload)
    return {
        "message_id": mail.message_id(one.number),
        "number": one.number,
        "sender": one.sender,
        "to": one.addressed,
        "kind": one.kind,
        "body": payload.get("body", ""),
        "thread": one.thread,
        "topic": one.topic,
        "data": payload.get("data"),
        "sent_at": timestamp(one.at_ms),
    }


def _message_text(one: DeliveryTold | MessageTold, about: str) -> str:
    """One message: its number, its sender, and when it was sent, in UTC, with the day unless that is
    today.

    What it says is indented, so that it cannot be taken for the next, and neutral: where a wrapped
    program shows it, it must not be read as something that the program says.
    """
    is_today = one.sent_at[_DAY] == datetime.fromtimestamp(wall_seconds(), UTC).date().isoformat()
    minute = one.sent_at[_MINUTE] if is_today else f"{one.sent_at[_DAY]} {one.sent_at[_MINUTE]}"
    lines = neutral(one.body).split("\n")
    return "\n    ".join([f"{one.number} {one_word(one.sender)}{about} {minute}", *lines]) + "\n"


def _more(after: int | None) -> str:
    """That there may be more than is shown, and how to see it."""
    return "" if after is None else f"… for more: --after {after}"
