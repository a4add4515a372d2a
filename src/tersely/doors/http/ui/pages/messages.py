"""The pages of messages between agents: who, to whom, when, how far it has come; all of it, of a
thread, or one message.
"""

from __future__ import annotations

from collections import Counter

from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.rendering import ShownPage, Trail, Visit, clipped
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_UI_SHOWN_BYTES, UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.encoding import decode
from tersely.relay.mail.mail import searched_text
from tersely.relay.store.mailboxes import HistoryMessage, Sought

NEWEST = 10**15  # before which all messages are


def messages_page(visit: Visit) -> ShownPage:
    """Messages of everybody, or those with one name or of one thread, the newest first."""
    asked = {name: visit.query.get(name, "").strip() for name in ("with", "thread")}
    empty = (
        "Nothing is found."
        if any(asked.values())
        else "Nobody has sent anything. `tersely send NAME TEXT` does."
    )
    values = _values(visit, Sought(asked["with"], asked["thread"]), empty)
    return ShownPage(
        "Messages", "relay/messages.html", values, is_live=visit.number("before") is None
    )


def thread_messages_page(visit: Visit) -> ShownPage:
    """The messages of one thread, the newest first."""
    thread_id = visit.path["thread_id"]
    empty = f"Nothing was sent in this thread. `tersely send NAME TEXT --thread {thread_id}` does."
    return of_thread(visit, "Messages", _values(visit, Sought(thread=thread_id), empty))


def message_page(visit: Visit) -> ShownPage:
    """One message, with how far it has come with each recipient; raises `message_not_found`."""
    mail, text = visit.relay.mail, visit.path["number"]
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
    told = next(iter(mail.history(Sought(), number + 1, 1, backward=True)), None)
    if told is None or told.number != number:
        raise TerselyError(
            "message_not_found", f"There is no message {text[:40]}.", "Go back to the messages."
        )
    body, payload = searched_text(told.payload), decode(told.payload)
    values = {
        "told": told,
        "body": body[:MAX_UI_SHOWN_BYTES],
        "length": len(body),
        "data": payload.get("data") if isinstance(payload, dict) else None,
        "message_id": mail.message_id(number),
        "ways": mail.deliveries(number),
    }
    return ShownPage(
        f"Message {number}", "relay/message.html", values, Trail("Messages", "/ui/messages")
    )


def row(told: HistoryMessage) -> JsonObject:
    """A message as lists show it: its beginning, and how many recipients it has reached how far."""
    stages = Counter(stage for _, stage in told.deliveries)
    text = clipped(" ".join(searched_text(told.payload).split())) or f"({told.kind})"
    return {**told._asdict(), "text": text, "stages": sorted(stages.items())}


def _values(visit: Visit, sought: Sought, empty: str) -> JsonObject:
    """One page of the messages that are sought."""
    before = visit.number("before")
    found = visit.relay.mail.history(
        sought, NEWEST if before is None else before, UI_PAGE_ROWS, backward=True
    )
    asked = {
        "with": sought.with_,
        "thread": sought.thread,
        "before": found[-1].number if found else None,
    }
    older = (("messages",), asked) if len(found) == UI_PAGE_ROWS else None
    return {"found": [row(one) for one in found], "empty": empty, "older": older}
