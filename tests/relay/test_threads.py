"""Threads through their functions: state by patches alone, versions that stay, a header within its
bound.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import encode
from tersely.relay.store.store import Store
from tersely.relay.threads import threads
from tersely.relay.threads.state import HEADER_BYTES, header, new_state


def fact(number: int, value: Any = "tea") -> dict[str, Any]:
    return {
        "op": "add",
        "path": "/facts/-",
        "value": {"id": f"f{number}", "key": "drink", "value": value},
    }


def code_of(store: Store, thread: str, operations: Any, **more: Any) -> str:
    with pytest.raises(TerselyError) as caught:
        threads.patch_state(store, thread, operations, "ann", **more)
    return caught.value.code


def test_a_new_thread_has_an_empty_state_and_has_happened(store: Store) -> None:
    thread = threads.create(store, "first", "ann")
    assert threads.get(store, thread.thread_id) == thread
    state = threads.state(store, thread.thread_id)
    assert (state["$schema"], state["version"], state["facts"]) == ("com.relay.state.v1", 1, [])
    assert [(event.number, event.type) for event in threads.events(store, thread.thread_id)] == [
        (1, "thread.created")
    ]


def test_a_patch_makes_a_version_and_an_event_at_once(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    assert threads.patch_state(store, thread, [fact(1)], "bob").told().state_ref == "v2"
    assert threads.state(store, thread)["facts"][0]["value"] == "tea"
    assert threads.state(store, thread, 1)["facts"] == []
    (event,) = threads.events(store, thread, after=1)
    assert (event.type, event.payload["version"], event.payload["by"]) == (
        "state.patch.applied",
        2,
        "bob",
    )
    assert [one.by for one in threads.history(store, thread)] == ["bob", "ann"]


def test_a_patch_that_fails_leaves_neither_version_nor_event(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    wrong = {"op": "remove", "path": "/facts/5"}
    assert code_of(store, thread, [fact(1), wrong]) == "patch_failed"
    assert code_of(store, thread, "x") == "invalid_patch"
    assert code_of(store, thread, [{"op": "add", "path": "/mood", "value": 1}]) == "invalid_state"
    assert (
        code_of(store, thread, [{"op": "replace", "path": "/facts", "value": {}}])
        == "invalid_state"
    )
    assert (
        code_of(store, thread, [{"op": "add", "path": "/facts/-", "value": "tea"}])
        == "invalid_state"
    )
    assert (
        code_of(store, thread, [{"op": "replace", "path": "/version", "value": 9}])
        == "invalid_state"
    )
    assert code_of(store, thread, [{"op": "remove", "path": ""}]) == "patch_failed"
    assert code_of(store, thread, [fact(1, "x" * 999_999)]) == "invalid_state"
    assert code_of(store, "none", [fact(1)]) == "thread_not_found"
    assert threads.state(store, thread)["version"] == 1
    assert len(threads.events(store, thread)) == 1


def test_who_expects_another_version_is_told_the_present_one(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    threads.patch_state(store, thread, [fact(1)], "ann", expected=1)
    with pytest.raises(TerselyError, match="is at version 2, not 1"):
        threads.patch_state(store, thread, [fact(2)], "bob", expected=1)
    with pytest.raises(TerselyError, match="version_not_found"):
        threads.state(store, thread, 9)


def test_who_expects_a_version_of_no_thread_is_told_that_there_is_none(store: Store) -> None:
    with pytest.raises(TerselyError) as refused:
        threads.patch_state(store, "none", [fact(1)], "ann", expected=1)
    assert refused.value.code == "thread_not_found"


def test_forty_patches_at_once_all_survive(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    with ThreadPoolExecutor(8) as pool:
        done = pool.map(
            lambda number: threads.patch_state(store, thread, [fact(number)], "ann"), range(40)
        )
        assert sorted(one.version for one in done) == list(range(2, 42))
    ids = {one["id"] for one in threads.state(store, thread)["facts"]}
    assert ids == {f"f{number}" for number in range(40)}
    assert [event.number for event in threads.events(store, thread)] == list(range(1, 42))


def test_every_version_is_what_it_was(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    seen = {}
    for number in range(80):
        operations = (
            [fact(number)] if number % 3 else [{"op": "replace", "path": "/facts", "value": []}]
        )
        version = threads.patch_state(store, thread, operations, "ann").version
        seen[version] = threads.state(store, thread)
    for version, state in seen.items():
        assert threads.state(store, thread, version) == state


def test_a_repeated_request_patches_once(store: Store) -> None:
    thread = threads.create(store, "", "ann").thread_id
    for is_repetition in (False, True):
        patched = threads.patch_state(store, thread, [fact(1)], "ann", key="k")
        assert (patched.version, patched.is_repetition) == (2, is_repetition)
    assert threads.patch_state(store, thread, [fact(1)], "bob", key="k").version == 3
    assert code_of(store, thread, [fact(2)], key="k") == "key_reused"


def test_the_newest_threads_come_first(store: Store, clock: Any) -> None:
    made = []
    for number in range(5):
        clock.seconds += 1
        made.append(threads.create(store, str(number), "ann").thread_id)
    assert [thread.name for thread in threads.recent(store, limit=3)] == ["4", "3", "2"]
    assert [thread.name for thread in threads.recent(store, before=made[2])] == ["1", "0"]


TEXTS = st.text(max_size=400)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"id": TEXTS},
        optional={
            "value": st.recursive(
                st.none() | TEXTS | st.integers(), lambda inner: st.lists(inner, max_size=3)
            ),
            "description": TEXTS,
            "status": st.sampled_from(["open", "pending", "done", ""]),
            "anything": st.dictionaries(TEXTS, TEXTS, max_size=3),
        },
    ),
    max_size=30,
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        dict.fromkeys("facts constraints open_questions plan artifacts last_actions".split(), ITEMS)
    )
)
def test_a_header_never_outgrows_its_bound_and_says_what_it_leaves_out(
    lists: dict[str, Any],
) -> None:
    state = {**new_state("t" * 36, 0), **lists}
    shown = header(state, dict.fromkeys(["cache_hits", "tokens_avoided"], 123))
    assert len(encode(shown)) <= HEADER_BYTES
    assert len(shown["top_facts"]) <= 10
    live = [one for one in lists["plan"] if one.get("status", "") in {"pending", ""}]
    is_whole = shown["top_facts"] == lists["facts"] and shown["next_steps"] == live
    assert is_whole or shown["truncated"]
    json.dumps(shown)


def test_a_header_keeps_the_newest_facts_and_what_is_still_open() -> None:
    state = new_state("t", 0)
    state["facts"] = [{"id": f"f{number}"} for number in range(12)]
    state["open_questions"] = [
        {"id": "q1", "status": "resolved"},
        {"id": "q2", "status": "open"},
        {"id": "q3"},
    ]
    state["plan"] = [{"id": "p1", "status": "done"}, {"id": "p2", "status": "pending"}]
    shown = header(state, {})
    assert [one["id"] for one in shown["top_facts"]] == [f"f{number}" for number in range(2, 12)]
    assert [one["id"] for one in shown["open_questions"]] == ["q2", "q3"]
    assert [one["id"] for one in shown["next_steps"]] == ["p2"]
    assert shown["truncated"]
