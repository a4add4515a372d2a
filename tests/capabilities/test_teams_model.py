"""Claims and the board against a model of them, in any order of questions, leases that end, and
restarts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.depth import examples
from tests.relay.conftest import Clock

from tersely.capabilities.relay.asking import result_of
from tersely.capabilities.relay.context import RelayContext
from tersely.foundation.errors import TerselyError
from tersely.relay.relay import Relay
from tersely.relay.teams.targets import overlap

LEASE_SECONDS = 600.0
TAKEN_SECONDS = 3_600.0
NAMES = st.sampled_from(("ann", "ben", "cleo"))
TARGETS = st.sampled_from(
    ("src", "src/a.py", "src/*.py", "src/a.py:C", "src/a.py:C.m", "src/a.py:D", "name:x")
)
KEYS = st.sampled_from(("", "", "k1", "k2"))


class Held(NamedTuple):
    is_shared: bool
    until: float


class Teams(RuleBasedStateMachine):
    """What the relay says of claims and items is what a model of a few lines says."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.held: dict[tuple[str, str], Held] = {}
        self.items: dict[str, tuple[str, str, float]] = {}  # by id: status, holder, until
        self.needs: dict[str, tuple[str, ...]] = {}
        self.keyed: dict[tuple[str, str], str] = {}
        self.open()

    def open(self) -> None:
        self.relay = Relay.open(
            Path(self.folder.name) / "home", len, durable=False, clock=self.clock
        )

    def teardown(self) -> None:
        self.relay.close()
        self.folder.cleanup()

    def ask(self, agent: str, name: str, key: str = "", **arguments: Any) -> Any:
        """The answer, or the code of the refusal."""
        mine = [place for place in self.live() if place[0] == agent]
        if any(self.is_due(self.held[place]) for place in mine):
            # then all that an agent holds is renewed
            for place in mine:
                self.held[place] = self.held[place]._replace(
                    until=self.clock.seconds + LEASE_SECONDS
                )
        try:
            return result_of(RelayContext(self.relay, agent, key), name, arguments)
        except TerselyError as error:
            return error.code

    def is_due(self, one: Held) -> bool:
        return self.clock.seconds >= one.until - LEASE_SECONDS / 2

    @rule(agent=NAMES, wanted=TARGETS, shared=st.booleans())
    def claim(self, agent: str, wanted: str, shared: bool) -> None:
        answer = self.ask(agent, "claim.take", targets=(wanted,), shared=shared)
        conflicts = [
            place
            for place, one in self.live().items()
            if place[0] != agent and overlap(place[1], wanted) and not (shared and one.is_shared)
        ]
        assert (answer == "already_claimed") is bool(conflicts)
        if not conflicts:
            self.held[agent, wanted] = Held(shared, self.clock.seconds + LEASE_SECONDS)

    @rule(agent=NAMES)
    def release(self, agent: str) -> None:
        given_back = {one.target for one in self.ask(agent, "claim.release").claims}
        assert given_back == {target for name, target in self.live() if name == agent}
        self.held = {place: one for place, one in self.held.items() if place[0] != agent}

    @rule(agent=NAMES, key=KEYS, needs=st.booleans())
    def add(self, agent: str, key: str, needs: bool) -> None:
        needed = tuple(list(self.items)[-1:]) if needs else ()
        [item] = self.ask(agent, "board.add", key and f"add {key}", step="work", needs=needed).items
        if key and (agent, key) in self.keyed:
            assert item.id == self.keyed[agent, key]
            return
        assert item.id not in self.items
        self.items[item.id] = ("pending", "", 0.0)
        self.needs[item.id] = needed
        if key:
            self.keyed[agent, key] = item.id

    @rule(agent=NAMES)
    def take(self, agent: str) -> None:
        ready = self.ready()
        answer = self.ask(agent, "board.take")
        if not ready:
            assert answer == "not_ready"
            return
        assert answer.items[0].id == ready[0]
        self.items[ready[0]] = ("taken", agent, self.clock.seconds + TAKEN_SECONDS)

    @rule(agent=NAMES, data=st.data(), word=st.sampled_from(("done", "block", "reopen")))
    def settle(self, agent: str, data: st.DataObject, word: str) -> None:
        if not self.items:
            return
        item = data.draw(st.sampled_from(sorted(self.items)))
        holder = self.current(item)[1]
        answer = self.ask(agent, f"board.{word}", item=item)
        if holder not in {"", agent}:
            assert answer == "already_claimed"
            return
        status = {"done": "done", "block": "blocked", "reopen": "pending"}[word]
        self.items[item] = (status, "" if word == "reopen" else agent, 0.0)

    @rule(minutes=st.sampled_from((1, 4, 6, 11, 61)))
    def wait(self, minutes: int) -> None:
        self.clock.seconds += 60.0 * minutes

    @rule()
    def restart(self) -> None:
        self.relay.close()
        self.open()

    @invariant()
    def agrees(self) -> None:
        told = self.ask("reader", "claim.list").claims
        assert {(one.holder, one.target, one.shared) for one in told} == {
            (*place, one.is_shared) for place, one in self.live().items()
        }
        shown = {one.id: (one.status, one.by) for one in self.ask("reader", "board.show").items}
        assert shown == {item: self.current(item)[:2] for item in self.items}

    def live(self) -> dict[tuple[str, str], Held]:
        return {place: one for place, one in self.held.items() if one.until > self.clock.seconds}

    def current(self, item: str) -> tuple[str, str, float]:
        status, holder, until = self.items[item]
        is_left = status == "taken" and until < self.clock.seconds
        return ("pending", "", 0.0) if is_left else (status, holder, until)

    def ready(self) -> list[str]:
        done = {item for item in self.items if self.current(item)[0] == "done"}
        return [
            one
            for one in self.items
            if self.current(one)[0] == "pending" and done.issuperset(self.needs[one])
        ]


TestTeams = Teams.TestCase
TestTeams.settings = settings(max_examples=examples(), stateful_step_count=30, deadline=None)
