"""Messages between agents: sending, mailboxes, receipts, what was sent, and what nobody took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from tersely.capabilities.answers.later import Later
from tersely.capabilities.answers.text import Style, aligned, clipped, counted
from tersely.capabilities.declaration.declaration import (
    Effect,
    RelayCapability,
    Role,
    group,
    option,
    positional,
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
from tersely.capabilities.relay.context import PERSON, RelayContext
from tersely.capabilities.relay.foreign import neutral, one_word
from tersely.capabilities.relay.names import USER, meet
from tersely.foundation.activity import GONE, IDLE, WORKING
from tersely.foundation.clock import wall_seconds
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_TTL_MILLISECONDS
from tersely.foundation.text.escape import visible_line

if TYPE_CHECKING:
    from tersely.relay.mail.mail import Mail
    from tersely.relay.store.mailboxes import Told, Waiting

MAX_SHORT_CHARACTERS = 200  # of addresses, threads and topics
MAX_WAIT_SECONDS = 50  # for a message, within one question
_DAY, _MINUTE = slice(0, 10), slice(11, 16)  # of a time as answers tell it
_SHOWN_BODY_CHARACTERS = 60  # of a dead letter in a list


class Kind(StrEnum):
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


@dataclass(frozen=True, slots=True)
class SendParameters:
    """A message."""

    to: str = positional("a name, project:name, #channel, or * for all connected agents", minimum=1,
                         maximum=MAX_SHORT_CHARACTERS)  # fmt: skip
    body: str = positional("what to say", role=Role.PROSE, metavar="TEXT", pattern=_SOMETHING)
    thread: str = option("", "what it belongs to", maximum=MAX_SHORT_CHARACTERS)
    reply_to: str = option(
        "", "the message that it answers, as inbox calls it", maximum=MAX_SHORT_CHARACTERS
    )
    topic: str = option(
        "", "what it is about, for those who subscribe to topics", maximum=MAX_SHORT_CHARACTERS
    )
    kind: Kind = option(Kind.MESSAGE, "what it is")
    data: dict[str, Any] | None = option(None, "an object beside the text", metavar="JSON")
    importance: float | None = option(None, "above 50 it is marked, above 75 doubly")
    ttl_ms: int | None = option(
        None,
        "how long it waits before it is a dead letter",
        minimum=1,
        maximum=MAX_TTL_MILLISECONDS,
    )
    id: str = option(
        "",
        "sent again under the same, it is accepted once",
        maximum=MAX_SHORT_CHARACTERS,
        hidden=True,
    )
    queue: bool = option(False, "also for a name that is not yet known")


def send(context: RelayContext, parameters: SendParameters) -> MessageSent:
    """Accept a message; it is kept before this returns."""
    from tersely.relay.encoding import encode
    from tersely.relay.mail.messages import Draft

    mail = context.relay.mail
    meet(context)
    sender = mail.identities.get(context.agent)
    treatment = _treatment(parameters)
    draft = Draft(
        sender=context.agent,
        sender_kind=sender.kind if sender else USER,
        id=parameters.id or context.key or new_id(),
        to=parameters.to,
        payload=encode(_payload(parameters)),
        treatment=encode(treatment) if treatment else b"",
        kind=parameters.kind.value,
        topic=parameters.topic,
        thread=parameters.thread,
        ttl_ms=parameters.ttl_ms,
        is_queued=parameters.queue,
        is_of_person=context.is_of_person,
    )
    sent = mail.send(mail.compose(draft))
    return MessageSent(
        id=draft.id,
        message_id=sent.id,
        seq=sent.seq,
        durability=sent.durability,
        recipients=sent.recipients,
        refused=list(sent.refused),
        repeated=sent.is_repetition,
    )


def _payload(parameters: SendParameters) -> dict[str, Any]:
    payload: dict[str, Any] = {"kind": parameters.kind.value, "body": parameters.body}
    if parameters.data is not None:
        payload["data"] = parameters.data
    if parameters.thread:
        payload["thread"] = parameters.thread
    return payload


def _treatment(parameters: SendParameters) -> dict[str, Any]:
    """The treatment that is wanted, as `doors.socket.envelopes.Treatment` has it."""
    wanted = {
        "ttl_ms": parameters.ttl_ms,
        "importance": parameters.importance,
        "replyTo": parameters.reply_to or None,
        "queue": parameters.queue or None,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _sent_text(sent: MessageSent, style: Style) -> str:
    reached = counted(sent.recipients, "recipient") if sent.recipients else "no recipients"
    lines = [f"{sent.message_id}  {reached}, kept ({sent.durability})"]
    if sent.refused:
        lines.append(f"not for {', '.join(sent.refused)}: their mailboxes are full")
    return "\n".join(lines)


SEND = RelayCapability(
    name="mail.send",
    summary="Send a message to another agent, or answer one",
    description=(
        "It is kept until its recipient has it, also while the recipient is away. On the command line, - is what is "
        "read from standard input."
    ),
    parameters=SendParameters,
    run=send,
    text=_sent_text,
    effect=Effect.WRITE,
    examples=('send ada "the parser is yours"', 'send "#build" "main is red"'),
    fails=(
        "recipient_not_found", "channel_not_found", "key_reused", "name_taken", "unauthorized", "busy",
        "payload_too_large", "invalid_argument", "not_permitted",
    ),
)  # fmt: skip


# Mailboxes


@dataclass(frozen=True, slots=True)
class BoxParameters:
    """One mailbox."""

    name: str = positional(
        "of which agent (default: of who asks)", default="", maximum=MAX_SHORT_CHARACTERS
    )
    waiting: bool = option(False, "those alone that are not acknowledged")
    page: Page = group(Page)
    state: State | None = option(None, "what who asks does now, as its hook says", hidden=True)


@dataclass(frozen=True, slots=True)
class InboxParameters:
    """A mailbox that is read."""

    name: str = positional(
        "of which agent (default: of who asks)", default="", maximum=MAX_SHORT_CHARACTERS
    )
    waiting: bool | None = option(
        None,
        "those alone that are not acknowledged; without a name, an agent is shown no others by default",
    )
    page: Page = group(Page)
    ack: bool = option(
        False, "acknowledge those that are shown, as is done for who has commands alone"
    )
    wait: float = option(0.0, "seconds to wait for a new message, none if not given", minimum=0,
                         maximum=MAX_WAIT_SECONDS)  # fmt: skip


def mailbox(context: RelayContext, parameters: BoxParameters) -> Deliveries:
    """The messages that came to a mailbox, or that wait in it."""
    mail, page = context.relay.mail, parameters.page
    if parameters.state is not None:
        mail.identities.hear(context.agent, parameters.state.value)
    read = mail.waiting if parameters.waiting else mail.box
    name = parameters.name or context.agent
    found, after = piece(partial(read, name), page.after, page.limit)
    shown = [delivery(mail, one) for one in found]
    return Deliveries(shown, after, name, mail.brakes.held[name])


def inbox(context: RelayContext, parameters: InboxParameters) -> Deliveries | Later[Deliveries]:
    """A mailbox, once something has come where that is waited for; its owner who has commands alone
    has seen what is listed.
    """
    mail = context.relay.mail
    name = parameters.name or context.agent
    is_of_agent = not parameters.name and not context.is_of_person
    waiting = (
        (is_of_agent or parameters.wait > 0) if parameters.waiting is None else parameters.waiting
    )

    def read(come: None = None) -> Deliveries:
        found = mailbox(context, BoxParameters(name, waiting, parameters.page))
        is_seen = name == context.agent or _is_person(mail, name)
        if parameters.ack or is_seen:
            for one in found.messages:
                if one.stage == "accepted":
                    _reach(mail, name, one.number, Reached.SEEN if is_seen else Reached.DELIVERED)
        return found

    if not parameters.wait:
        return read()
    return Later(mail.wait(name, parameters.page.after, parameters.wait), read)


def _is_person(mail: Mail, name: str) -> bool:
    identity = mail.identities.get(name)
    has_commands_alone = (
        identity is not None and identity.kind == USER and name not in mail.presence.connected()
    )
    return name == PERSON or has_commands_alone


def _deliveries_text(found: Deliveries, style: Style) -> str:
    shown = [_message_text(one, _delivery_words(one)) for one in found.messages]
    held = (
        f"{counted(found.held_back, 'message')} held back: a person who writes ends it\n"
        if found.held_back
        else ""
    )
    if not shown:
        return f"nothing has come to {found.mailbox}\n{held}"
    return "".join(shown) + held + _how_to_answer(found.messages) + _more(found.next_after)


def _how_to_answer(messages: Sequence[DeliveryTold]) -> str:
    """For whoever reads its own mail: most agents have been told nothing else."""
    senders = {
        one.sender for one in messages if one.stage != "dead" and one.sender_kind != "service"
    }
    if not senders:
        return ""
    name = quote(visible_line(senders.pop())) if len(senders) == 1 else "NAME"
    return f"Answer: `tersely send {name} TEXT`\n"


def _delivery_words(one: DeliveryTold) -> str:
    """The part of a message's first line that the reader of its mailbox does not know."""
    to = "" if one.to == one.mailbox else f" → {one_word(one.to)}"
    return to if one.stage == "accepted" else f"{to} ({one.stage})"


MAILBOX = RelayCapability(
    name="mail.box",
    summary="List a mailbox, the oldest message first",
    description="Nothing is acknowledged by it.",
    parameters=BoxParameters,
    run=mailbox,
    text=_deliveries_text,
)
INBOX: RelayCapability[InboxParameters, Any] = RelayCapability(
    name="mail.inbox",
    summary="Read the messages that came, the oldest first, or wait for one",
    description=(
        "What is listed counts as seen where it is read by its owner. --waiting lists what has not been read yet; "
        "--wait waits for it."
    ),
    parameters=InboxParameters,
    run=inbox,
    text=_deliveries_text,
    effect=Effect.WRITE,
    examples=("inbox", "inbox ada --waiting", "inbox --waiting --wait 30"),
)


# Receipts


@dataclass(frozen=True, slots=True)
class ReceiptParameters:
    """A stage that a message has reached with who asks."""

    message_id: str = positional("what inbox calls it")
    stage: Reached = option(Reached.DELIVERED, "how far it has come")


def receipt(context: RelayContext, parameters: ReceiptParameters) -> ReceiptTold:
    """Note how far a message has come with who asks."""
    mail, name = context.relay.mail, context.agent
    meet(context)
    number = mail.number(parameters.message_id)
    if mail.delivery(name, number) is None:
        raise TerselyError(
            "message_not_found",
            f"no such message came to {name}",
            f"`tersely inbox {name}` lists them",
        )
    _reach(mail, name, number, parameters.stage)
    found = mail.delivery(name, number)
    assert found is not None
    return ReceiptTold(mail.message_id(number), name, stage_name(found))


def _reach(mail: Mail, name: str, number: int, reached: Reached) -> None:
    from tersely.relay.store.mailboxes import Mark, Stage

    mail.settle(Mark(name, number, Stage[reached.name], mail.store.now_ms()))


def _receipt_text(told: ReceiptTold, style: Style) -> str:
    return f"{told.message_id}  {told.stage}"


RECEIPT = RelayCapability(
    name="mail.receipt",
    summary="Say how far a message has come with who asks",
    description="A stage is never taken back.",
    parameters=ReceiptParameters,
    run=receipt,
    text=_receipt_text,
    effect=Effect.WRITE,
    fails=("message_not_found", "name_taken", "unauthorized", "invalid_argument"),
)


# History


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """The messages that are looked for."""

    query: str = positional("words that all have to be in them", default="", metavar="WORDS")
    with_: str = option("", "sent by or to this name or channel", metavar="NAME")
    thread: str = option("", "of this thread")
    page: Page = group(Page)


def search(context: RelayContext, parameters: SearchParameters) -> Messages:
    """Messages of the history, the oldest first."""
    from tersely.relay.store.mailboxes import Sought

    mail, page = context.relay.mail, parameters.page
    sought = Sought(parameters.with_, parameters.thread, parameters.query.split())
    found, after = piece(partial(mail.history, sought), page.after, page.limit)
    return Messages([_description(mail, one) for one in found], after)


def _messages_text(found: Messages, style: Style) -> str:
    shown = [_message_text(one, f" → {one_word(one.to)}") for one in found.messages]
    return "".join(shown) + _more(found.next_after) if shown else "no messages found"


SEARCH = RelayCapability(
    name="mail.search",
    summary="Search messages, the oldest first",
    parameters=SearchParameters,
    run=search,
    text=_messages_text,
    examples=("messages parser", "messages --with ada"),
)


# Dead letters


@dataclass(frozen=True, slots=True)
class DeadParameters:
    """The dead letters that are listed."""

    page: Page = group(Page)


@dataclass(frozen=True, slots=True)
class ResendParameters:
    """A dead letter that is to wait again."""

    message_id: str = positional("what dead-letters calls it")
    mailbox: str = option(
        "", "the one in which it is to wait; all without", maximum=MAX_SHORT_CHARACTERS
    )


def dead(context: RelayContext, parameters: DeadParameters) -> Deliveries:
    """The messages that nobody took."""
    mail, page = context.relay.mail, parameters.page
    found, after = piece(mail.dead, page.after, page.limit)
    return Deliveries([delivery(mail, one) for one in found], after)


def resend(context: RelayContext, parameters: ResendParameters) -> Resent:
    """Let a dead letter wait again."""
    mail = context.relay.mail
    return Resent(
        parameters.message_id, mail.revive(mail.number(parameters.message_id), parameters.mailbox)
    )


def _dead_text(found: Deliveries, style: Style) -> str:
    if not found.messages:
        return "there are none"
    rows = [("message", "since", "from", "for", "why", "")]
    for one in found.messages:
        body = clipped(one.body, _SHOWN_BODY_CHARACTERS)
        rows.append((one.message_id, one.dead_at or "", one.sender, one.mailbox, one.note, body))
    return "\n".join([*aligned(rows, [style.symbol]), _more(found.next_after)])


def _resent_text(told: Resent, style: Style) -> str:
    return f"waits again in {counted(told.mailboxes, 'mailbox', 'mailboxes')}"


DEAD = RelayCapability(
    name="mail.dead",
    summary="Messages that were refused or not collected in time",
    parameters=DeadParameters,
    run=dead,
    text=_dead_text,
)
RESEND = RelayCapability(
    name="mail.resend",
    summary="Let a dead letter wait again",
    parameters=ResendParameters,
    run=resend,
    text=_resent_text,
    effect=Effect.WRITE,
    fails=("message_not_found", "invalid_argument"),
)


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
        is_question=one.kind == Kind.MESSAGE and is_question(said["body"]),
    )


def stage_name(one: Waiting) -> Any:
    """The stage of a delivery, as answers say it."""
    return one.stage.name.lower()


def _description(mail: Mail, one: Told) -> MessageTold:
    reached: Any = {name: stage.name.lower() for name, stage in one.deliveries}
    return MessageTold(**_members_of(mail, one), id=one.id, recipients=reached)


def _members_of(mail: Mail, one: Waiting | Told) -> dict[str, Any]:
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
