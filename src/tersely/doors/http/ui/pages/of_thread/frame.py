"""The frame of the pages of one thread: its name, and the ways between them."""

from __future__ import annotations

from typing import Any

from tersely.doors.http.ui.rendering import ShownPage, Trail, Visit
from tersely.foundation.types import JsonObject
from tersely.relay.threads import threads


def of_thread(
    visit: Visit, tab: str, values: JsonObject, *, template: str = "", **more: Any
) -> ShownPage:
    """A page of a thread; `tab` is its part, whose template is that of its name. Raises
    `thread_not_found`.
    """
    thread = threads.get(visit.relay.store, visit.path["thread_id"])
    values = {"thread": thread, "tab": tab, "is_below": bool(template), **values}
    template = f"thread/{template or tab.lower()}.html"
    return ShownPage(
        thread.name or "unnamed", template, values, Trail("Threads", "/ui/threads"), **more
    )
