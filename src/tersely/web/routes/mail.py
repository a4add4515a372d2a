"""Messages over HTTP: sending, mailboxes, history, dead letters, and who there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.protocols.relay.messages import CHANNEL, Joining, NewMessage
from tersely.protocols.socket.envelopes import Treatment
from tersely.relay.encoding import decode, encode, timestamp
from tersely.relay.mail.channels import Write
from tersely.relay.mail.mail import Mail
from tersely.relay.mail.messages import Draft, state_of
from tersely.relay.relay import Relay
from tersely.relay.store.mailboxes import Mark, Sought, Stage, Told, Waiting
from tersely.web.asked import Asked

_USER = "user"  # what somebody is who only asks over HTTP


def message_send(relay: Relay, asked: Asked) -> Any:
    """A message, from whoever asks."""
    body: NewMessage = asked.body
    _meet(relay.mail, asked.agent, body.token)
    payload: dict[str, Any] = {"kind": body.kind, "body": body.body}
    if body.data is not msgspec.UNSET:
        payload["data"] = body.data
    if body.thread:
        payload["thread"] = body.thread
    treatment = Treatment(
        ttl_ms=body.ttl_ms, importance=body.importance, replyTo=body.reply_to or None, queue=body.queue or None
    )
    sender = relay.mail.identities.get(asked.agent)
    draft = Draft(
        asked.agent, sender.kind if sender else _USER, body.id or asked.key or new_id(), body.to, encode(payload),
        b"" if treatment == Treatment() else encode(treatment), body.kind, body.topic, body.thread, body.ttl_ms,
        body.queue,
    )  # fmt: skip
    sent = relay.mail.send(relay.mail.compose(draft))
    return {
        "id": draft.id, "message_id": sent.id, "seq": sent.seq, "durability": sent.durability,
        "recipients": sent.recipients, "refused": sent.refused, "repeated": sent.is_repetition,
    }  # fmt: skip


def message_list(relay: Relay, asked: Asked) -> Any:
    """The history."""
    query = asked.query
    sought = Sought(query["with"] or "", query["thread"] or "", (query["query"] or "").split())
    found = relay.mail.history(sought, query["after"], query["limit"])
    next_after = found[-1].number if len(found) == query["limit"] else None
    return {"messages": [_message(relay.mail, one) for one in found], "next_after": next_after}


def inbox(relay: Relay, asked: Asked) -> Any:
    """What came to a mailbox, or what waits in it."""
    query, name = asked.query, asked.path["name"]
    read = relay.mail.waiting if query["waiting"] else relay.mail.box
    return _page(relay.mail, read(name, query["after"], query["limit"]), query["limit"])


def receipt_new(relay: Relay, asked: Asked) -> Any:
    """A stage that a message has reached with whoever asks."""
    mail, name = relay.mail, asked.agent
    _meet(mail, name, asked.body.token)
    number = mail.number(asked.path["message_id"])
    if mail.delivery(name, number) is None:
        raise TerselyError("message_not_found", f"no such message came to {name}", f"`tersely inbox {name}` lists them")
    mail.settle(Mark(name, number, Stage[asked.body.stage.upper()], mail.store.now_ms()))
    found = mail.delivery(name, number)
    assert found is not None
    return {"message_id": mail.message_id(number), "mailbox": name, "stage": found.stage.name.lower()}


def dead_letters(relay: Relay, asked: Asked) -> Any:
    """What nobody took."""
    query = asked.query
    return _page(relay.mail, relay.mail.dead(query["after"], query["limit"]), query["limit"])


def dead_letter_resend(relay: Relay, asked: Asked) -> Any:
    """A dead letter that waits again."""
    message_id = asked.path["message_id"]
    return {
        "message_id": message_id,
        "mailboxes": relay.mail.revive(relay.mail.number(message_id), asked.body.mailbox),
    }


def agent_list(relay: Relay, asked: Asked) -> Any:
    """Everybody who is known."""
    connected = relay.mail.presence.connected()
    return {
        "agents": [
            {
                "name": one.name, "kind": one.kind, "project": one.project, "connected": one.name in connected,
                "state": state_of(one.name, relay.mail.presence),
                "is_bound": one.token is not None, "waiting": relay.mail.load(one.name)[0],
                "first_seen": timestamp(one.first_ms), "last_seen": timestamp(one.last_ms), "details": one.details,
            }
            for one in relay.mail.identities.all()
            if not asked.query["connected"] or one.name in connected
        ]
    }  # fmt: skip


def channel_list(relay: Relay, asked: Asked) -> Any:
    """The channels."""
    found = relay.mail.channels.all()
    return {
        "channels": [
            {"name": one.name, "members": one.members, "created_at": timestamp(one.created_ms)} for one in found
        ]
    }


def channel_join(relay: Relay, asked: Asked) -> Any:
    """A channel with whoever asks."""
    return _membership(relay.mail, asked, relay.mail.channels.join)


def channel_leave(relay: Relay, asked: Asked) -> Any:
    """A channel without whoever asks."""
    return _membership(relay.mail, asked, relay.mail.channels.leave)


HANDLERS = {
    handler.__name__: handler
    for handler in (
        message_send, message_list, inbox, receipt_new, dead_letters, dead_letter_resend, agent_list, channel_list,
        channel_join, channel_leave,
    )
}  # fmt: skip


def _meet(mail: Mail, name: str, token: str) -> None:
    """Let somebody act under a name; raises `unauthorized` or `name_taken`."""
    write = mail.identities.meet(name, _USER, token, is_live=name in mail.presence.connected())
    if write is not None:
        mail.do(write)


def _membership(mail: Mail, asked: Asked, change: Callable[[str, str], Write | None]) -> Any:
    body: Joining = asked.body
    if not re.fullmatch(CHANNEL, body.channel):
        message = f"{body.channel!r} is not a channel: its name is # and up to 99 letters, digits and . _ : @ / -"
        raise TerselyError("invalid_argument", message)
    _meet(mail, asked.agent, body.token)
    write = change(body.channel, asked.agent)
    if write is not None:
        mail.do(write)
    found = mail.channels.get(body.channel)
    return {"channel": body.channel, "members": found.members if found else ()}


def _page(mail: Mail, found: list[Waiting], limit: int) -> Any:
    next_after = found[-1].number if len(found) == limit else None
    return {"messages": [_delivery(mail, one) for one in found], "next_after": next_after}


def _delivery(mail: Mail, one: Waiting) -> dict[str, Any]:
    payload = decode(one.payload)
    treatment = decode(one.treatment) if one.treatment else {}
    times = {
        name: None if at_ms is None else timestamp(at_ms)
        for name, at_ms in (
            ("delivered_at", one.delivered_ms), ("injected_at", one.injected_ms), ("seen_at", one.seen_ms),
            ("dead_at", one.dead_ms),
        )
    }  # fmt: skip
    return {
        **_shared(mail, one, payload), "mailbox": one.mailbox, "sender_kind": one.sender_kind,
        "reply_to": treatment.get("replyTo", ""), "seq": one.seq, "attempts": one.attempts,
        "stage": one.stage.name.lower(), "note": one.note, **times,
    }  # fmt: skip


def _message(mail: Mail, one: Told) -> dict[str, Any]:
    reached = {mailbox: stage.name.lower() for mailbox, stage in one.deliveries}
    return {**_shared(mail, one, decode(one.payload)), "id": one.id, "recipients": reached}


def _shared(mail: Mail, one: Waiting | Told, payload: Any) -> dict[str, Any]:
    return {
        "message_id": mail.message_id(one.number), "number": one.number, "sender": one.sender, "to": one.addressed,
        "kind": one.kind, "body": payload.get("body", ""), "thread": one.thread, "topic": one.topic,
        "data": payload.get("data"), "sent_at": timestamp(one.at_ms),
    }  # fmt: skip
