"""Who there is: agents, users and services by name, whether they are connected, what waits for them; and channels."""

from __future__ import annotations

from collections.abc import Collection

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    by_agents,
    older,
    said,
    section,
    table,
    value_text,
    when,
)
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay.encoding import timestamp
from tersely.relay.mail.messages import state_of
from tersely.relay.store.mailboxes import Identity
from tersely.relay.teams.permissions import ALLOW, DENY

_COLUMNS = (
    Column("Name"), Column("Is"), Column("Waiting", True), Column("Task"), Column("Program", is_wide=True),
    Column("Project", is_wide=True), Column("Last seen", is_wide=True),
)  # fmt: skip
_PERMISSIONS = (Column("Agent"), Column("Tool"), Column("What for"), Column("Since", is_wide=True), Column("Answer"))
_CHANNELS = (Column("Channel"), Column("Members"), Column("Since", is_wide=True))


def agents_page(visit: Visit) -> Shown:
    """Everybody who is known, those that are connected first."""
    mail = visit.relay.mail
    connected = frozenset(mail.presence.connected())
    known = sorted(mail.identities.all(), key=lambda one: (one.name not in connected, one.name))
    start = _start(visit)
    shown = known[start : start + UI_PAGE_ROWS]
    rows = [_row(visit, one, connected) for one in shown]
    more = older(address("agents", after=start + UI_PAGE_ROWS), "More") if len(known) > start + UI_PAGE_ROWS else None
    nobody = e("p", said("Nobody has come yet. `tersely run -- PROGRAM` runs a program as an agent."), class_="empty")
    listed = table("Everybody, those who are connected first", _COLUMNS, rows, "") if rows else nobody
    content = e(
        "div",
        _waiting(visit),
        section("Who is known", listed, more, note=by_agents("what they say of themselves"), id="known"),
        _channels(visit),
    )
    return Shown("Agents", content)


def _waiting(visit: Visit) -> Child:
    """What agents wait for permission to do, with the person's answers."""
    open_ones = visit.relay.permissions.listed()
    if not open_ones:
        return None
    rows = [
        [
            actor(one.agent),
            e("code", one.tool),
            e("code", e("bdi", value_text(one.what))),
            when(timestamp(one.since_ms)),
            _answers(visit, one.id),
        ]
        for one in open_ones[:UI_PAGE_ROWS]
    ]
    listed = table("What agents wait for permission to do", _PERMISSIONS, rows, "")
    return section("Waiting for permission", listed, note=by_agents("as they ask it"), id="permissions")


def _answers(visit: Visit, id: str) -> Child:
    if not visit.form_token:
        return e("small", "answer where it runs, or open this page by ", e("code", "tersely relay open"))
    return e(
        "form",
        e("input", type="hidden", name="form_token", value=visit.form_token),
        e("button", "Allow", name="answer", value=ALLOW),
        " ",
        e("button", "Deny", name="answer", value=DENY, class_="quiet"),
        method="post",
        action=f"/ui/permissions/{id}",
    )


def _row(visit: Visit, one: Identity, connected: Collection[str]) -> list[Child]:
    return [
        [e("a", e("bdi", one.name), href=address("messages", **{"with": one.name})), e("small", one.kind, class_="id")],
        badge(state_of(one.name, visit.relay.mail.presence), "good" if one.name in connected else "muted"),
        f"{visit.relay.mail.load(one.name)[0]:,}",
        _said(one, "task"),
        _said(one, "program"),
        e("bdi", one.project),
        when(timestamp(one.last_ms)),
    ]


def _said(one: Identity, member: str) -> Child:
    value = one.details.get(member)
    return e("bdi", value_text(value)) if value else None


def _channels(visit: Visit) -> Element:
    rows = [
        [
            e("a", e("bdi", one.name), href=address("messages", **{"with": one.name})),
            e("bdi", value_text(", ".join(one.members))),
            when(timestamp(one.created_ms)),
        ]
        for one in visit.relay.mail.channels.all()[:UI_PAGE_ROWS]
    ]
    return section("Channels", table("Channels, by name", _CHANNELS, rows, "Nobody is in a channel."))


def _start(visit: Visit) -> int:
    text = visit.query.get("after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 0
