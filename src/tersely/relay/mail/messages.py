"""A message before and after it is accepted, and whom it is for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple
from unicodedata import normalize

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_FRAME_BYTES
from tersely.foundation.text.agent_names import agent_name
from tersely.foundation.types import Strings
from tersely.relay.mail.channels import ChannelMembers
from tersely.relay.mail.identities import Identities
from tersely.relay.store.mailboxes import Post, Posted
from tersely.relay.store.news import Here

MESSAGE_ENVELOPE_BYTES = 4_096  # what a delivery may add to what was sent
EVERYBODY = "*"
CHANNEL = "channel"  # the kind of what was sent as CHANNEL_MESSAGE


class LastScreen(NamedTuple):
    """The last screen of a wrapped program's terminal, and its time."""

    text: str
    at_ms: int


class Presence:
    """The agents that are connected: nobody, unless it is said. Used on the thread that mail is
    attached to, and, to read, on any.
    """

    def connected(self) -> Collection[str]:
        """Everybody who is connected."""
        return ()

    def activity(self, name: str) -> str:
        """The activity that somebody tells of themselves, "" where they say nothing."""
        return ""

    def screen(self, name: str) -> LastScreen | None:
        """The last screen of somebody that is known, also of who is gone."""
        return None

    def live(self, topic: str) -> Iterable[str]:
        """The agents and users that are connected, those alone that subscribe to the topic if there
        is one.
        """
        return ()

    def takes(self, name: str) -> bool:
        """True if a message for them would be sent to them at once."""
        return False

    def posted(self, post: Post, posted: Posted) -> None:
        """A message has been accepted."""

    def revived(self, name: str, number: int) -> None:
        """A dead letter of theirs waits again."""

    def here(self) -> Mapping[str, Here]:
        """Those that are connected to this process, by name."""
        return {}

    def come(self, names: Iterable[str]) -> None:
        """Messages for them may wait that another process has accepted."""

    def moved(self, names: Collection[str]) -> None:
        """They are connected to another process now."""

    def written(self) -> None:
        """A group is written: what waits is to be flushed."""


class Nobody(Presence):
    """The presence of nobody, where there is no socket."""

    def __init__(self, flush: Callable[[], object]) -> None:
        self._flush = flush

    def written(self) -> None:
        """Go on."""
        self._flush()


class Accepted(NamedTuple):
    """A message that is kept: its id, for everybody who gets it, and its recipients.

    `refused` are recipients whose mailboxes are full, `seq` is the number of the delivery where
    there is one recipient.
    """

    id: str
    seq: int
    recipients: int
    refused: Strings
    durability: str
    is_repetition: bool


class PostOutcome(NamedTuple):
    """A message with what the store said: `posted`, or the `failure` that kept it from being
    written.
    """

    post: Post
    posted: Posted | None
    refused: Strings
    failure: Exception | None = None


def recipients(
    one: Post,
    identities: Identities,
    channels: ChannelMembers,
    presence: Presence,
    *,
    is_queued: bool,
) -> Strings:
    """The mailboxes that a message is for; raises `recipient_not_found`, `channel_not_found` or
    `payload_too_large`. One that `is_queued` may be for a name that was never seen.
    """
    to = one.addressed
    if len(one.payload) + len(one.treatment) > MAX_FRAME_BYTES - MESSAGE_ENVELOPE_BYTES:
        message = f"a message has at most {MAX_FRAME_BYTES - MESSAGE_ENVELOPE_BYTES:,} bytes"
        raise TerselyError(
            "payload_too_large", message, "store it as an artifact and send its reference"
        )
    if to == EVERYBODY:
        group: Iterable[str] = presence.live(one.topic)
    elif to.startswith("#") or one.kind == CHANNEL:
        group = _members(channels, to)
    elif to.endswith(":" + EVERYBODY):
        project = to.removesuffix(":" + EVERYBODY)
        group = (name for name in presence.live(one.topic) if _is_of(identities, name, project))
    else:
        return (_mailbox_of(to, identities, is_queued=is_queued),)
    return tuple(name for name in group if name != one.sender)


def _members(channels: ChannelMembers, name: str) -> Iterable[str]:
    """The members of a channel; raises `channel_not_found`."""
    channel = channels.get(name)
    if channel is None:
        hint = f"`tersely channels join '{name}'` or a line ->relay:#channel joins it; `tersely channels` lists all"
        raise TerselyError("channel_not_found", f"no channel {name}", hint)
    return channel.members


def _mailbox_of(to: str, identities: Identities, *, is_queued: bool) -> str:
    """The mailbox of one name, also of one that is to come; raises `recipient_not_found`."""
    name = identities.resolve(normalize("NFKC", to))
    if name is not None:
        return name
    if not is_queued:
        hint = "`tersely agents` lists those known; with --queue (queue: true) a message waits for a new one"
        raise TerselyError("recipient_not_found", f"no agent is called {to!r}", hint)
    try:
        to_come = agent_name(to)
    except TerselyError as error:
        raise TerselyError("recipient_not_found", error.message, error.hint) from None
    if ":" in to_come:
        hint = "a message waits for a name alone, without a project"
        raise TerselyError("recipient_not_found", f"no agent can be called {to_come!r}", hint)
    return to_come


def _is_of(identities: Identities, name: str, project: str) -> bool:
    one = identities.get(name)
    return name.startswith(project + ":") or (one is not None and one.project == project)
