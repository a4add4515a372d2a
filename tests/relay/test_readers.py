"""Who waits for a message is told when one comes, or when the time is over, and keeps no thread."""

from __future__ import annotations

import threading

import pytest

from tersely.foundation.errors import TerselyError
from tersely.relay.mail import readers
from tersely.relay.mail.readers import Readers

PATIENCE_SECONDS = 30
READERS = "tersely-readers"  # the thread that ends the waiting


class Boxes:
    """The number of the last message in each mailbox."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}

    def is_there(self, mailbox: str, after: int) -> bool:
        return self.last.get(mailbox, 0) > after


def test_those_whom_a_message_is_for_are_told() -> None:
    boxes = Boxes()
    waiting = Readers(boxes.is_there)
    before = set(threading.enumerate())
    waits = {name: waiting.wait(name, 0, 1_000) for name in [f"agent-{n}" for n in range(200)]}
    again = waiting.wait("agent-7", 5, 1_000)
    mine = [one for one in threading.enumerate() if one.name == READERS and one not in before]
    assert len(mine) == 1
    boxes.last["agent-7"] = 5
    waiting.came("agent-7")
    assert waits["agent-7"].result(PATIENCE_SECONDS) is None
    assert [name for name, one in waits.items() if one.done()] == ["agent-7"]
    assert not again.done()  # it has read that one
    boxes.last["agent-7"] = 6
    waiting.came("agent-7")
    assert again.done()
    assert waiting.wait("agent-7", 0, 1_000).done()  # it has come before


def test_the_time_ends_the_soonest_first() -> None:
    waiting = Readers(lambda mailbox, after: False)
    late, soon = waiting.wait("ann", 0, 1_000), waiting.wait("ben", 0, 0.01)
    assert soon.result(PATIENCE_SECONDS) is None
    assert not late.done()


def test_who_gives_up_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "MAX_WAITING_READERS", 2)
    waiting = Readers(lambda mailbox, after: False)
    first, _ = (waiting.wait("ann", 0, 1_000) for _ in range(2))
    with pytest.raises(TerselyError, match="2 wait for messages") as raised:
        waiting.wait("ann", 0, 1_000)
    assert raised.value.code == "busy"
    assert first.cancel()
    waiting.wait("ben", 0, 1_000)
    waiting.came("ann")
