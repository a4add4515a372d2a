"""All threads, the newest first."""

from __future__ import annotations

from tersely.doors.http.ui.layout import Column, Shown, Visit, actor, address, by_agents, older, section, table, when
from tersely.doors.http.ui.markup import Child, e
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay import threads
from tersely.relay.accounting import savings
from tersely.relay.relay import Relay

_COLUMNS = (
    Column("Thread"), Column("Made", is_wide=True), Column("By"), Column("Artifacts", True, True),
    Column("Calls", True, True), Column("From memory", True, True), Column("Tokens avoided", True),
)  # fmt: skip


def threads_page(visit: Visit) -> Shown:
    """One page of the list."""
    found = threads.recent(visit.relay.store, visit.query.get("before", ""), UI_PAGE_ROWS)
    rows = [_row(visit.relay, thread) for thread in found]
    more = older(address("", before=found[-1].thread_id)) if len(found) == UI_PAGE_ROWS else None
    hint = "There are no threads yet. `tersely relay thread new NAME` makes one."
    listed = section(
        "All threads",
        table("Threads, the newest first", _COLUMNS, rows, hint),
        more,
        note=by_agents("the newest first"),
    )
    return Shown("Threads", listed)


def _row(relay: Relay, thread: threads.Thread) -> list[Child]:
    figures = savings(relay.store, f"thread/{thread.thread_id}").told()
    name = e("a", e("bdi", thread.name or "unnamed"), href=address("threads", thread.thread_id))
    return [
        [name, e("small", thread.thread_id, class_="id")],
        when(thread.created_at),
        actor(thread.created_by),
        f"{figures['artifacts']:,}",
        f"{figures['invocations']:,}",
        f"{figures['cache_hits']:,}",
        f"{figures['avoided_tokens']:,}",
    ]
