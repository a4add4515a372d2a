"""Agents, and the channels in which they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.capabilities.declaration.declaration import (
    Effect,
    frozen,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.answers.messages import (
    Agents,
    AgentTold,
    Channels,
    ChannelTold,
    Membership,
    PermissionTold,
)
from tersely.capabilities.relay.context import RelayContext, meet
from tersely.foundation.activity import IDLE
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import Numbers, Strings

if TYPE_CHECKING:
    from tersely.relay.mail.channels import Write

CHANNEL = r"(?=#.)[#A-Za-z0-9_][A-Za-z0-9._:@/#-]{0,99}"  # the whole of a name, as it is addressed
OWES = "owes an answer"
MAX_SHOWN_ASKERS = 3  # of those to whom an agent owes an answer


@frozen
class Retired:
    """The things that an agent has left: claims and items of boards that others can have now,
    messages that are dead letters.
    """

    name: str
    released: list[str]
    returned: list[str]
    dead_letters: int


_membership = partial(
    relay_capability,
    effect=Effect.WRITE,
    fails=("name_taken", "unauthorized", "busy", "invalid_argument"),
)
_CHANNEL = positional("# and up to 99 letters, digits and . _ : @ / -", pattern=CHANNEL)


def _agents_text(found: Agents, style: Style) -> str:
    rows: list[Strings] = [("name", "kind", "is", "waiting", "project", "last seen", "task")]
    for one in found.agents:
        task = str(one.details.get("task", ""))
        owes = f" to {', '.join(one.owes[:MAX_SHOWN_ASKERS])}" if one.owes else ""
        held = f", {one.held_back:,} held back" if one.held_back else ""
        state = one.state + owes + held
        rows.append(
            (one.name, one.kind, state, f"{one.waiting:,}", _place(one), one.last_seen, task)
        )
    lines = [_table(rows, style, "no agents known", right=(3,))]
    for waiting in found.permissions:
        # all of it, without blanks that push its end away: it is what the person allows
        wanted = " ".join(visible_line(f"{waiting.tool}: {waiting.what}").split())
        lines.append(f"{waiting.agent} waits for permission {style.symbol(waiting.id)}: {wanted}")
    if found.permissions:
        lines.append("answer: tersely agents approve ID, or tersely agents deny ID")
    return "\n".join(lines)


@relay_capability("agent.list", _agents_text)
def agents(
    context: RelayContext,
    *,
    connected: bool = option(False, "those alone that are connected"),
) -> Agents:
    """List agents, what they do, and how much waits for them.

    An agent says of itself what it does; one that is gone keeps its name and its mailbox.
    """
    from tersely.relay.encoding import timestamp
    from tersely.relay.mail.identities import DIRECTORY

    mail = context.relay.mail
    present = mail.presence.connected()
    permissions = [
        PermissionTold(one.id, one.agent, one.tool, one.what, timestamp(one.since_ms))
        for one in context.relay.permissions.listed()
    ]
    owed = mail.questions.owed()
    known = [
        AgentTold(
            name=one.name,
            kind=one.kind,
            project=one.project,
            directory=str(one.details.get(DIRECTORY, "")),
            connected=one.name in present,
            state=_state(context.relay.state_of(one.name), owed.get(one.name)),
            is_bound=one.token is not None,
            waiting=mail.load(one.name)[0],
            first_seen=timestamp(one.first_ms),
            last_seen=timestamp(one.last_ms),
            owes=owed.get(one.name, []),
            held_back=mail.brakes.held[one.name] + context.relay.services.held[one.name],
            details=dict(one.details),
        )
        for one in mail.identities.all()
        if not connected or one.name in present
    ]  # fmt: skip
    return Agents(known, permissions)


def _retired_text(found: Retired, style: Style) -> str:
    left = [f"released {target}" for target in found.released]
    left += [f"item {item} is ready again" for item in found.returned]
    left += (
        [f"{counted(found.dead_letters, 'message')} waited: tersely dead-letters"]
        if found.dead_letters
        else []
    )
    return "\n".join([f"{style.symbol(found.name)} is retired", *left])


@relay_capability(
    "agent.retire",
    _retired_text,
    "agents retire ann",
    effect=Effect.WRITE,
    fails=("recipient_not_found", "name_taken", "unauthorized", "busy", "not_permitted"),
)
def retire(
    context: RelayContext,
    *,
    name: str = positional("that of an agent that is gone"),
) -> Retired:
    """Have an agent that is gone leave the list, with its claims and its items of the board.

    Its name is free again. A name that nobody has used for long leaves by itself.
    """
    from tersely.relay.teams.board import give_back

    relay = context.relay
    is_other = name != context.agent and not context.is_of_person
    if is_other and relay.claims.is_holder(name):
        hint = "its claims end by themselves once it is gone; a person may retire it before"
        raise TerselyError("not_permitted", f"{name} holds claims, and an agent asks", hint)
    dead = relay.mail.retire(name, context.token)
    released = [one.target for one in relay.claims.release_all(name)]
    returned = [one.id for one in give_back(relay.store, name)]
    return Retired(name, released, returned, dead)


def _channels_text(found: Channels, style: Style) -> str:
    rows: list[Strings] = [("channel", "members", "")]
    rows += [(one.name, f"{len(one.members):,}", ", ".join(one.members)) for one in found.channels]
    return _table(rows, style, "there are none")


@relay_capability("channel.list", _channels_text)
def channels(context: RelayContext) -> Channels:
    """The channels and their members."""
    from tersely.relay.encoding import timestamp

    found = context.relay.mail.channels.all()
    return Channels(
        [ChannelTold(one.name, list(one.members), timestamp(one.created_ms)) for one in found]
    )


def _members_text(told: Membership, style: Style) -> str:
    return f"{told.channel}  {', '.join(told.members) or 'no members left'}"


@_membership("channel.join", _members_text)
def join(
    context: RelayContext,
    *,
    channel: str = _CHANNEL,
) -> Membership:
    """Join a channel; creates it if needed."""
    return _changed(context, channel, context.relay.mail.channels.join)


@_membership("channel.leave", _members_text)
def leave(
    context: RelayContext,
    *,
    channel: str = _CHANNEL,
) -> Membership:
    """Leave a channel."""
    return _changed(context, channel, context.relay.mail.channels.leave)


def _changed(
    context: RelayContext, channel: str, change: Callable[[str, str], Write | None]
) -> Membership:
    mail = context.relay.mail
    meet(context)
    write = change(channel, context.agent)
    if write is not None:
        mail.do(write)
    found = mail.channels.get(channel)
    return Membership(channel, list(found.members) if found else [])


def _place(one: AgentTold) -> str:
    """The project of an agent, and in which of its worktrees or clones it works, where that has
    another name.
    """
    directory = PurePath(one.directory).name
    return one.project if directory in {"", one.project} else f"{one.project} in {directory}"


def _state(said: str, askers: Sequence[str] | None) -> str:
    """The state of somebody: who owes an answer is not idle."""
    return said if not askers else OWES if said == IDLE else f"{said}, {OWES}"


def _table(rows: list[Strings], style: Style, empty: str, right: Numbers = ()) -> str:
    return "\n".join(aligned(rows, [style.symbol], right=right)) if len(rows) > 1 else empty
