"""Two agents that answer each other without end are held back."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.relay.mail.brakes import TURN_REST_SECONDS, Turns

NAMES = ("ann", "ben", "cid")


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_answers_are_counted_and_monologues_are_not() -> None:
    clock = Clock()
    turns = Turns(3, clock)
    for _ in range(10):
        turns.take("ann", "ben")
    for sender, recipient in (("ben", "ann"), ("ann", "ben"), ("ben", "ann")):
        turns.take(sender, recipient)
    turns.take("ben", "ann")
    with pytest.raises(TerselyError, match="answered each other 3 times") as caught:
        turns.take("ann", "ben")
    assert caught.value.code == "turn_limit"
    assert turns.held == {"ben": 1}
    turns.take("ann", "cid")  # others are not meant
    turns.rest(["ben"])  # a person has written to ben
    turns.take("ann", "ben")
    clock.seconds += TURN_REST_SECONDS
    for sender, recipient in (("ben", "ann"), ("ann", "ben"), ("ben", "ann"), ("ann", "ben")):
        turns.take(sender, recipient)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=60))
def test_nobody_answers_more_often_than_may_be(messages: list[tuple[str, str]]) -> None:
    turns, said = Turns(4, Clock()), []
    for sender, recipient in messages:
        try:
            turns.take(sender, recipient)
        except TerselyError:
            continue
        said.append((sender, recipient))
    for pair in {frozenset(one) for one in said}:
        senders = [one[0] for one in said if frozenset(one) == pair]
        assert sum(a != b for a, b in pairwise(senders)) <= 4
