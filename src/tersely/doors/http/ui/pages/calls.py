"""The capabilities that were called for a thread: which were answered from memory, and what that spared."""

from __future__ import annotations

import json
from typing import Any

from tersely.doors.http.ui.layout import (
    Column,
    Shown,
    Visit,
    actor,
    address,
    badge,
    by_agents,
    older,
    section,
    short,
    table,
    value_text,
    when,
)
from tersely.doors.http.ui.markup import Child, e
from tersely.doors.http.ui.pages.events import latest
from tersely.doors.http.ui.pages.frame import framed
from tersely.foundation.limits import MAX_PLOTTED_EVENTS, UI_PAGE_ROWS
from tersely.relay.encoding import timestamp
from tersely.relay.streams import CAPABILITY_INVOKED, Event


def calls_page(visit: Visit) -> Shown:
    """The latest calls, or those before an event."""
    thread_id = visit.path["thread_id"]
    text = visit.query.get("before", "")
    before = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
    looked_at = latest(visit.relay.store, thread_id, MAX_PLOTTED_EVENTS, before)
    found = [event for event in looked_at if event.type == CAPABILITY_INVOKED and isinstance(event.payload, dict)]
    shown = found[-UI_PAGE_ROWS:]
    columns = (
        Column("Capability"), Column("Answer"), Column("Arguments"), Column("By", is_wide=True),
        Column("When", is_wide=True), Column("Artifact", is_wide=True),
    )  # fmt: skip
    rows = [_row(event) for event in reversed(shown)]
    # What is before the calls that are shown, or before all that was looked at where that held fewer.
    first = shown[0].number if len(found) > len(shown) else looked_at[0].number if looked_at else 1
    more = older(address("threads", thread_id, "calls", before=first)) if first > 1 else None
    listed = table("Calls, the newest first", columns, rows, "No capability has been called here.")
    return framed(visit, "Calls", section("Calls", listed, more, note=by_agents("the newest first")))


def _row(event: Event) -> list[Child]:
    told: dict[str, Any] = event.payload
    is_hit = told.get("cache_hit") is True
    ref = told.get("artifact_ref")
    target = address("threads", event.thread_id, "artifacts", ref) if isinstance(ref, str) and ref else None
    arguments = value_text(json.dumps(told.get("arguments", {}), ensure_ascii=False))
    name = e("bdi", value_text(told.get("capability", "")))
    return [
        e("a", name, href=target) if target else name,
        badge("from memory", "good") if is_hit else badge("made anew", "muted"),
        e("code", e("bdi", arguments), class_="value"),
        actor(value_text(told.get("by", ""))),
        when(timestamp(event.at_ms)),
        short(ref) if isinstance(ref, str) else None,
    ]
