"""Agents that claim files and take items of a board while the relay is killed at any moment, and a
checker.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from bench.mail.asking import Asker
from bench.mail.relays import Relays
from bench.mail.working import work
from tersely.foundation.errors import TerselyError
from tersely.relay.teams.targets import overlap

PROJECT = "crashes"
TARGETS = ("src", "src/*.py", "src/a.py", "src/a.py:C.m", "src/a.py:C", "src/b.py", "name:release")
REFUSED = frozenset({"already_claimed", "not_ready", "item_not_found"})
LEASE_MINUTES = 60  # none ends while this runs


class Held(NamedTuple):
    """That an agent was told to hold a target, from a moment to the one at which it began to give
    it back.
    """

    holder: str
    target: str
    since: float
    until: float


@dataclass(slots=True)
class Log:
    """What all agents were told, by the clock of this process."""

    held: list[Held] = field(default_factory=list)
    added: set[str] = field(default_factory=set)  # steps whose item was acknowledged
    # by item: who was told to have it
    taken: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    done: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)

    def complaints(self, items: list[Any]) -> list[str]:
        """What is not as promised; `items` are those of the board at the end."""
        return [*self._held_twice(), *self._items(items)]

    def _held_twice(self) -> Iterator[str]:
        for one, other in combinations(sorted(self.held, key=lambda one: one.since), 2):
            is_apart = (
                one.holder == other.holder or one.until <= other.since or other.until <= one.since
            )
            if not is_apart and overlap(one.target, other.target):
                yield f"held by two at once: {one} and {other}"

    def _items(self, items: list[Any]) -> Iterator[str]:
        steps = Counter(one.step for one in items)
        yield from (
            f"acknowledged and not on the board: {step}"
            for step in sorted(self.added - steps.keys())
        )
        yield from (
            f"on the board {count} times: {step}" for step, count in steps.items() if count > 1
        )
        yield from (
            f"{item} was given to {sorted(names)}"
            for item, names in self.taken.items()
            if len(names) > 1
        )
        by_id = {one.id: one for one in items}
        for item in sorted(self.done):
            if item not in by_id or by_id[item].status != "done":
                yield f"acknowledged as done and is not: {item}"


class Agent:
    """One agent: it adds, takes and ends items, and claims and releases targets, as chance has it."""

    def __init__(self, name: str, asker: Asker, log: Log, chance: random.Random) -> None:
        self._name, self._asker, self._log, self._chance = name, asker, log, chance
        self._holds: dict[str, float] = {}
        self._item = ""
        self._steps = 0
        self.failure: Exception | None = None

    def work(self, ends: threading.Event) -> None:
        """Work until it is to end, then give back everything."""
        try:
            while not ends.is_set():
                self._chance.choice((self._claim, self._release, self._take, self._add))()
            self._end_item()
            self._release()
        except Exception as error:  # noqa: BLE001 - whoever started the thread raises it
            self.failure = error
        finally:
            self._asker.close()

    def _claim(self) -> None:
        target = self._chance.choice(TARGETS)
        if self._ask("claim.take", targets=(target,), minutes=LEASE_MINUTES) is not None:
            self._holds.setdefault(target, time.monotonic())

    def _release(self) -> None:
        began, held, self._holds = time.monotonic(), self._holds, {}
        self._log.held += [Held(self._name, target, since, began) for target, since in held.items()]
        self._ask("claim.release")

    def _take(self) -> None:
        self._end_item()
        found = self._ask("board.take")
        if found is not None:
            self._item = found.items[0].id
            self._log.taken[self._item].add(self._name)

    def _end_item(self) -> None:
        item, self._item = self._item, ""
        if item and self._ask("board.done", item=item) is not None:
            self._log.done.add(item)

    def _add(self) -> None:
        self._steps += 1
        step = f"{self._name} {self._steps}"
        if self._ask("board.add", step=step) is not None:
            self._log.added.add(step)

    def _ask(self, capability: str, **arguments: Any) -> Any:
        """What the relay answers, None where it refuses."""
        try:
            answer = self._asker.ask(capability, project=PROJECT, **arguments)
        except TerselyError as error:
            self._log.answers[error.code] += 1
            if error.code not in REFUSED:
                raise
            return None
        self._log.answers[capability] += 1
        return answer


def run(relays: Relays, points: int, agents: int, seed: int) -> dict[str, Any]:
    """Do the relays harm at `points` random moments while agents claim and take; what the checker
    says of it.
    """
    log = Log()
    everybody = [
        Agent(f"a{at}", Asker(f"a{at}", relays.homes, at), log, random.Random(seed + at))
        for at in range(agents)
    ]
    work(relays, everybody, points, seed)
    checker = Asker("checker", relays.homes)
    items = checker.ask("board.show", project=PROJECT).items
    left = checker.ask("claim.list", project=PROJECT).claims
    checker.close()
    complaints = [*log.complaints(items), *(f"not given back: {one}" for one in left)]
    return {
        "points": points,
        "agents": agents,
        "claims": log.answers["claim.take"],
        "claims_refused": log.answers["already_claimed"],
        "items_added": len(log.added),
        "items_taken": len(log.taken),
        "items_done": len(log.done),
        "happened": relays.happened,
        "complaints": complaints[:20],
    }
