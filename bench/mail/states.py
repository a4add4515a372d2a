"""Agents that change and read the state of one thread while relays come to harm, and a checker that
their history is linearizable: as if each change and each look had happened at one moment between
its question and its answer.

The versions of a state are its order. What is to be seen is that every change is there once, at the
version that its agent was told, and that nobody is answered with less than was answered before.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bench.mail.asking import Asker
from bench.mail.relays import Relays
from bench.mail.working import work
from tersely.foundation.errors import TerselyError

PAGE_VERSIONS = 100  # of the history, read at one go
_FIRST_OF_AGENTS = 3  # the version that the first of them makes: one and two are made before


class Answered(NamedTuple):
    """A change or a look, by the clock of this process: `version` is that which it made or saw."""

    name: str  # of the change, empty of a look
    began: float
    ended: float
    version: int


@dataclass(slots=True)
class Log:
    """What all agents were told."""

    answered: list[Answered] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)  # changes of a version that was over

    def complaints(self, made: dict[int, str]) -> list[str]:
        """What is not as promised; `made` are the names of the changes by the versions that they
        have made.
        """
        return [*self._changes(made), *self._order()]

    def _changes(self, made: dict[int, str]) -> Iterator[str]:
        told = {one.version: one.name for one in self.answered if one.name}
        for version in sorted({*told, *made}):
            if told.get(version) != made.get(version):
                yield f"v{version} is {made.get(version)} and was told as {told.get(version)}"
        counted = Counter(made.values())
        yield from (
            f"{name} is there {count} times" for name, count in counted.items() if count > 1
        )
        yield from (f"{name} was refused and is there" for name in self.refused & counted.keys())

    def _order(self) -> Iterator[str]:
        """Whatever began when something had ended comes behind it."""
        by_end = sorted(self.answered, key=lambda one: one.ended)
        seen, latest = 0, 0
        for one in sorted(self.answered, key=lambda one: one.began):
            while by_end[seen].ended < one.began:
                latest = max(latest, by_end[seen].version)
                seen += 1
            least = latest + 1 if one.name else latest
            if one.version < least:
                yield f"{one} came when v{latest} had been told"


class Agent:
    """One agent: it changes the state, the version that it saw or any, and looks at it."""

    def __init__(
        self, name: str, asker: Asker, thread: str, log: Log, chance: random.Random
    ) -> None:
        self._name, self._asker, self._thread, self._log = name, asker, thread, log
        self._chance = chance
        self._steps = 0
        self.failure: Exception | None = None

    def work(self, ends: threading.Event) -> None:
        """Work until it is to end."""
        try:
            while not ends.is_set():
                self._chance.choice((self._look, self._change, self._change_seen))()
        except Exception as error:  # noqa: BLE001 - whoever started the thread raises it
            self.failure = error
        finally:
            self._asker.close()

    def _look(self) -> int:
        began = time.monotonic()
        version: int = self._asker.ask("state.header", thread=self._thread).version
        self._log.answered.append(Answered("", began, time.monotonic(), version))
        return version

    def _change_seen(self) -> None:
        self._change(version=f"v{self._look()}")

    def _change(self, **expected: str) -> None:
        self._steps += 1
        name = f"{self._name}-{self._steps}"
        began = time.monotonic()
        try:
            made: int = self._asker.ask(
                "state.patch", thread=self._thread, patch=_patch(name), **expected
            ).version
        except TerselyError as error:
            if error.code != "version_conflict":
                raise
            self._log.refused.add(name)
            return
        self._log.answered.append(Answered(name, began, time.monotonic(), made))


def _patch(name: str) -> list[dict[str, Any]]:
    """One fact comes and another goes, so that the state stays small."""
    fact = {"id": name, "key": "step", "value": name}
    return [{"op": "add", "path": "/facts/-", "value": fact}, {"op": "remove", "path": "/facts/0"}]


def run(relays: Relays, points: int, agents: int, seed: int) -> dict[str, Any]:
    """Do the relays harm at `points` random moments while agents change a state; what the checker
    says of it.
    """
    log = Log()
    starter = Asker("starter", relays.homes)
    thread = starter.ask("thread.new", name="crashes").thread_id
    starter.ask("state.patch", thread=thread, patch=_patch("")[:1])
    everybody = [
        Agent(f"a{at}", Asker(f"a{at}", relays.homes, at), thread, log, random.Random(seed + at))
        for at in range(agents)
    ]
    work(relays, everybody, points, seed)
    made = _made(starter, thread)
    starter.close()
    return {
        "points": points,
        "agents": agents,
        "changes": len(made),
        "conflicts": len(log.refused),
        "looks": sum(not one.name for one in log.answered),
        "happened": relays.happened,
        "complaints": log.complaints(made)[:20],
    }


def _made(asker: Asker, thread: str) -> dict[int, str]:
    """The names of the changes of agents, by the versions that they have made."""
    made: dict[int, str] = {}
    before: int | None = None
    while before is None or before > _FIRST_OF_AGENTS:
        found = asker.ask("state.history", thread=thread, before=before, limit=PAGE_VERSIONS)
        for one in found.versions:
            if one.version >= _FIRST_OF_AGENTS:
                made[one.version] = one.operations[0]["value"]["id"]
        before = found.versions[-1].version
    return made
