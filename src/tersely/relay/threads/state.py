"""The state of a thread: what agents that work together know, want, have decided and have done.

A state is a JSON document of the schema `com.relay.state.v1` that changes by JSON Patch alone.
Agents are given its *header*, a view of at most `HEADER_BYTES` that holds what is newest and most
binding.
"""

from __future__ import annotations

from typing import Any

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_DOCUMENT_BYTES
from tersely.foundation.text.shortening import shortened
from tersely.foundation.types import JsonObject, Strings
from tersely.relay.encoding import canonical, decode, encode, timestamp
from tersely.relay.store.commands import DocumentEdit
from tersely.relay.store.streams import no_thread
from tersely.relay.threads.patch import apply

HEADER_BYTES = 2_048  # of JSON, of the header of a thread's state
HEADER_TEXT_CHARACTERS = 120  # of one text in a header that has too little room
SCHEMA = "com.relay.state.v1"

# The lists of a state, and what is text in the members of each. Members may have more of their own.
LISTS: dict[str, Strings] = {
    "facts": ("id", "key", "at"),
    "constraints": ("id", "description", "severity"),
    "open_questions": ("id", "question", "status"),
    "decisions": ("id", "description", "at"),
    "plan": ("id", "step", "status"),
    "artifacts": ("ref", "type", "name"),
    "last_actions": ("at", "description", "result_ref"),
}
# What the relay writes itself.
_OWN = ("$schema", "version", "thread_id", "updated_at", "metrics")
METRICS = ("cache_hits", "cache_misses", "tokens_estimate", "tokens_avoided", "hop_count")

# (member of the header, list of the state, most, whether the newest or the first are kept)
_SECTIONS = (
    ("top_facts", "facts", 10, "newest"),
    ("top_constraints", "constraints", 5, "first"),
    ("open_questions", "open_questions", 5, "first"),
    ("next_steps", "plan", 5, "first"),
    ("artifact_refs", "artifacts", 10, "newest"),
    ("last_actions", "last_actions", 5, "newest"),
)
# what of these is still to be done, by its status
_LIVE = {"open_questions": ("open", ""), "plan": ("pending", "")}


def new_state(thread_id: str, now_ms: int) -> JsonObject:
    """Version 1 of a thread's state: everything empty."""
    return {
        "$schema": SCHEMA,
        "version": 1,
        "thread_id": thread_id,
        "updated_at": timestamp(now_ms),
        **{name: [] for name in LISTS},
        "metrics": dict.fromkeys(METRICS, 0),
    }


def patched(body: bytes, operations: object, now_ms: int) -> bytes:
    """The next version of a state; raises `invalid_patch`, `patch_failed` or `invalid_state`."""
    before = decode(body)
    after = apply(body, operations)
    check(after)
    for member in _OWN:
        if canonical(after.get(member)) != canonical(before.get(member)):
            raise _invalid(f"{member} is written by the relay")
    return encode({**after, "version": before["version"] + 1, "updated_at": timestamp(now_ms)})


def edit_by(thread_id: str, operations: object, now_ms: int) -> Any:
    """The edit of a thread's state by a patch, for the store."""

    def edit(body: bytes | None) -> DocumentEdit:
        if body is None:
            raise no_thread(thread_id)
        return DocumentEdit(
            patched(body, operations, now_ms), encode({"at_ms": now_ms, "operations": operations})
        )

    return edit


def replay(body: bytes, change: bytes) -> bytes:
    """The version that followed from a body and the change that is kept beside it."""
    told = decode(change)
    return patched(body, told["operations"], told["at_ms"])


def check(state: Any) -> None:
    """Raise `invalid_state` for what the schema does not allow."""
    if not isinstance(state, dict):
        raise _invalid("a state is an object")
    if len(encode(state)) > MAX_DOCUMENT_BYTES:
        raise _invalid(
            f"a state has at most {MAX_DOCUMENT_BYTES:,} bytes", "put what is long into artifacts"
        )
    for member in state:
        if member not in LISTS and member not in _OWN:
            raise _invalid(f"there is no member {member[:80]!r}", f"a state has {', '.join(LISTS)}")
    for name, texts in LISTS.items():
        items = state.get(name)
        if not isinstance(items, list):
            raise _invalid(f"{name} is an array")
        for number, item in enumerate(items):
            _check_item(f"{name}/{number}", item, texts)


def header(state: JsonObject, metrics: dict[str, int]) -> JsonObject:
    """The view of a state that agents are given, never above `HEADER_BYTES` of JSON.

    Where something was left out or shortened, `truncated` is true. Long texts are shortened before
    anything is left out; then the section that takes most loses what matters least in it: the
    oldest of what is kept for being new, the last of what comes first.
    """
    shown: JsonObject = {
        "$schema": SCHEMA,
        "thread_id": state["thread_id"],
        "version": state["version"],
    }
    is_whole = True
    for member, name, most, kept in _SECTIONS:
        live = [
            item
            for item in state[name]
            if name not in _LIVE or item.get("status", "") in _LIVE[name]
        ]
        shown[member] = live[-most:] if kept == "newest" else live[:most]
        is_whole = is_whole and len(shown[member]) == len(live)
    shown["metrics"] = metrics
    if is_whole and len(encode(shown)) <= HEADER_BYTES:
        return shown
    shown["truncated"] = True
    return _fitted(shown)


def _fitted(shown: JsonObject) -> JsonObject:
    if len(encode(shown)) <= HEADER_BYTES:
        return shown
    for member, *_ in _SECTIONS:
        shown[member] = [
            {key: _shortened(value) for key, value in item.items()} for item in shown[member]
        ]
    sizes = {member: [len(encode(item)) + 1 for item in shown[member]] for member, *_ in _SECTIONS}
    total = len(encode(shown))
    while total > HEADER_BYTES:
        largest = max(_SECTIONS, key=lambda section: sum(sizes[section[0]]))
        member, at = largest[0], 0 if largest[3] == "newest" else -1
        total -= sizes[member].pop(at)
        del shown[member][at]
    return shown


def _shortened(value: Any) -> Any:
    if isinstance(value, dict | list):
        value = encode(value).decode()
    return shortened(value, HEADER_TEXT_CHARACTERS) if isinstance(value, str) else value


def _check_item(place: str, item: Any, texts: Strings) -> None:
    if not isinstance(item, dict):
        raise _invalid(f"/{place} is an object")
    for member in texts:
        if member in item and not isinstance(item[member], str):
            raise _invalid(f"/{place}/{member} is text")


def _invalid(why: str, hint: str = "docs/relay.md has the schema") -> TerselyError:
    return TerselyError("invalid_state", why, hint)
