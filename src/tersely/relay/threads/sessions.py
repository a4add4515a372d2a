"""The records that a session leaves in a thread: its summary, an action, and an event, in one
commit.
"""

from __future__ import annotations

from typing import NamedTuple

from tersely.foundation.types import JsonObject
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import CountTokens, Origin
from tersely.relay.encoding import canonical, timestamp
from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import SESSION_ENDED, happened
from tersely.relay.threads import threads

MAX_LAST_ACTIONS = 100  # that a state keeps when sessions add to it


class SessionSummary(NamedTuple):
    """A session that has ended: the program that ran, one line about it, and its summary in
    Markdown.
    """

    program: str
    description: str
    summary: str
    exit_status: int


def leave(
    store: Store,
    thread_id: str,
    session: SessionSummary,
    actor: str,
    count_tokens: CountTokens,
    key: str = "",
) -> JsonObject:
    """Leave a summary in a thread: an artifact, the latest of the state's actions, and an event;
    all or nothing.

    The oldest actions make room beyond `MAX_LAST_ACTIONS`. Raises `thread_not_found` and what a
    patch may raise.
    """
    prepared = artifacts.prepare(
        store, thread_id, [session.summary.encode("utf-8", "surrogatepass")], count_tokens, name=f"session-{actor}.md",
        kind="markdown", origin=Origin(actor),
    )  # fmt: skip
    ref = prepared.artifact.ref
    action = {
        "at": timestamp(store.now_ms()),
        "description": session.description,
        "result_ref": ref,
        "by": actor,
    }
    is_full = len(threads.state(store, thread_id)["last_actions"]) >= MAX_LAST_ACTIONS
    operations: list[JsonObject] = [{"op": "add", "path": "/last_actions/-", "value": action}]
    operations += [{"op": "remove", "path": "/last_actions/0"}] if is_full else []
    told = {
        "by": actor, "program": session.program, "exit_status": session.exit_status, "artifact_ref": ref,
        "description": session.description,
    }  # fmt: skip
    commands = (
        *threads.patching(store, thread_id, operations, actor), *prepared.commands,
        happened(thread_id, SESSION_ENDED, told),
    )  # fmt: skip
    fingerprint = canonical([thread_id, *session]) if key else b""
    done = store.commit(StoreBatch(commands, f"session/{actor}/{key}" if key else "", fingerprint))
    if done.is_repetition:
        store.let_go(prepared.taken)
    return {"artifact_ref": ref, "state_ref": threads.state_ref(done.given[0])}
