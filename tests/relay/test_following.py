"""Events of all threads come in their order, each once; behind any of them, nothing is missed."""

from __future__ import annotations

from tests.relay.conftest import Clock

from tersely.relay.store.commands import StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.store.streams import Event, happened
from tersely.relay.threads import threads
from tersely.relay.threads.following import Follower, cursor

BUSY = "busy"


def told(store: Store, thread_id: str, count: int = 1) -> None:
    for _ in range(count):
        store.commit(StoreBatch((happened(thread_id, "checkpoint.created", {"name": "mark"}),)))


def read(follower: Follower) -> list[Event]:
    found: list[Event] = []
    while more := follower.next():
        found += more
    return found


def test_all_that_happens_comes_once_and_goes_on_behind_any_event(
    store: Store, clock: Clock
) -> None:
    first, second = (threads.create(store, name, "ann").thread_id for name in ("first", "second"))
    told(store, first, 3)
    clock.seconds += 1
    follower = Follower(store, store.now_ms())
    woken: list[str] = []
    end = follower.watch(lambda: woken.append(BUSY))
    assert read(follower) == []
    for thread_id in (second, first, second, first):
        told(store, thread_id)
    third = threads.create(store, "third", "ann").thread_id
    found = read(follower)
    assert woken
    numbers = [(one.thread_id, one.number) for one in found]
    assert numbers == [*dict.fromkeys(numbers)]
    ours = [pair for pair in numbers if pair[0] != third]
    assert sorted(ours) == sorted([(second, 2), (second, 3), (first, 5), (first, 6)])
    assert (third, 1) in numbers
    end()
    for at, one in enumerate(found):
        again = Follower.behind(store, cursor(one))
        again.watch(lambda: None)()
        names = [(other.thread_id, other.number) for other in read(again)]
        assert [name for name in names if name in numbers[at + 1 :]] == numbers[at + 1 :]
        assert numbers[at] not in names


def test_of_one_thread_nothing_of_another_comes(store: Store) -> None:
    first, second = (threads.create(store, name, "ann").thread_id for name in ("first", "second"))
    told(store, first, 2)
    follower = Follower.of_thread(store, first, 1)
    end = follower.watch(lambda: None)
    assert [one.number for one in read(follower)] == [2, 3]
    told(store, second)
    assert follower.next() == []
    told(store, first)
    assert [(one.thread_id, one.number) for one in read(follower)] == [(first, 4)]
    end()
