"""The tokens that a thread was spared, over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tersely.doors.http.ui.layout import Column, Visit, section, table, when
from tersely.doors.http.ui.markup import Child, Element, e
from tersely.doors.http.ui.pages.events import latest
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_PLOTTED_EVENTS
from tersely.relay import artifacts, streams
from tersely.relay.artifacts import Artifact
from tersely.relay.encoding import timestamp
from tersely.relay.store.store import Store
from tersely.relay.streams import Event

_LISTED_POINTS = 40


class _Step(NamedTuple):
    """The figures at a time, or what one event added to them."""

    at_ms: int
    naive: int
    actual: int


def tokens_section(visit: Visit, thread_id: str, told: dict[str, Any]) -> Element:
    """The figures over time, as a table. `told` are the figures of the thread as they are now."""
    naive, actual, avoided = told["naive_tokens"], told["actual_tokens"], told["avoided_tokens"]
    share = f", {avoided * 100 / naive:.0f} %" if naive > 0 else ""
    note = f"{naive:,} if all had been pasted, {actual:,} were sent, {avoided:,} avoided{share}"
    points = _points(visit.relay.store, thread_id, told)
    if len(points) < 2:
        return section("Tokens", e("p", "Nothing has been counted yet.", class_="empty"), note=note)
    return section("Tokens", _figures(points, told), note=note)


def _figures(points: list[_Step], told: dict[str, Any]) -> Element:
    columns = (Column("Time"), Column("If pasted", True), Column("Sent", True), Column("Avoided", True))
    every = max(1, -(-len(points) // _LISTED_POINTS))
    rows: list[list[Child]] = [
        [when(timestamp(one.at_ms)), f"{one.naive:,}", f"{one.actual:,}", f"{one.naive - one.actual:,}"]
        for one in points[::-1][::every]
    ]
    estimate = told["estimate"]
    said = (
        f"By characters divided by four: {estimate['naive_tokens']:,} if pasted, {estimate['actual_tokens']:,} sent, "
        f"{estimate['avoided_tokens']:,} avoided."
    )
    listed = table("Tokens over time, the newest first", columns, rows, "")
    return e("details", e("summary", "The figures over time"), listed, e("p", said, class_="note"))


def _points(store: Store, thread_id: str, told: dict[str, Any]) -> list[_Step]:
    """How the figures came to be what they are. The last point is what the relay has counted.

    The events do not hold sizes; the artifacts that they name do. So the way is walked back from the present: what
    is not known any more, of artifacts that were removed and of the events before the latest, is where it begins.
    """
    steps = list(_steps(store, thread_id))
    naive, actual = told["naive_tokens"], told["actual_tokens"]
    points: list[_Step] = []
    for step in reversed(steps):
        points.append(_Step(step.at_ms, naive, actual))
        naive, actual = naive - step.naive, actual - step.actual
    if steps:
        points.append(_Step(steps[0].at_ms, naive, actual))
    return points[::-1]


def _steps(store: Store, thread_id: str) -> Iterator[_Step]:
    known: dict[str, Artifact | None] = {}
    told = [(event, event.payload) for event in latest(store, thread_id, MAX_PLOTTED_EVENTS)]
    payloads = [(event, payload) for event, payload in told if isinstance(payload, dict)]
    was_hit = _first_calls(payloads)
    for event, payload in payloads:
        is_call = event.type == streams.CAPABILITY_INVOKED
        ref = payload.get("artifact_ref" if is_call else "ref")
        is_counted = payload.get("cache_hit") is True if is_call else event.type == streams.ARTIFACT_CREATED
        if not is_counted or not isinstance(ref, str):
            continue
        if ref not in known:
            known[ref] = _artifact(store, thread_id, ref)
        found = known[ref]
        # What was remembered from another thread costs nothing by being here: the call that it answers does.
        is_shared = found is not None and bool(found.origin.capability) and was_hit.get(ref, False)
        if found is None or (not is_call and is_shared):
            continue
        naive, actual = found.sizes
        yield _Step(event.at_ms, naive.tokens, actual.tokens)


def _first_calls(payloads: list[tuple[Event, dict[str, Any]]]) -> dict[str, bool]:
    """Whether the first call that gave an artifact was answered from memory."""
    found: dict[str, bool] = {}
    for event, payload in payloads:
        if event.type == streams.CAPABILITY_INVOKED:
            found.setdefault(str(payload.get("artifact_ref")), payload.get("cache_hit") is True)
    return found


def _artifact(store: Store, thread_id: str, ref: str) -> Artifact | None:
    try:
        return artifacts.get(store, thread_id, ref)
    except TerselyError:
        return None
