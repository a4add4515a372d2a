"""The names of what the store keeps for the relay, and the events that threads consist of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping, frozen
from tersely.relay.encoding import decode, encode, timestamp
from tersely.relay.store.commands import Append, StreamEntry
from tersely.relay.wire.documents import EventTold

MAX_SHOWN_ID_CHARACTERS = 80  # of a thread that is not there

STATE = "state/"
THREAD = "thread/"

THREAD_CREATED = "thread.created"
STATE_PATCHED = "state.patch.applied"
ARTIFACT_CREATED = "artifact.created"
ARTIFACT_REMOVED = "artifact.removed"
CAPABILITY_INVOKED = "capability.invoked"
REPORT_GENERATED = "report.generated"
CHECKPOINT_CREATED = "checkpoint.created"
SESSION_ENDED = "session.ended"
THREAD_IMPORTED = "thread.imported"


def no_thread(thread_id: str) -> TerselyError:
    """The error of who asks for a thread that is not there, or not theirs."""
    return TerselyError(
        "thread_not_found",
        f"there is no thread {thread_id[:MAX_SHOWN_ID_CHARACTERS]!r}",
        "`tersely relay runs` lists them",
    )


@frozen
class Event:
    """One thing that happened in a thread. Numbers are 1, 2, … without gaps."""

    number: int
    thread_id: str
    type: str
    at_ms: int
    payload: Any

    def told(self) -> EventTold:
        """The event as doors send it."""
        return EventTold(
            str(self.number),
            self.number,
            self.thread_id,
            self.type,
            self.payload,
            timestamp(self.at_ms),
        )


def happened(
    thread_id: str,
    kind: str,
    payload: JsonMapping | Callable[[Sequence[int]], JsonMapping],
) -> Append:
    """The command that tells a thread of an event; the payload may depend on what the batch gave
    before.
    """
    if callable(payload):
        return Append(THREAD + thread_id, kind, lambda given: encode(payload(given)))
    return Append(THREAD + thread_id, kind, encode(payload))


def event(thread_id: str, entry: StreamEntry) -> Event:
    """An entry of a thread's stream, read."""
    return Event(entry.number, thread_id, entry.kind, entry.at_ms, decode(entry.body))
