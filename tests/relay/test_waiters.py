"""Who waits for something is told when it comes, or when the time is over, and keeps no thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay import waiters
from tersely.relay.waiters import Waiters

PATIENCE_SECONDS = 60
WAITERS = "tersely-waiters"  # the thread that ends the waiting


class Boxes:
    """The number of the last message in each mailbox, and who waits for one."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.waiters = Waiters("messages")

    def wait(self, mailbox: str, after: int, seconds: float) -> Future[None]:
        return self.waiters.wait(mailbox, lambda: self.last.get(mailbox, 0) > after, seconds)

    def put(self, mailbox: str, number: int) -> None:
        self.last[mailbox] = number
        self.waiters.came(mailbox)


def test_those_whom_a_message_is_for_are_told() -> None:
    boxes = Boxes()
    before = set(threading.enumerate())
    waits = {name: boxes.wait(name, 0, 1_000) for name in [f"agent-{n}" for n in range(200)]}
    again = boxes.wait("agent-7", 5, 1_000)
    mine = [one for one in threading.enumerate() if one.name == WAITERS and one not in before]
    assert len(mine) == 1
    boxes.put("agent-7", 5)
    assert waits["agent-7"].result(PATIENCE_SECONDS) is None
    assert [name for name, one in waits.items() if one.done()] == ["agent-7"]
    assert not again.done()  # it has read that one
    boxes.put("agent-7", 6)
    assert again.done()
    assert boxes.wait("agent-7", 0, 1_000).done()  # it has come before


def test_the_time_ends_the_soonest_first() -> None:
    boxes = Boxes()
    late, soon = boxes.wait("ann", 0, 1_000), boxes.wait("ben", 0, 0.01)
    assert soon.result(PATIENCE_SECONDS) is None
    assert not late.done()


def test_who_gives_up_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiters, "MAX_WAITERS", 2)
    boxes = Boxes()
    first, _ = (boxes.wait("ann", 0, 1_000) for _ in range(2))
    with pytest.raises(TerselyError, match="2 wait for messages") as raised:
        boxes.wait("ann", 0, 1_000)
    assert raised.value.code == "busy"
    assert first.cancel()
    boxes.wait("ben", 0, 1_000)
    boxes.waiters.came("ann")
