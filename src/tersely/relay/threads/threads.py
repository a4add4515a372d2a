"""Threads: where agents work together. Each has a state, artifacts and events; all three are
written together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import MAX_NAME_CHARACTERS, MAX_READ_ENTRIES
from tersely.foundation.types import JsonObject, field, frozen
from tersely.relay.encoding import canonical, decode, encode, timestamp
from tersely.relay.store.commands import Command, DocumentEdit, StoreBatch, Write
from tersely.relay.store.store import Store
from tersely.relay.store.streams import (
    STATE,
    STATE_PATCHED,
    THREAD,
    THREAD_CREATED,
    Event,
    event,
    happened,
    no_thread,
)
from tersely.relay.threads import state as states
from tersely.relay.threads.accounting import metrics_of
from tersely.relay.wire.documents import Patched, VersionOfState

_STATE_REF = re.compile("v?[1-9][0-9]{0,11}")


@frozen
class Thread:
    """A thread, as it is known without looking into it."""

    thread_id: str
    name: str
    created_at: str
    created_by: str
    # what its agents use in a day before none starts another, where that is not as the policy says
    most: Mapping[str, int] = field(default_factory=dict)

    def told(self, version: int) -> JsonObject:
        """The thread as doors send it."""
        return {
            "thread_id": self.thread_id,
            "name": self.name,
            "created_at": self.created_at,
            "created_by": self.created_by,
            "state_ref": state_ref(version),
            "state_version": version,
        }


@frozen
class PatchResult:
    """The result of a patch."""

    version: int
    updated_at: str
    is_repetition: bool

    def told(self) -> Patched:
        """The outcome as doors send it."""
        return Patched(self.version, state_ref(self.version), self.updated_at)


def state_ref(version: int) -> str:
    """The reference of a version of a state."""
    return f"v{version}"


def read_state_ref(text: str) -> int:
    """The version that `v7` or `7` means; raises `invalid_argument`."""
    if not _STATE_REF.fullmatch(text):
        raise TerselyError(
            "invalid_argument", f"{text[:40]!r} is not a version of a state", "write it as v7"
        )
    return int(text.removeprefix("v"))


def check_name(name: str) -> None:
    """Raise `invalid_argument` for a name that is too long."""
    if len(name) > MAX_NAME_CHARACTERS:
        raise TerselyError(
            "invalid_argument", f"a name has at most {MAX_NAME_CHARACTERS} characters"
        )


def create(
    store: Store, name: str, actor: str, thread_id: str = "", most: Mapping[str, int] | None = None
) -> Thread:
    """A new thread with an empty state at version 1; raises `version_conflict` if there is one of
    the id.
    """
    check_name(name)
    now_ms = store.now_ms()
    thread = Thread(thread_id or new_id(now_ms), name, timestamp(now_ms), actor, most or {})
    about = {"name": name, "created_at": thread.created_at, "created_by": actor}
    body = encode({**about, "most": thread.most} if most else about)
    first = encode(states.new_state(thread.thread_id, now_ms))
    store.commit(
        StoreBatch(
            (
                Write(
                    THREAD + thread.thread_id, lambda _: DocumentEdit(body, b""), actor, expected=0
                ),
                Write(
                    STATE + thread.thread_id, lambda _: DocumentEdit(first, b""), actor, expected=0
                ),
                happened(thread.thread_id, THREAD_CREATED, {"name": name, "by": actor}),
            ),
        )
    )
    return thread


def get(store: Store, thread_id: str) -> Thread:
    """The thread of an id; raises `thread_not_found`."""
    found = store.document(THREAD + thread_id)
    if found is None:
        raise no_thread(thread_id)
    return Thread(thread_id, **decode(found[1]))


def recent(store: Store, before: str = "", limit: int = MAX_READ_ENTRIES) -> list[Thread]:
    """Threads, the newest first, those older than the thread `before`."""
    names = store.names(THREAD, THREAD + before if before else "", limit)
    return [get(store, name.removeprefix(THREAD)) for name in names]


def state(store: Store, thread_id: str, version: int | None = None) -> JsonObject:
    """The state of a thread, at present or at any version before; raises `thread_not_found`,
    `version_not_found`.
    """
    found = store.document(STATE + thread_id)
    if found is None:
        raise no_thread(thread_id)
    body = found[1]
    if version is not None and version != found[0]:
        earlier = store.version(STATE + thread_id, version, states.replay)
        if earlier is None:
            raise TerselyError(
                "version_not_found",
                f"there is no version {version}",
                f"the present one is {found[0]}",
            )
        body = earlier.body
    now: JsonObject = decode(body)
    return {**now, "metrics": metrics_of(store, thread_id)}


def header(store: Store, thread_id: str) -> JsonObject:
    """The bounded view of a thread's state."""
    now = state(store, thread_id)
    return states.header(now, now["metrics"])


def patch_state(
    store: Store,
    thread_id: str,
    operations: object,
    actor: str,
    *,
    expected: int | None = None,
    key: str = "",
) -> PatchResult:
    """Change a state by JSON Patch and tell so, all or nothing.

    With `expected`, the state has to be at that version still (`version_conflict`). Patches without
    it that come at the same time are applied one after the other, and none is lost.
    """
    now_ms = store.now_ms()
    commands = patching(store, thread_id, operations, actor, expected=expected)
    fingerprint = canonical([thread_id, operations, expected]) if key else b""
    done = store.commit(StoreBatch(commands, f"patch/{actor}/{key}" if key else "", fingerprint))
    return PatchResult(done.given[0], timestamp(now_ms), done.is_repetition)


def patching(
    store: Store, thread_id: str, operations: object, actor: str, *, expected: int | None = None
) -> tuple[Command, ...]:
    """The commands that change a state and tell so. They are the first of their batch, which gives
    the version.
    """

    def told(given: Any) -> JsonObject:
        return {
            "version": given[0],
            "state_ref": state_ref(given[0]),
            "by": actor,
            "operations": operations,
        }

    edit = states.edit_by(thread_id, operations, store.now_ms())
    return Write(STATE + thread_id, edit, actor, expected), happened(thread_id, STATE_PATCHED, told)


def history(
    store: Store, thread_id: str, before: int | None = None, limit: int = 100
) -> list[VersionOfState]:
    """The patches that led to a state, the newest first."""
    get(store, thread_id)
    return [
        VersionOfState(
            one.number,
            state_ref(one.number),
            one.author,
            timestamp(one.at_ms),
            decode(one.change)["operations"] if one.change else [],
        )
        for one in store.versions(STATE + thread_id, before, limit)
    ]


def events(
    store: Store, thread_id: str, after: int = 0, limit: int = MAX_READ_ENTRIES
) -> list[Event]:
    """The events of a thread after a number, the oldest first."""
    found = [event(thread_id, entry) for entry in store.entries(THREAD + thread_id, after, limit)]
    if not found:
        get(store, thread_id)
    return found
