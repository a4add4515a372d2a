"""One thread at a glance: its figures, what it knows, the tokens that it saved, and what happens in
it now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tersely.doors.http.ui.pages.of_thread.events import latest, rows
from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.pages.of_thread.tokens import points
from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.types import JsonObject
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import savings
from tersely.relay.wire.documents import Savings

_LATEST_EVENTS = 12
# (member of the header, title, what stands first, what is said)
_SECTIONS = (
    ("top_facts", "Facts", "key", "value"),
    ("top_constraints", "Constraints", "severity", "description"),
    ("open_questions", "Open questions", "status", "question"),
    ("next_steps", "Next steps", "status", "step"),
    ("last_actions", "Last actions", "at", "description"),
)


def thread_page(visit: Visit) -> ShownPage:
    """The overview of a thread."""
    store = visit.relay.store
    thread_id = threads.get(store, visit.path["thread_id"]).thread_id
    told = savings(store, f"thread/{thread_id}")
    header = threads.header(store, thread_id)
    values = {
        "told": told,
        "header": header,
        "tokens_note": _tokens_note(told),
        "points": points(store, thread_id, told),
        "known": list(_filled_parts(header)),
        "rows": rows(latest(store, thread_id, _LATEST_EVENTS)),
    }
    return of_thread(visit, "Overview", values)


def _tokens_note(told: Savings) -> str:
    naive, actual, avoided = told.naive_tokens, told.actual_tokens, told.avoided_tokens
    share = f", {avoided * 100 / naive:.0f} %" if naive > 0 else ""
    return f"{naive:,} if all had been pasted, {actual:,} were sent, {avoided:,} avoided{share}"


def _filled_parts(header: JsonObject) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """The parts of the header that hold something: their titles, and what stands in each line."""
    for member, title, first, said in _SECTIONS:
        if header[member]:
            yield title, [(item.get(first), item.get(said, "")) for item in header[member]]
