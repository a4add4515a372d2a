"""The state of a thread at any version, what each version changed, and who changed it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.rendering import ShownPage, Visit, clipped
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.threads import threads
from tersely.relay.threads.state import LISTS
from tersely.relay.threads.threads import read_state_ref
from tersely.relay.wire.documents import VersionOfState

_SHOWN_OPERATIONS = 100
_SHOWN_MEMBERS = 8  # of the items of a list
_SHOWN_PATHS = 6  # of the operations of a version in the history


def state_page(visit: Visit) -> ShownPage:
    """One version, what it changed, and the list of all."""
    store, thread_id = visit.relay.store, visit.path["thread_id"]
    wanted, before = visit.query.get("version", ""), visit.query.get("before", "")
    state = threads.state(store, thread_id, read_state_ref(wanted) if wanted else None)
    version = state["version"]
    (made,) = threads.history(store, thread_id, version + 1, 1)
    found = threads.history(
        store, thread_id, read_state_ref(before) if before else None, UI_PAGE_ROWS
    )
    has_older = len(found) == UI_PAGE_ROWS
    target = (("threads", thread_id, "state"), {"version": version, "before": found[-1].version})
    values = {
        "version": version,
        "made": made,
        "lists": [_list(name, state[name]) for name in LISTS if state[name]],
        "operations": made.operations[:_SHOWN_OPERATIONS],
        "operations_left": max(0, len(made.operations) - _SHOWN_OPERATIONS),
        "versions": list(_versions(found)),
        "older": target if has_older else None,
    }
    return of_thread(visit, "State", values, is_live=not (wanted or before))


def _list(name: str, items: list[JsonObject]) -> JsonObject:
    """One list of the state, as a table of the members that its items have, those that are usual
    first.
    """
    there = dict.fromkeys(member for item in items for member in item)
    usual = [member for member in LISTS[name] if member in there]
    members = list(dict.fromkeys([*usual, *there]))[:_SHOWN_MEMBERS]
    shown = items[-UI_PAGE_ROWS:]
    return {
        "title": name.replace("_", " ").capitalize(),
        "columns": [(member, "") for member in members],
        "rows": shown,
        "count": len(items),
        "left": len(items) - len(shown),
    }


def _versions(found: list[VersionOfState]) -> Iterator[JsonObject]:
    for one in found:
        paths = [f"{item.get('op')} {item.get('path')}" for item in one.operations]
        rest = " …" if len(paths) > _SHOWN_PATHS else ""
        said = clipped(", ".join(paths[:_SHOWN_PATHS]) + rest) if paths else "the thread was made"
        yield {**structs.asdict(one), "said": said}
