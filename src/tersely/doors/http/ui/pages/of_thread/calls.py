"""The capabilities that were called for a thread: which were answered from memory, and what that
spared.
"""

from __future__ import annotations

import json

from tersely.doors.http.ui.pages.of_thread.events import latest
from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.limits import MAX_PLOTTED_EVENTS, UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.store.streams import CAPABILITY_INVOKED, Event


def calls_page(visit: Visit) -> ShownPage:
    """The latest calls, or those before an event."""
    thread_id, before = visit.path["thread_id"], visit.number("before")
    looked_at = latest(visit.relay.store, thread_id, MAX_PLOTTED_EVENTS, before)
    found = [
        event
        for event in looked_at
        if event.type == CAPABILITY_INVOKED and isinstance(event.payload, dict)
    ]
    shown = found[-UI_PAGE_ROWS:]
    # What is before the calls that are shown, or before all that was looked at where that held
    # fewer.
    first = shown[0].number if len(found) > len(shown) else looked_at[0].number if looked_at else 1
    older = (("threads", thread_id, "calls"), {"before": first}) if first > 1 else None
    values = {"rows": [_row(event) for event in reversed(shown)], "older": older}
    return of_thread(visit, "Calls", values, is_live=before is None)


def _row(event: Event) -> JsonObject:
    told: JsonObject = event.payload
    ref = told.get("artifact_ref")
    return {
        "capability": told.get("capability", ""),
        "is_hit": told.get("cache_hit") is True,
        "arguments": json.dumps(told.get("arguments", {}), ensure_ascii=False),
        "by": told.get("by", ""),
        "at_ms": event.at_ms,
        "ref": ref if isinstance(ref, str) else "",
    }
