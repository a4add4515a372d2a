"""Agents that wait for permission: each is told the person's answer, and keeps no thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tersely.capabilities.answers.later import Later
from tersely.capabilities.relay.asking import result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.relay import waiters
from tersely.relay.relay import Relay

PATIENCE_SECONDS = 60


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    with Relay.open(tmp_path, len, durable=False) as one:
        yield one


def ask(relay: Relay, agent: str, **arguments: Any) -> Any:
    given = {"tool": "Bash", "what": "make", **arguments}
    return result_of(RelayContext(relay, agent), "permission.ask", given)


def test_all_who_wait_are_told_the_answer_to_their_own_question(relay: Relay) -> None:
    agents = [f"agent-{number}" for number in range(200)]
    asked = {name: ask(relay, name).id for name in agents}
    waiting = {name: ask(relay, name, id=asked[name], seconds=5) for name in agents}
    assert all(isinstance(one, Later) for one in waiting.values())
    relay.permissions.answer(asked["agent-7"], allows=True)
    relay.permissions.answer(asked["agent-8"], allows=False)
    for name, decision in (("agent-7", "allow"), ("agent-8", "deny")):
        told = waiting[name].finish(waiting[name].awaited.result(PATIENCE_SECONDS))
        assert (told.id, told.decision) == (asked[name], decision)
        assert ask(relay, name, id=asked[name]).decision == decision
    ask(relay, "agent-9", id=asked["agent-9"], over=True)
    assert waiting["agent-9"].awaited.result(PATIENCE_SECONDS) is None  # it is taken back
    again = ask(relay, "agent-7", id=asked["agent-7"], seconds=5)  # it has been answered before
    assert again.finish(again.awaited.result(PATIENCE_SECONDS)).decision == "allow"


def test_more_than_can_wait_are_told_to_come_back(
    relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiters, "MAX_WAITERS", 2)
    asked = [ask(relay, name).id for name in ("ann", "ben", "cem")]
    ask(relay, "ann", id=asked[0], seconds=5)
    waiting = ask(relay, "ben", id=asked[1], seconds=5)
    with pytest.raises(TerselyError, match="2 wait for permission") as raised:
        ask(relay, "cem", id=asked[2], seconds=5)
    assert raised.value.code == "busy"
    assert waiting.awaited.cancel()
    assert isinstance(ask(relay, "cem", id=asked[2], seconds=5), Later)
