"""Messages between agents as HTTP has them. What travels on the socket is in `protocols.socket.envelopes`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from tersely.foundation.limits import MAX_TTL_MILLISECONDS
from tersely.protocols.socket.envelopes import CHANNEL_PATTERN

Address = Annotated[str, Meta(min_length=1, max_length=200)]
Short = Annotated[str, Meta(max_length=200)]
CHANNEL = f"(?=#.){CHANNEL_PATTERN}"  # the whole of a name, as it is addressed
ChannelName = Annotated[str, Meta(extra_json_schema={"pattern": f"^{CHANNEL}$"})]
Stage = Literal["accepted", "delivered", "injected", "seen", "dead"]


class NewMessage(Struct, forbid_unknown_fields=True):
    """A message to be sent by the agent of the request; `token` is needed where its name is bound to one."""

    to: Address
    body: str
    kind: Literal["message", "action", "state", "thinking"] = "message"
    thread: Short = ""
    topic: Short = ""
    data: dict[str, Any] | UnsetType = UNSET
    importance: float | None = None
    ttl_ms: Annotated[int, Meta(ge=1, le=MAX_TTL_MILLISECONDS)] | None = None
    reply_to: Short = ""
    id: Short = ""  # sent again under the same, it is accepted once
    queue: bool = False  # also for a recipient that was never seen
    token: Short = ""


class MessageSent(Struct):
    """A message that the relay has, committed as `durability` says. `refused` are recipients with full mailboxes."""

    id: str
    message_id: str
    seq: int
    durability: str
    recipients: int
    refused: list[str]
    repeated: bool


class MessageTold(Struct):
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


class Messages(Struct):
    """Messages, the oldest first; more are asked for with `after`."""

    messages: list[MessageTold]
    next_after: int | None


class DeliveryTold(Struct):
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


class Deliveries(Struct):
    """Messages of mailboxes, the oldest first; more are asked for with `after`."""

    messages: list[DeliveryTold]
    next_after: int | None


class NewReceipt(Struct, forbid_unknown_fields=True):
    """How far a message has come with the agent of the request."""

    stage: Literal["delivered", "injected", "seen"] = "delivered"
    token: Short = ""


class ReceiptTold(Struct):
    """How far a message has come with one recipient; a stage is never taken back."""

    message_id: str
    mailbox: str
    stage: Stage


class Resend(Struct, forbid_unknown_fields=True):
    """Dead letters that are to wait again: of one mailbox, or without a name in all."""

    mailbox: Short = ""


class Resent(Struct):
    """How many mailboxes a message waits in again."""

    message_id: str
    mailboxes: int


class AgentTold(Struct):
    """Somebody who has used a name. `waiting` are messages that it has not acknowledged.

    `state` is what it does: working, idle, waits for permission; connected where it says nothing, gone where it is not.
    """

    name: str
    kind: str
    project: str
    connected: bool
    state: str
    is_bound: bool
    waiting: int
    first_seen: str
    last_seen: str
    details: dict[str, Any] = field(default_factory=dict)


class Agents(Struct):
    """Who is known, by name."""

    agents: list[AgentTold]


class ChannelTold(Struct):
    """A channel and its members."""

    name: str
    members: list[str]
    created_at: str


class Joining(Struct, forbid_unknown_fields=True):
    """A channel that the agent of the request joins or leaves; `token` is needed where its name is bound to one."""

    channel: ChannelName
    token: Short = ""


class Membership(Struct):
    """The members of a channel, after somebody joined or left it."""

    channel: str
    members: list[str]


class Channels(Struct):
    """The channels that have members, by name."""

    channels: list[ChannelTold]
