"""Which waiting task is done next."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.daemon.processes.job_queue import MAX_KNOWN_KINDS, Durations, Job, JobQueue

SHORT, LONG = "extract", "context"
SECONDS = {SHORT: 0.01, LONG: 1.0}


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def job(loop: asyncio.AbstractEventLoop, client: Hashable, command: str, asked: float = 0.0) -> Job:
    return Job(client, ("call", (), command, {}), loop.create_future(), asked_seconds=asked)


def queue() -> JobQueue:
    made = JobQueue()
    for command, seconds in SECONDS.items():
        made.durations.note(("call", command), seconds)
    return made


def taken(waiting: JobQueue, now: float) -> Job:
    found = waiting.take(now, only_short=False)
    assert found is not None
    return found


@pytest.mark.parametrize("clients", [("ann", "ann"), ("ann", "ben")])
def test_a_short_task_passes_a_long_one(
    loop: asyncio.AbstractEventLoop, clients: tuple[str, str]
) -> None:
    waiting = queue()
    long, short = job(loop, clients[0], LONG), job(loop, clients[1], SHORT, 0.01)
    waiting.add(long)
    waiting.add(short)
    assert [taken(waiting, 0.1), taken(waiting, 0.1)] == [short, long]


@given(flooders=st.integers(1, 6), is_own=st.booleans())
@settings(max_examples=examples(), deadline=None)
def test_no_flood_of_short_tasks_keeps_a_long_one_out(
    loop: asyncio.AbstractEventLoop, flooders: int, is_own: bool
) -> None:
    """Each flooder has a short task waiting at any time: the long one waits as long as it takes,
    for each of them.
    """
    waiting, now = queue(), 0.0
    long = job(loop, 0 if is_own else "other", LONG)
    waiting.add(long)
    for flooder in range(flooders):
        waiting.add(job(loop, flooder, SHORT))
    while (next_one := taken(waiting, now)) is not long:
        now += SECONDS[SHORT]
        waiting.add(job(loop, next_one.client, SHORT, now))
        assert now <= (flooders + 1) * SECONDS[LONG]


def test_a_client_with_many_tasks_keeps_nobody_out(loop: asyncio.AbstractEventLoop) -> None:
    waiting = queue()
    for _ in range(100):
        waiting.add(job(loop, "flood", SHORT))
    taken(waiting, 0.5)
    other = job(loop, "other", SHORT, 0.5)
    waiting.add(other)
    clients = [taken(waiting, 0.51).client, taken(waiting, 0.52).client]
    assert "other" in clients


@pytest.mark.parametrize("clients", [("ann", "ann"), ("ann", "ben")])
def test_a_process_is_left_to_short_tasks(
    loop: asyncio.AbstractEventLoop, clients: tuple[str, str]
) -> None:
    waiting = queue()
    long, short = job(loop, clients[0], LONG), job(loop, clients[1], SHORT, 9.0)
    waiting.add(long)
    assert waiting.take(9.0, only_short=True) is None
    waiting.add(short)
    assert waiting.take(9.0, only_short=True) is short
    assert taken(waiting, 9.0) is long


def test_a_task_is_given_up(loop: asyncio.AbstractEventLoop) -> None:
    waiting, one = queue(), job(loop, "ann", SHORT)
    waiting.add(one)
    waiting.remove(one)
    waiting.remove(one)
    assert len(waiting) == 0
    assert waiting.take(1.0, only_short=False) is None


@given(usual=st.floats(0.005, 0.05), slow=st.floats(1, 60))
@settings(max_examples=examples())
def test_a_kind_stays_short_after_one_that_took_long(usual: float, slow: float) -> None:
    known = Durations()
    for seconds in (*[usual] * 3, slow, usual):
        known.note(SHORT, seconds)
    assert usual < known.expected(SHORT) < 5 * usual * (slow / usual) ** 0.2
    for _ in range(20):
        known.note(SHORT, usual)
    assert known.expected(SHORT) == pytest.approx(usual, rel=0.1)


def test_no_more_kinds_are_remembered_than_the_bound() -> None:
    known = Durations()
    unknown = known.expected("call")
    for number in range(MAX_KNOWN_KINDS + 1):
        known.note(number, 5.0)
    assert known.expected(0) == unknown
    assert known.expected(MAX_KNOWN_KINDS) == 5.0
