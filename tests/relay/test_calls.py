"""Calls of capabilities: refused where the policy says so, made once, remembered, and always told
of.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.artifacts import artifacts
from tersely.relay.artifacts.artifacts import Origin
from tersely.relay.builtin import retrieval
from tersely.relay.policy import CapabilityReach, Policy
from tersely.relay.services.calls import (
    Call,
    Given,
    Invocations,
    Offer,
    Scope,
)
from tersely.relay.store.store import Store
from tersely.relay.threads import threads
from tersely.relay.threads.accounting import Size, savings


def words(text: str) -> int:
    return len(text.split())


class Echo:
    """A capability that says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.version = "1"
        self.gate = Event()
        self.gate.set()

    def run(self, call: Call) -> Given:
        self.gate.wait(60)
        self.asked += 1
        return Given([f"{call.arguments} {self.asked}".encode()], replaced=Size(1_000, 4_000))

    def offer(self, name: str = "test.echo", **more: Any) -> Offer:
        scope = {"scope": lambda call: Scope("everywhere", self.version)} | more
        return Offer(name, "Says what it was asked", {"type": "object"}, self.run, **scope)


@pytest.fixture
def thread(store: Store) -> str:
    return threads.create(store, "", "ann").thread_id


@pytest.fixture
def echo() -> Echo:
    return Echo()


def calls_of(store: Store, *offers: Offer, **policy: Any) -> Invocations:
    calls = Invocations(store, Policy(**policy), words)
    for offer in offers:
        calls.offer(offer)
    return calls


def code_of(calls: Invocations, call: Call) -> str:
    with pytest.raises(TerselyError) as caught:
        calls.invoke(call)
    return caught.value.code


def test_a_call_is_an_artifact_an_event_and_an_answer(
    store: Store, thread: str, echo: Echo
) -> None:
    calls = calls_of(store, echo.offer())
    told = calls.invoke(Call(thread, "test.echo", {"a": 1}, "ann")).told()
    assert (told["text"], told["cache_hit"], told["trust"]) == ("{'a': 1} 1", False, "untrusted")
    assert b"".join(artifacts.content(store, thread, told["artifact_ref"])) == b"{'a': 1} 1"
    kinds = [event.type for event in threads.events(store, thread)]
    assert kinds == ["thread.created", "artifact.created", "capability.invoked"]
    assert savings(store, "capability/test.echo").naive_tokens == 1_000


def test_the_same_call_is_remembered_until_the_world_is_another(
    store: Store, thread: str, echo: Echo
) -> None:
    calls = calls_of(store, echo.offer())
    other = threads.create(store, "", "bob").thread_id
    hits = [
        calls.invoke(Call(where, "test.echo", arguments, "ann")).is_hit
        for where, arguments in (
            (thread, {"a": 1, "b": 2}),
            (thread, {"b": 2, "a": 1}),
            (other, {"a": 1, "b": 2}),
            (thread, {"a": 2}),
        )
    ]
    assert hits == [False, True, True, False]
    assert len(artifacts.listed(store, other)) == 1
    echo.version = "2"
    assert not calls.invoke(Call(thread, "test.echo", {"a": 2}, "ann")).is_hit
    told = savings(store, f"thread/{thread}")
    assert (told.cache_hits, told.cache_misses, told.invocations) == (1, 3, 4)


def test_answers_are_forgotten_in_time(store: Store, thread: str, echo: Echo, clock: Any) -> None:
    calls = calls_of(store, echo.offer(remembered_seconds=60))
    calls.invoke(Call(thread, "test.echo", {}, "ann"))
    clock.seconds += 61
    assert not calls.invoke(Call(thread, "test.echo", {}, "ann")).is_hit


def test_the_same_call_of_many_at_once_is_made_once(store: Store, thread: str, echo: Echo) -> None:
    calls = calls_of(store, echo.offer())
    echo.gate.clear()
    with ThreadPoolExecutor(8) as pool:
        waiting = [
            pool.submit(calls.invoke, Call(thread, "test.echo", {}, f"agent {number}"))
            for number in range(8)
        ]
        echo.gate.set()
        refs = {one.result().artifact.ref for one in waiting}
    assert (echo.asked, len(refs)) == (1, 1)


def test_a_call_that_ends_between_two_looks_is_not_made_again(
    store: Store, thread: str, echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(store, echo.offer())
    look = store.cached

    def look_while_another_makes_it(key: str) -> Any:
        found = look(key)
        monkeypatch.setattr(store, "cached", look)
        calls.invoke(Call(thread, "test.echo", {}, "bob"))
        return found

    monkeypatch.setattr(store, "cached", look_while_another_makes_it)
    calls.invoke(Call(thread, "test.echo", {}, "ann"))
    assert echo.asked == 1


def test_a_call_that_fails_fails_for_all_and_is_not_remembered(store: Store, thread: str) -> None:
    def run(call: Call) -> Given:
        raise TerselyError("fetch_failed", "no")

    calls = calls_of(store, Offer("test.bad", "", {}, run, scope=lambda call: Scope("", "")))
    for _ in range(2):
        assert code_of(calls, Call(thread, "test.bad", {}, "ann")) == "fetch_failed"
    assert len(threads.events(store, thread)) == 1


def test_a_repeated_request_is_answered_as_before(store: Store, thread: str, echo: Echo) -> None:
    calls = calls_of(store, echo.offer(scope=None))
    first, again, other = (
        calls.invoke(Call(thread, "test.echo", {}, "ann", key=key)) for key in ("k", "k", "l")
    )
    assert first.artifact == again.artifact != other.artifact
    assert code_of(calls, Call(thread, "test.echo", {"a": 1}, "ann", key="k")) == "key_reused"


def test_the_policy_says_who_may_call_what(store: Store, thread: str, echo: Echo) -> None:
    names = ("code.read", "net.get", "run.tests")
    reaches = (CapabilityReach.READ, CapabilityReach.NETWORK, CapabilityReach.EXECUTE)
    offers = [echo.offer(name, reach=reach) for name, reach in zip(names, reaches, strict=True)]
    calls = calls_of(store, *offers, allow={"net.*": ("ann",)}, deny={"code.*": ("bob",)})
    allowed = {
        (name, who): calls.invoke(Call(thread, name, {}, who)) and True
        for name, who in (("code.read", "ann"), ("net.get", "ann"))
    }
    assert all(allowed.values())
    for name, who in (("run.tests", "ann"), ("net.get", "bob"), ("code.read", "bob")):
        assert code_of(calls, Call(thread, name, {}, who)) == "denied"


def test_bounds_answer(store: Store, thread: str, echo: Echo) -> None:
    calls = calls_of(store, echo.offer(), calls_per_minute=2)
    assert (
        code_of(calls, Call(thread, "test.echo", {"a": "x" * 20_000}, "ann")) == "payload_too_large"
    )
    assert code_of(calls, Call(thread, "test.echo", {}, "ann", hops=51)) == "hop_limit"
    assert code_of(calls, Call("none", "test.echo", {}, "ann")) == "thread_not_found"
    assert code_of(calls, Call(thread, "test.none", {}, "ann")) == "unknown_command"
    for _ in range(2):
        calls.invoke(Call(thread, "test.echo", {}, "ann"))
    assert code_of(calls, Call(thread, "test.echo", {}, "ann")) == "rate_limited"
    calls.invoke(Call(thread, "test.echo", {}, "bob"))


def test_what_trusts_nobody_takes_nothing_made_from_artifacts(
    store: Store, thread: str, echo: Echo
) -> None:
    calls = calls_of(store, echo.offer(trusts_nobody=True), echo.offer("test.other"))
    page = artifacts.put(store, thread, [b"run this"], words, origin=Origin("web"))
    assert (
        code_of(calls, Call(thread, "test.echo", {}, "ann", source_refs=(page.ref,)))
        == "untrusted_ancestry"
    )
    calls.invoke(Call(thread, "test.echo", {}, "ann"))
    made = calls.invoke(Call(thread, "test.other", {}, "ann", source_refs=(page.ref,)))
    assert made.artifact.origin.source_refs == (page.ref,)


def test_artifacts_are_searched_through_a_call(store: Store, thread: str) -> None:
    calls = calls_of(store, retrieval.offer(store))
    call = Call(thread, "retrieval.search", {"query": "tea"}, "ann")
    assert '"count":0' in str(calls.invoke(call).text)
    assert calls.invoke(call).is_hit
    artifacts.put(store, thread, [b"tea at five"], words, origin=Origin("ann"))
    again = calls.invoke(call)
    assert not again.is_hit
    assert '"count":1' in str(again.text)
