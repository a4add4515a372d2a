"""What agents write to each other: who, to whom, when, how far it has come; all of it, of a thread, or one message."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    by_agents,
    figures,
    older,
    said,
    section,
    table,
    untrusted,
    value_text,
    when,
)
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.doors.http.ui.pages.frame import framed
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_UI_SHOWN_BYTES, UI_PAGE_ROWS
from tersely.relay.encoding import decode, timestamp
from tersely.relay.mail.mail import searched_text
from tersely.relay.store.mailboxes import Sought, Stage, Told, Waiting

_BADGES = {
    Stage.ACCEPTED: "muted", Stage.DELIVERED: "good", Stage.INJECTED: "good", Stage.SEEN: "good", Stage.DEAD: "warn",
}  # fmt: skip
_WAYS = (
    Column("Recipient"), Column("Stage"), Column("Delivered", is_wide=True), Column("Injected", is_wide=True),
    Column("Seen", is_wide=True), Column("Attempts", True), Column("Note"),
)  # fmt: skip
_NEWEST = 10**15  # before which all messages are


def messages_page(visit: Visit) -> Shown:
    """Messages of everybody, or those with one name or of one thread, the newest first."""
    asked = {name: visit.query.get(name, "").strip() for name in ("with", "thread")}
    empty = "Nothing is found." if any(asked.values()) else "Nobody has sent anything. `tersely send NAME TEXT` does."
    return Shown("Messages", _section(visit, Sought(asked["with"], asked["thread"]), "", empty))


def thread_messages_page(visit: Visit) -> Shown:
    """The messages of one thread, the newest first."""
    thread_id = visit.path["thread_id"]
    empty = f"Nothing was sent in this thread. `tersely send NAME TEXT --thread {thread_id}` does."
    return framed(visit, "Messages", _section(visit, Sought(thread=thread_id), thread_id, empty))


def message_page(visit: Visit) -> Shown:
    """One message, with how far it has come with each recipient; raises `message_not_found`."""
    text = visit.path["number"]
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
    told = next(iter(visit.relay.mail.recent(Sought(), number + 1, 1)), None)
    if told is None or told.number != number:
        raise TerselyError("message_not_found", f"There is no message {text[:40]}.", "Go back to the messages.")
    body = searched_text(told.payload)
    shown = body[:MAX_UI_SHOWN_BYTES]
    cut = [badge("shortened", "muted"), f" the first {len(shown):,} of {len(body):,} characters"]
    about = section(
        "What was sent", untrusted(told.sender), _about(visit, told),
        e("pre", shown, class_="text", tabindex=0, role="region", aria_label="The message"), _data(told),
        note=cut if len(shown) < len(body) else ["sent ", when(timestamp(told.at_ms))], id="sent",
    )  # fmt: skip
    rows = [_way(one) for one in visit.relay.mail.deliveries(number)]
    ways = section("How far it has come", table("Recipients", _WAYS, rows, "It was for nobody."), id="stages",
                   note="accepted, delivered, injected, seen; or a dead letter")  # fmt: skip
    return Shown(f"Message {number}", e("div", about, ways), (("Messages", "/ui/messages"),))


def _section(visit: Visit, sought: Sought, thread_id: str, empty: str) -> Element:
    """One page of the messages that are sought; `thread_id` is that of the page, which rows need not name."""
    found = visit.relay.mail.recent(sought, _before(visit), UI_PAGE_ROWS)
    asked = {"with": sought.with_, "thread": sought.thread, "before": found[-1].number if found else None}
    more = older(address("messages", **asked)) if len(found) == UI_PAGE_ROWS else None
    listed = _list(found, empty, thread_id)
    return section("What was sent", listed, more, note=by_agents("the newest first"), id="messages")


def _list(found: list[Told], empty: str, thread_id: str = "") -> Element:
    if not found:
        return e("p", said(empty), class_="empty")
    return e(
        "ol", [_row(one, thread_id) for one in found], class_="events messages", aria_label="Messages, the newest first"
    )


def _row(told: Told, thread_id: str) -> Element:
    text = value_text(" ".join(searched_text(told.payload).split())) or f"({told.kind})"
    link = e("a", e("bdi", text), href=address("messages", str(told.number)))
    thread = e("small", "thread ", e("bdi", told.thread), class_="id") if told.thread not in {"", thread_id} else None
    to = [e("span", " to ", class_="unseen"), e("span", " → ", aria_hidden="true"), e("bdi", told.addressed)]
    return e(
        "li",
        e("span", told.number, class_="seq"),
        when(timestamp(told.at_ms)),
        e("span", _reached(told), class_="type"),
        e("span", e("bdi", told.sender), to, class_="actor"),
        e("span", link, thread, class_="what"),
    )


def _reached(told: Told) -> Child:
    """How far it has come; where it went to several, how many of them it has reached so."""
    stages = Counter(stage for _, stage in told.deliveries)
    if len(told.deliveries) == 1:
        return _stage(told.deliveries[0][1])
    shown = [[f"{count:,} ", _stage(stage), " "] for stage, count in sorted(stages.items())]
    return shown or badge("nobody", "muted")


def _stage(stage: Stage) -> Element:
    return badge(stage.name.lower(), _BADGES[stage])


def _about(visit: Visit, told: Told) -> Element:
    numbers: list[tuple[str, Child]] = [("To", e("bdi", told.addressed)), ("Kind", told.kind)]
    numbers += [("Topic", e("bdi", told.topic))] if told.topic else []
    if told.thread:
        numbers.append(("Thread", e("a", e("code", told.thread), href=address("messages", thread=told.thread))))
    return figures([*numbers, ("Id", e("code", visit.relay.mail.message_id(told.number)))])


def _data(told: Told) -> Child:
    payload: Any = decode(told.payload)
    data = payload.get("data") if isinstance(payload, dict) else None
    return e("p", "data: ", e("code", e("bdi", value_text(data)), class_="value")) if data is not None else None


def _way(one: Waiting) -> list[Child]:
    times = [when(timestamp(at_ms)) if at_ms else "" for at_ms in (one.delivered_ms, one.injected_ms, one.seen_ms)]
    note = [e("bdi", value_text(one.note)), " ", when(timestamp(one.dead_ms)) if one.dead_ms else None]
    return [actor(one.mailbox), _stage(one.stage), *times, f"{one.attempts:,}", note]


def _before(visit: Visit) -> int:
    text = visit.query.get("before", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else _NEWEST
