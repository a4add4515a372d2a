"""The events of a thread, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tersely.doors.http.ui.pages.of_thread.frame import of_thread
from tersely.doors.http.ui.rendering import ShownPage, Visit, clipped
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.foundation.text.shortening import listed
from tersely.foundation.types import JsonMapping, JsonObject, Strings
from tersely.relay.encoding import timestamp
from tersely.relay.store import streams
from tersely.relay.store.store import Store
from tersely.relay.store.streams import Event
from tersely.relay.threads import threads

_SHOWN_OPERATIONS = 5  # of a patch
# members of a payload that have a place of their own
_UNSAID = frozenset({"by", "artifact_ref", "ref", "cache_key"})

Target = tuple[Strings, JsonObject]  # the parts of a page's path, and its query


class EventRow(NamedTuple):
    """One event in a list."""

    number: int
    at: str
    type: str
    by: str
    text: str
    target: Target | None  # the page of what it is about


def events_page(visit: Visit) -> ShownPage:
    """The latest events, or those before one."""
    thread_id, before = visit.path["thread_id"], visit.number("before")
    found = latest(visit.relay.store, thread_id, UI_PAGE_ROWS, before)
    has_older = bool(found) and found[0].number > 1
    older = (("threads", thread_id, "events"), {"before": found[0].number}) if has_older else None
    return of_thread(visit, "Events", {"rows": rows(found), "older": older}, is_live=before is None)


def latest(store: Store, thread_id: str, limit: int, before: int | None = None) -> list[Event]:
    """The last events of a thread, or those before a number; the oldest first."""
    last = store.last(streams.THREAD + thread_id)
    end = min(last + 1, before or last + 1)
    start = max(end - 1 - limit, 0)
    return threads.events(store, thread_id, start, end - 1 - start) if end - 1 > start else []


def rows(found: Iterable[Event]) -> list[EventRow]:
    """Events as lists show them, the newest first."""
    made = [
        EventRow(one.number, timestamp(one.at_ms), one.type, _by(one), summary(one), _target(one))
        for one in found
    ]
    return made[::-1]


def summary(event: Event) -> str:
    """An event in one line."""
    payload = _payload(event)
    told = {name: value for name, value in payload.items() if name not in _UNSAID}
    if event.type == streams.STATE_PATCHED:
        return clipped(f"{told.get('state_ref')}: {_operations(told.get('operations'))}")
    if event.type == streams.CAPABILITY_INVOKED:
        how = "from memory" if told.get("cache_hit") is True else "made anew"
        return clipped(f"{told.get('capability')}, {how}")
    if event.type == streams.ARTIFACT_CREATED:
        return clipped(
            f"{told.get('name') or 'unnamed'} ({told.get('type')}, {told.get('size')} bytes)"
        )
    scalars = {name: value for name, value in told.items() if isinstance(value, str | int)}
    return clipped(", ".join(f"{name}: {value}" for name, value in scalars.items() if value != ""))


def _operations(said: Any) -> str:
    operations = [one for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []
    named = [f"{one.get('op')} {one.get('path')}" for one in operations]
    return listed(named, _SHOWN_OPERATIONS)


def _target(event: Event) -> Target | None:
    """The page of what an event is about."""
    payload = _payload(event)
    ref = payload.get("artifact_ref") or payload.get("ref")
    if isinstance(ref, str) and ref and event.type != streams.ARTIFACT_REMOVED:
        return ("threads", event.thread_id, "artifacts", ref), {}
    version = payload.get("version")
    if event.type == streams.STATE_PATCHED and isinstance(version, int):
        return ("threads", event.thread_id, "state"), {"version": version}
    return None


def _by(event: Event) -> str:
    by = _payload(event).get("by")
    return by if isinstance(by, str) else ""


def _payload(event: Event) -> JsonMapping:
    """Threads that were imported may hold anything."""
    return event.payload if isinstance(event.payload, dict) else {}
