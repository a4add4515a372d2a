"""Agents that answer each other without end are held back, two of them, in a channel, or in a
circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.relay.mail.brakes import MAX_CIRCLE_AGENTS, TURN_REST_SECONDS, Brakes

NAMES = ("ann", "ben", "cid")


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_answers_are_counted_and_monologues_are_not() -> None:
    clock = Clock()
    turns = Brakes(3, 10_000, clock)
    for _ in range(10):
        turns.take("ann", ["ben"])
    for sender, recipient in (("ben", "ann"), ("ann", "ben"), ("ben", "ann")):
        turns.take(sender, [recipient])
    turns.take("ben", ["ann"])
    with pytest.raises(TerselyError, match="answered each other 3 times") as caught:
        turns.take("ann", ["ben"])
    assert caught.value.code == "turn_limit"
    assert turns.held == {"ben": 1}
    turns.take("ann", ["cid"])  # others are not meant
    turns.rest(["ben"])  # a person has written to ben
    turns.take("ann", ["ben"])
    clock.seconds += TURN_REST_SECONDS
    for sender, recipient in (("ben", "ann"), ("ann", "ben"), ("ben", "ann"), ("ann", "ben")):
        turns.take(sender, [recipient])


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=60))
def test_nobody_answers_more_often_than_may_be(messages: list[tuple[str, str]]) -> None:
    turns, said = Brakes(4, 10_000, Clock()), []
    for sender, recipient in messages:
        try:
            turns.take(sender, [recipient])
        except TerselyError:
            continue
        said.append((sender, recipient))
    for pair in {frozenset(one) for one in said}:
        senders = [one[0] for one in said if frozenset(one) == pair]
        assert sum(a != b for a, b in pairwise(senders)) <= 4


def rounds(brakes: Brakes, names: Sequence[str], channel: str = "") -> int:
    """How many messages go round until one is held back."""
    for said in range(1_000):
        sender = names[said % len(names)]
        others = [name for name in names if name != sender]
        try:
            brakes.take(sender, others if channel else [names[(said + 1) % len(names)]], channel)
        except TerselyError as error:
            assert error.code == "turn_limit"
            return said
    return 1_000


@pytest.mark.parametrize("size", range(2, MAX_CIRCLE_AGENTS + 1))
def test_what_goes_round_in_a_circle_ends(size: int) -> None:
    brakes = Brakes(20, 10_000, Clock())
    circle = [f"agent-{number}" for number in range(size)]
    assert 20 < rounds(brakes, circle) <= 20 + size
    assert brakes.held.reasons == {"turn_limit": 1}
    brakes.rest([circle[0]])
    assert rounds(brakes, circle) > 0


def test_agents_that_talk_in_a_channel_rest_after_as_many_answers_as_its_members_may_give() -> None:
    brakes = Brakes(10, 10_000, Clock())
    assert rounds(brakes, NAMES, "#tea") == 21
    brakes.take("ann", ["ben"])  # elsewhere they may
    brakes.rest(["#tea"])
    assert rounds(brakes, NAMES, "#tea") == 21


def test_who_leads_many_is_in_no_circle_with_them() -> None:
    brakes = Brakes(10, 10_000, Clock())
    for _ in range(5):
        for worker in NAMES:
            brakes.take("lead", [worker])
            brakes.take(worker, ["lead"])
    assert not brakes.held


@pytest.mark.parametrize("channel", ["", "#tea"])
def test_who_floods_is_told_when_to_go_on_and_what_it_wrote_to_is_counted(channel: str) -> None:
    clock = Clock()
    brakes = Brakes(1_000, 60, clock)
    for number in range(60):
        brakes.take(f"agent-{number}" if channel else "ann", ["ben"], channel)
    with pytest.raises(TerselyError, match="more than 60") as caught:
        brakes.take("ann", ["ben"], channel)
    assert caught.value.code == "rate_limited"
    assert brakes.held == {"ben": 1}
    clock.seconds += 1
    brakes.take("ann", ["ben"], channel)
