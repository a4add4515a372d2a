"""Checkpoints of threads, and their calls made again to see what would be answered otherwise today."""

from __future__ import annotations

from difflib import unified_diff
from hashlib import sha256
from itertools import islice

from tersely.foundation.errors import TerselyError
from tersely.relay.services.calls import Call, Invocations
from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.store import Store, paged
from tersely.relay.store.streams import (
    CAPABILITY_INVOKED,
    CHECKPOINT_CREATED,
    STATE,
    THREAD,
    event,
    happened,
)
from tersely.relay.threads import threads
from tersely.relay.wire.documents import CheckpointTold, Compared

MAX_REPLAYED_CALLS = 1_000
MAX_COMPARED_BYTES = 1_000_000  # of two answers whose lines are compared
MAX_SHOWN_CHANGES = 20  # lines
_SAME, _DIFFERS, _FAILED, _GONE = "same", "differs", "failed", "gone"


def checkpoint(store: Store, thread_id: str, name: str, actor: str) -> CheckpointTold:
    """Mark where a thread is now: the version of its state and its latest event, under a name."""
    threads.check_name(name)
    threads.get(store, thread_id)
    found = store.document(STATE + thread_id)
    ref = threads.state_ref(found[0] if found else 1)
    told = {"name": name, "state_ref": ref, "by": actor}
    done = store.commit(StoreBatch((happened(thread_id, CHECKPOINT_CREATED, told),)))
    return CheckpointTold(name, ref, done.given[0])


def replay(
    store: Store, calls: Invocations, thread_id: str, actor: str, after: int = 0
) -> list[Compared]:
    """Make the calls of a thread after an event again, those that only read, and compare what they
    give.

    Nothing is kept of it. What is done is bounded: `MAX_REPLAYED_CALLS`, each of them once.
    """
    threads.get(store, thread_id)
    compared: list[Compared] = []
    seen: set[str] = set()
    for entry in paged(store.entries, THREAD + thread_id, after):
        told = event(thread_id, entry).payload
        is_call = entry.kind == CAPABILITY_INVOKED and not told["cache_hit"]
        if not is_call or told["artifact_ref"] in seen:
            continue
        seen.add(told["artifact_ref"])
        call = Call(thread_id, told["capability"], told["arguments"], actor)
        compared.append(_compared(store, calls, entry.number, call, told["artifact_ref"]))
        if len(compared) == MAX_REPLAYED_CALLS:
            break
    return compared


def _compared(store: Store, calls: Invocations, number: int, call: Call, was: str) -> Compared:
    try:
        content = calls.try_out(call)
    except TerselyError as error:
        return Compared(number, call.capability, was, "", _FAILED, str(error))
    now = sha256(content).hexdigest()
    if now == was:
        return Compared(number, call.capability, was, now, _SAME, "")
    if store.size(was) is None:
        return Compared(number, call.capability, was, now, _GONE, "")
    return Compared(number, call.capability, was, now, _DIFFERS, _changes(store, was, content))


def _changes(store: Store, was: str, now: bytes) -> str:
    if max(store.size(was) or 0, len(now)) > MAX_COMPARED_BYTES:
        return f"{store.size(was):,} bytes were {len(now):,}"
    before = b"".join(store.blob(was)).decode("utf-8", "replace").splitlines()
    lines = unified_diff(
        before, now.decode("utf-8", "replace").splitlines(), "then", "now", n=1, lineterm=""
    )
    return "\n".join(islice(lines, MAX_SHOWN_CHANGES))
