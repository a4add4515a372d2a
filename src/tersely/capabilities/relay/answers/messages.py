"""The answers to questions about messages between agents."""

from __future__ import annotations

from typing import Any, Literal

from tersely.capabilities.declaration.declaration import frozen
from tersely.foundation.types import JsonObject, field

Stage = Literal["accepted", "delivered", "injected", "seen", "dead"]


@frozen
class MessageSent:
    """A message that the relay has, committed as `durability` says. `refused` are recipients with
    full mailboxes.
    """

    id: str
    message_id: str
    seq: int
    durability: str
    recipients: int
    refused: list[str]
    repeated: bool


@frozen
class MessageTold:
    """One message of the history: whom it reached, and how far."""

    message_id: str
    number: int
    id: str
    sender: str
    to: str
    kind: str
    body: str
    thread: str
    topic: str
    data: Any
    sent_at: str
    recipients: dict[str, Stage]


@frozen
class Messages:
    """Messages, the oldest first; more are asked for with `after`."""

    messages: list[MessageTold]
    next_after: int | None


@frozen
class DeliveryTold:
    """One message in one mailbox. The times are those of the stages that it has reached."""

    message_id: str
    number: int
    mailbox: str
    sender: str
    sender_kind: str
    to: str
    kind: str
    body: str
    thread: str
    topic: str
    data: Any
    reply_to: str
    seq: int
    attempts: int
    stage: Stage
    note: str
    sent_at: str
    delivered_at: str | None
    injected_at: str | None
    seen_at: str | None
    dead_at: str | None
    is_question: bool = False  # its sender waits for an answer


@frozen
class Deliveries:
    """Messages of mailboxes, the oldest first; more are asked for with `after`."""

    messages: list[DeliveryTold]
    next_after: int | None
    mailbox: str = ""  # whose they are, where they are of one
    # messages that did not come, since the relay was started: agents answered each other too often
    held_back: int = 0
    is_of_another: bool = False  # whose name who asks has to say to answer


@frozen
class ReceiptTold:
    """The stage of a message with one recipient; a stage is never taken back."""

    message_id: str
    mailbox: str
    stage: Stage


@frozen
class Resent:
    """The number of mailboxes in which a message waits again."""

    message_id: str
    mailboxes: int


@frozen
class PermissionTold:
    """A question of an agent that waits for permission: the tool, and what for."""

    id: str
    agent: str
    tool: str
    what: str
    since: str


@frozen
class AgentTold:
    """Somebody who has used a name. `waiting` are messages that it has not acknowledged.

    `state` is what it does: working, idle, waits for permission; connected where it says nothing,
    gone where it is not; beside it that it owes an answer, which is never said to be idle.
    """

    name: str
    kind: str
    project: str
    directory: str  # where it works, "" where that is not known
    connected: bool
    state: str
    is_bound: bool
    waiting: int
    first_seen: str
    last_seen: str
    # who has asked it something and has no answer yet
    owes: list[str] = field(default_factory=list)
    # messages and questions that did not reach it: agents answered each other too often, or wrote
    # or asked too fast
    held_back: int = 0
    details: JsonObject = field(default_factory=dict)


@frozen
class Agents:
    """The agents that are known, by name, and what waits for the person's permission, the oldest
    first.
    """

    agents: list[AgentTold]
    permissions: list[PermissionTold]


@frozen
class ChannelTold:
    """A channel and its members."""

    name: str
    members: list[str]
    created_at: str


@frozen
class Membership:
    """The members of a channel, after somebody joined or left it."""

    channel: str
    members: list[str]


@frozen
class Channels:
    """The channels that have members, by name."""

    channels: list[ChannelTold]
