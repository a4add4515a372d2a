"""Agents that claim what they change, and share out what there is to do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.relay.conftest import Clock

from tersely.capabilities.answers.text import PLAIN
from tersely.capabilities.catalogue import load
from tersely.capabilities.relay.asking import result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.relay.mail.identities import GONE_SECONDS, QUIET_SECONDS
from tersely.relay.relay import Relay

MINUTE = 60.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def relay(tmp_path: Path, clock: Clock) -> Iterator[Relay]:
    with opened(tmp_path, clock) as one:
        yield one


def opened(home: Path, clock: Clock) -> Relay:
    return Relay.open(home, len, durable=False, clock=clock)


def ask(relay: Relay, agent: str, name: str, **arguments: Any) -> Any:
    return result_of(RelayContext(relay, agent), name, arguments)


def refusal(relay: Relay, agent: str, name: str, **arguments: Any) -> TerselyError:
    with pytest.raises(TerselyError) as raised:
        ask(relay, agent, name, **arguments)
    return raised.value


def test_who_comes_second_is_told_who_holds_it(relay: Relay) -> None:
    ask(relay, "ann", "claim.take", targets=("src/*.py",), why="new grammar")
    told = refusal(relay, "ben", "claim.take", targets=("README.md", "src/a.py:f"))
    assert told.code == "already_claimed"
    assert (
        "src/a.py:f is held by ann since 2023-11-14T22:13:20.000Z as src/*.py: new grammar"
        in told.message
    )
    assert "tersely send ann" in told.hint
    # all or nothing
    assert [one.target for one in ask(relay, "ben", "claim.list").claims] == ["src/*.py"]
    ask(relay, "ann", "claim.release")
    assert ask(relay, "ben", "claim.take", targets=("src/a.py:f",)).claims[0].holder == "ben"


def test_what_was_taken_by_a_clock_that_was_ahead_is_free_once_it_is_right(
    relay: Relay, clock: Clock
) -> None:
    ask(relay, "ann", "board.add", step="grammar")
    clock.seconds += 40 * 86_400
    ask(relay, "ann", "claim.take", targets=("a.py",))
    ask(relay, "ann", "board.take")
    clock.seconds -= 40 * 86_400
    assert ask(relay, "ben", "claim.take", targets=("a.py",)).claims[0].holder == "ben"
    ask(relay, "ben", "board.take")


def test_who_gives_back_what_another_holds_is_told_who(relay: Relay) -> None:
    ask(relay, "ann", "claim.take", targets=("src/*.py", "README.md"))
    ask(relay, "ben", "claim.take", targets=("setup.cfg",))
    told = ask(relay, "ben", "claim.release", targets=("src/a.py", "setup.cfg", "Makefile"))
    assert [one.target for one in told.claims] == ["setup.cfg"]
    assert [(one.target, one.holder) for one in told.kept] == [("src/*.py", "ann")]
    said = load("claim.release").text(told, PLAIN)
    assert "not released: src/*.py is held by ann until" in said
    assert [one.target for one in ask(relay, "ann", "claim.list").claims] == [
        "src/*.py",
        "README.md",
    ]
    # what a target of one's own is part of is not given back by the name of a part
    own = ask(relay, "ann", "claim.release", targets=("src/a.py",))
    assert [(one.target, one.holder) for one in own.kept] == [("src/*.py", "ann")]
    assert ask(relay, "ben", "claim.release").kept == []


def test_what_is_shared_is_held_by_many(relay: Relay) -> None:
    ask(relay, "ann", "claim.take", targets=("docs",), shared=True)
    ask(relay, "ben", "claim.take", targets=("docs/a.md",), shared=True)
    assert refusal(relay, "cleo", "claim.take", targets=("docs/a.md",)).code == "already_claimed"
    assert [one.holder for one in ask(relay, "cleo", "claim.list", target="docs/a.md").claims] == [
        "ann",
        "ben",
    ]


def test_projects_know_nothing_of_each_other(relay: Relay) -> None:
    ask(relay, "ann", "claim.take", targets=("a",), project="one")
    assert ask(relay, "ben", "claim.take", targets=("a",), project="two").claims


def test_a_lease_ends_and_activity_renews_it(relay: Relay, clock: Clock) -> None:
    ask(relay, "ann", "claim.take", targets=("a",), minutes=10)
    clock.seconds += 8 * MINUTE
    ask(relay, "ann", "agent.list")  # whatever it asks
    clock.seconds += 8 * MINUTE
    assert refusal(relay, "ben", "claim.take", targets=("a",)).code == "already_claimed"
    clock.seconds += 3 * MINUTE
    assert ask(relay, "ben", "claim.take", targets=("a",)).claims[0].holder == "ben"


def test_claims_outlive_the_relay(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path / "home", clock) as relay:
        ask(relay, "ann", "claim.take", targets=("a",))
    with opened(tmp_path / "home", clock) as relay:
        clock.seconds += 8 * MINUTE
        ask(relay, "ann", "claim.list")
        clock.seconds += 8 * MINUTE
        assert refusal(relay, "ben", "claim.take", targets=("a",)).code == "already_claimed"


def test_a_board_from_its_first_item_to_its_last(relay: Relay) -> None:
    assert ask(relay, "ann", "board.show").items == []
    ask(relay, "ann", "board.add", step="parse")
    [second] = ask(relay, "ann", "board.add", step="print", needs=("b1",)).items
    assert (second.id, second.needs) == ("b2", ["b1"])
    assert [one.id for one in ask(relay, "ben", "board.ready").items] == ["b1"]
    assert refusal(relay, "ben", "board.take", item="b2").message == "b2 waits for b1"
    [taken] = ask(relay, "ben", "board.take").items
    assert (taken.id, taken.status, taken.by) == ("b1", "taken", "ben")
    assert refusal(relay, "ann", "board.take").message == "nothing is ready"
    assert refusal(relay, "ann", "board.take", item="b1").message == "b1 is taken by ben"
    assert refusal(relay, "ann", "board.done", item="b1").code == "already_claimed"
    ask(relay, "ben", "board.done", item="b1")
    assert [one.id for one in ask(relay, "ben", "board.ready").items] == ["b2"]
    ask(relay, "ann", "board.block", item="b2", why="needs a decision")
    assert ask(relay, "ben", "board.ready").items == []
    ask(relay, "ann", "board.reopen", item="b2")
    assert [one.status for one in ask(relay, "ben", "board.show").items] == ["done", "pending"]
    assert refusal(relay, "ann", "board.done", item="b9").code == "item_not_found"
    assert refusal(relay, "ann", "board.add", step="x", needs=("b9",)).code == "item_not_found"


def test_what_is_left_behind_can_be_taken_again(relay: Relay, clock: Clock) -> None:
    ask(relay, "ann", "board.add", step="parse")
    ask(relay, "ann", "board.take")
    clock.seconds += 61 * MINUTE
    assert ask(relay, "ben", "board.take").items[0].by == "ben"


def test_a_plan_of_others_stays_beside_the_board(relay: Relay) -> None:
    from tersely.relay.threads import threads

    thread = threads.create(relay.store, "", "ann").thread_id
    other = {"id": "p1", "step": "think", "status": "pending", "color": "red"}
    threads.patch_state(
        relay.store, thread, [{"op": "add", "path": "/plan/-", "value": other}], "ann"
    )
    ask(relay, "ann", "board.add", step="parse", thread=thread)
    assert threads.state(relay.store, thread)["plan"][0] == other
    assert [one.id for one in ask(relay, "ann", "board.show", thread=thread).items] == ["b1"]


def test_no_two_take_one_item_and_no_two_hold_one_path(relay: Relay) -> None:
    for number in range(12):
        ask(relay, "ann", "board.add", step=f"step {number}")
    taken: list[str] = []
    held: list[str] = []

    def work(name: str) -> None:
        for _ in range(3):
            taken.append(ask(relay, name, "board.take").items[0].id)
        try:
            ask(relay, name, "claim.take", targets=("src",))
            held.append(name)
        except TerselyError as error:
            assert error.code == "already_claimed"

    workers = [threading.Thread(target=work, args=(f"agent-{number}",)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken) == sorted(f"b{number}" for number in range(1, 13))
    assert len(held) == 1


def test_an_agent_without_a_connection_is_idle_and_gone_after_its_last_request(
    relay: Relay, clock: Clock
) -> None:
    def here() -> list[tuple[str, str]]:
        return [(one.name, relay.state_of(one.name)) for one in relay.here()]

    ask(relay, "ann", "agent.introduction")
    ask(relay, "ben", "mail.send", to="ann", body="hello")
    assert here() == [("ann", "idle")]  # ben has written, as a person may
    ask(relay, "ann", "claim.list")
    assert here() == [("ann", "working")]
    clock.seconds += QUIET_SECONDS
    assert here() == [("ann", "idle")]
    clock.seconds += GONE_SECONDS - QUIET_SECONDS
    assert here() == []
    assert relay.state_of("ann") == "gone"
