"""The tokens that a thread was spared, over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tersely.doors.http.ui.pages.of_thread.events import latest
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_PLOTTED_EVENTS
from tersely.foundation.types import JsonObject
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Artifact
from tersely.relay.store import streams
from tersely.relay.store.store import Store
from tersely.relay.store.streams import Event
from tersely.relay.wire.documents import Savings

_LISTED_POINTS = 40


class _TokenStep(NamedTuple):
    """The figures at a time, or what one event added to them."""

    at_ms: int
    naive: int
    actual: int


def points(store: Store, thread_id: str, told: Savings) -> list[_TokenStep]:
    """Figures of a thread over time, the newest first; none before anything was counted. `told` are
    those of now.
    """
    found = _points(store, thread_id, told)
    every = max(1, -(-len(found) // _LISTED_POINTS))
    return found[::-1][::every] if len(found) > 1 else []


def _points(store: Store, thread_id: str, told: Savings) -> list[_TokenStep]:
    """The steps by which the figures came to be what they are. The last point is what the relay has
    counted.

    The events do not hold sizes; the artifacts that they name do. So the way is walked back from
    the present: what is not known any more, of artifacts that were removed and of the events before
    the latest, is where it begins.
    """
    steps = list(_steps(store, thread_id))
    naive, actual = told.naive_tokens, told.actual_tokens
    points: list[_TokenStep] = []
    for step in reversed(steps):
        points.append(_TokenStep(step.at_ms, naive, actual))
        naive, actual = naive - step.naive, actual - step.actual
    if steps:
        points.append(_TokenStep(steps[0].at_ms, naive, actual))
    return points[::-1]


def _steps(store: Store, thread_id: str) -> Iterator[_TokenStep]:
    known: dict[str, Artifact | None] = {}
    told = [(event, event.payload) for event in latest(store, thread_id, MAX_PLOTTED_EVENTS)]
    payloads = [(event, payload) for event, payload in told if isinstance(payload, dict)]
    was_hit = _first_calls(payloads)
    for event, payload in payloads:
        is_call = event.type == streams.CAPABILITY_INVOKED
        ref = payload.get("artifact_ref" if is_call else "ref")
        is_counted = (
            payload.get("cache_hit") is True if is_call else event.type == streams.ARTIFACT_CREATED
        )
        if not is_counted or not isinstance(ref, str):
            continue
        if ref not in known:
            known[ref] = _artifact(store, thread_id, ref)
        found = known[ref]
        # What was remembered from another thread costs nothing by being here: the call that it
        # answers does.
        is_shared = found is not None and bool(found.origin.capability) and was_hit.get(ref, False)
        if found is None or (not is_call and is_shared):
            continue
        naive, actual = found.sizes
        yield _TokenStep(event.at_ms, naive.tokens, actual.tokens)


def _first_calls(payloads: list[tuple[Event, JsonObject]]) -> dict[str, bool]:
    """The artifacts, and for each whether the first call that gave it was answered from memory."""
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
