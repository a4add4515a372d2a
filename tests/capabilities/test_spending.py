"""The programs that agents of a thread start in a day are counted, and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.relay.conftest import Clock

from tersely.capabilities.answers.text import Style
from tersely.capabilities.relay.asking import answer, result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.relay import policy
from tersely.relay.mail.identities import NameClaim
from tersely.relay.policy import Policy
from tersely.relay.relay import Relay
from tersely.relay.teams import spending

DAY_SECONDS = 86_400
POLICY = Policy(thread_programs=2)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def relay(tmp_path: Path, clock: Clock) -> Iterator[Relay]:
    with Relay.open(tmp_path, len, durable=False, clock=clock, policy=POLICY) as one:
        yield one


@pytest.fixture
def thread(relay: Relay) -> str:
    return str(ask(relay, "thread.new").thread_id)


def ask(relay: Relay, name: str, **arguments: Any) -> Any:
    return result_of(RelayContext(relay, "ann"), name, arguments)


def refused(relay: Relay, thread: str) -> str:
    with pytest.raises(TerselyError) as raised:
        ask(relay, "thread.spend", thread=thread, programs=1)
    assert raised.value.code == "spending_limit"
    return f"{raised.value.message}; {raised.value.hint}"


def test_programs_are_refused_before_they_start(relay: Relay, thread: str) -> None:
    for _ in range(2):
        ask(relay, "thread.spend", thread=thread, programs=1)
    told = refused(relay, thread)
    assert "2 of 2 programs" in told
    assert "thread_programs in config.toml" in told
    assert ask(relay, "thread.get", thread=thread).spent.programs == 2
    other = ask(relay, "thread.new").thread_id
    ask(relay, "thread.spend", thread=other, programs=1)


def test_a_thread_has_bounds_of_its_own_that_no_agent_sets(relay: Relay) -> None:
    bounds = {"programs": 3}
    with pytest.raises(TerselyError, match="an agent sets no bounds"):
        ask(relay, "thread.new", **bounds)
    of_person = RelayContext(relay, "cli", is_typed=lambda: True)
    made = result_of(of_person, "thread.new", bounds)
    assert made.spent.most_programs == 3
    ask(relay, "agent.introduction")
    for _ in range(3):
        ask(relay, "thread.spend", thread=made.thread_id, programs=1)
    assert "3 of 3 programs" in refused(relay, made.thread_id)
    assert "a thread with more programs" in refused(relay, made.thread_id)
    other = str(ask(relay, "thread.new").thread_id)
    assert ask(relay, "thread.get", thread=other).spent.most_programs == 2


def test_the_next_day_begins_anew_and_old_days_are_forgotten(
    relay: Relay, thread: str, clock: Clock
) -> None:
    ask(relay, "thread.spend", thread=thread, programs=2)
    day = spending.SPENT + "day/2023-11-14"
    assert relay.store.counts(f"{day}/thread/{thread}")["programs"] == 2
    clock.seconds += DAY_SECONDS
    assert ask(relay, "thread.get", thread=thread).spent.programs == 0
    ask(relay, "thread.spend", thread=thread, programs=2)
    clock.seconds += spending.SPENDING_KEPT_SECONDS
    spending.forget(relay.store)
    assert relay.store.counts(f"{day}/thread/{thread}") == {}
    assert relay.store.counts(f"{spending.SPENT}day/2023-11-15/thread/{thread}")["programs"] == 2


def test_an_agent_reports_nothing_to_a_thread_that_is_not_its_own(relay: Relay) -> None:
    first, second = (
        str(result_of(RelayContext(relay, "eve"), "thread.new", {}).thread_id) for _ in range(2)
    )
    report = {"programs": 1}
    with pytest.raises(TerselyError, match="not_permitted"):  # nobody knows who that is
        ask(relay, "thread.spend", thread=first, **report)
    ask(relay, "agent.introduction")
    ask(relay, "thread.spend", thread=first)  # is where it works
    ask(relay, "thread.spend", thread=first, **report)
    with pytest.raises(TerselyError, match="ann does not work in the thread"):
        ask(relay, "thread.spend", thread=second, **report)
    assert ask(relay, "thread.get", thread=second).spent.programs == 0
    _, write = relay.mail.identities.open(
        NameClaim("ann"), is_live=False
    )  # another session of the name
    relay.mail.do(write)
    ask(relay, "thread.spend", thread=second, **report)


def test_it_is_shown_with_the_thread(relay: Relay, thread: str) -> None:
    ask(relay, "thread.spend", thread=thread, programs=1)
    plain = Style(colored=False)
    shown: Any = answer(RelayContext(relay, "ann"), "thread.show", {"thread": thread}, plain)
    assert "1 of 2 programs" in shown.text


def test_bounds_of_earlier_versions_do_not_keep_a_relay_from_starting(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("thread_tokens = 5\nthread_programs = 3\n")
    assert policy.load(tmp_path).thread_programs == 3
