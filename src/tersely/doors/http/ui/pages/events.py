"""What happened in a thread: the latest, and what comes while somebody looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tersely.doors.http.ui.layout import Shown, Visit, actor, address, by_agents, older, section, value_text, when
from tersely.doors.http.ui.markup import Element, e
from tersely.doors.http.ui.pages.frame import framed
from tersely.foundation.escape import visible_line
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.relay import streams, threads
from tersely.relay.encoding import encode, timestamp
from tersely.relay.store.store import Store
from tersely.relay.streams import Event


def events_page(visit: Visit) -> Shown:
    """The latest events, or those before one."""
    thread_id = visit.path["thread_id"]
    before = visit.query.get("before", "")
    end = int(before) if before.isascii() and before.isdigit() and len(before) <= 15 else None
    found = latest(visit.relay.store, thread_id, UI_PAGE_ROWS, end)
    more = older(address("threads", thread_id, "events", before=found[0].number)) if _has_older(found) else None
    listed = section("What happened", events_list(thread_id, found, is_live=end is None), more,
                     note=by_agents("the newest first"))  # fmt: skip
    return framed(visit, "Events", listed, scripts=("events.js",) if end is None else ())


def latest(store: Store, thread_id: str, limit: int, before: int | None = None) -> list[Event]:
    """The last events of a thread, or those before a number; the oldest first."""
    last = store.last(streams.THREAD + thread_id)
    end = min(last + 1, before or last + 1)
    start = max(end - 1 - limit, 0)
    return threads.events(store, thread_id, start, end - 1 - start) if end - 1 > start else []


def events_list(thread_id: str, found: list[Event], *, is_live: bool) -> Element:
    """Events, the newest first; a live list says where its script hears of more."""
    rows = [_row(event) for event in reversed(found)]
    listed = e("ol", rows, class_="events", id="events", aria_label="Events, the newest first")
    if not is_live:
        return listed
    last = found[-1].number if found else 0
    button = e("button", "Pause", type="button", id="pause", aria_pressed="false", hidden=True)
    status = e("span", "Reload the page to see what is new.", id="live", role="status", class_="live")
    control = e("div", status, button, class_="live-bar")
    stream = address("threads", thread_id, "events", "stream", after=last)
    return e("div", control, listed, data_events=stream)


def frame(event: Event) -> bytes:
    """An event as the script of the pages is sent it: plain text and an address, never markup."""
    target = _target(event)
    told = {
        "seq": event.number,
        "at": timestamp(event.at_ms),
        "type": visible_line(event.type),
        "by": visible_line(_by(event)),
        "text": visible_line(summary(event)),
        "href": target,
    }
    return b"id: %d\ndata: %s\n\n" % (event.number, encode(told))


def summary(event: Event) -> str:
    """What happened, in a line."""
    payload = _payload(event)
    told = {name: value for name, value in payload.items() if name not in {"by", "artifact_ref", "ref", "cache_key"}}
    if event.type == streams.STATE_PATCHED:
        operations = [one for one in _list(told.get("operations")) if isinstance(one, Mapping)]
        shown = ", ".join(f"{one.get('op')} {one.get('path')}" for one in operations[:5])
        rest = f" and {len(operations) - 5} more" if len(operations) > 5 else ""
        return value_text(f"{told.get('state_ref')}: {shown}{rest}")
    if event.type == streams.CAPABILITY_INVOKED:
        how = "from memory" if told.get("cache_hit") is True else "made anew"
        return value_text(f"{told.get('capability')}, {how}")
    if event.type == streams.ARTIFACT_CREATED:
        return value_text(f"{told.get('name') or 'unnamed'} ({told.get('type')}, {told.get('size')} bytes)")
    scalars = {name: value for name, value in told.items() if isinstance(value, str | int)}
    return value_text(", ".join(f"{name}: {value}" for name, value in scalars.items() if value != ""))


def _row(event: Event) -> Element:
    target = _target(event)
    text = e("bdi", summary(event))
    return e(
        "li",
        e("span", event.number, class_="seq"),
        when(timestamp(event.at_ms)),
        e("span", event.type, class_="type"),
        actor(_by(event)),
        e("a", text, href=target, class_="what") if target else e("span", text, class_="what"),
    )


def _target(event: Event) -> str:
    """The page of what an event is about, empty if it has none."""
    payload = _payload(event)
    ref = payload.get("artifact_ref") or payload.get("ref")
    if isinstance(ref, str) and ref and event.type != streams.ARTIFACT_REMOVED:
        return address("threads", event.thread_id, "artifacts", ref)
    version = payload.get("version")
    if event.type == streams.STATE_PATCHED and isinstance(version, int):
        return address("threads", event.thread_id, "state", version=version)
    return ""


def _by(event: Event) -> str:
    by = _payload(event).get("by")
    return by if isinstance(by, str) else ""


def _payload(event: Event) -> Mapping[str, Any]:
    """Threads that were imported may hold anything."""
    return event.payload if isinstance(event.payload, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _has_older(found: list[Event]) -> bool:
    return bool(found) and found[0].number > 1
