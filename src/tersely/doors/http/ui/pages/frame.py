"""The frame of the pages of one thread: its name, and the ways between them."""

from __future__ import annotations

from tersely.doors.http.ui.layout import Shown, Visit, address
from tersely.doors.http.ui.markup import Child, e
from tersely.relay import threads

_TABS = (
    ("Overview", ""),
    ("Events", "events"),
    ("State", "state"),
    ("Artifacts", "artifacts"),
    ("Calls", "calls"),
    ("Messages", "messages"),
)


def framed(visit: Visit, tab: str, content: Child, *, scripts: tuple[str, ...] = (), is_below: bool = False) -> Shown:
    """A page of a thread; `is_below` where it is one below what the tab leads to. Raises `thread_not_found`."""
    thread = threads.get(visit.relay.store, visit.path["thread_id"])
    links = []
    for title, part in _TABS:
        target = address("threads", thread.thread_id, *([part] if part else []))
        current = ("true" if is_below else "page") if title == tab else None
        links.append(e("li", e("a", title, href=target, aria_current=current)))
    tabs = e("nav", e("ul", links), aria_label="This thread", class_="tabs")
    return Shown(thread.name or "unnamed", content, (("Threads", "/ui/"),), scripts, tabs)
