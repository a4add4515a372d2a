"""All threads, the newest first."""

from __future__ import annotations

from tersely.doors.http.ui.rendering import ShownPage, Visit
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import savings


def threads_page(visit: Visit) -> ShownPage:
    """One page of the list."""
    store, before = visit.relay.store, visit.query.get("before", "")
    found = threads.recent(store, before, UI_PAGE_ROWS)
    rows = [{"thread": one, "told": savings(store, f"thread/{one.thread_id}")} for one in found]
    older = (("threads",), {"before": found[-1].thread_id}) if len(found) == UI_PAGE_ROWS else None
    return ShownPage(
        "Threads", "relay/threads.html", {"rows": rows, "older": older}, is_live=not before
    )
