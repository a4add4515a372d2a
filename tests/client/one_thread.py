"""Agents of several homes that work on one thread, and a checker of what they were told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple

from bench.mail.teams import TARGETS, Held
from bench.mail.teams import Log as TeamLog

from tersely.client import Client, ask
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError

PROJECT = "together"
COUNTER = {"id": "count", "key": "count", "value": 0}
_GONE = frozenset(
    {"daemon_unavailable", "daemon_not_running", "timed_out", "busy", "relay_unreachable"}
)
_REFUSED = frozenset({"already_claimed", "version_conflict"})
_RETRY_SECONDS = 0.05
_AWAY_SECONDS = 60
_LEASE_MINUTES = 60


class Seen(NamedTuple):
    """That a version of the state was read or made, between two ticks of one clock."""

    asked: int
    answered: int
    version: int
    is_made: bool


@dataclass(slots=True)
class Told:
    """What all agents were told."""

    seen: list[Seen] = field(default_factory=list)
    facts: set[str] = field(default_factory=set)
    counted: int = 0
    artifacts: dict[str, str] = field(default_factory=dict)  # by name, their hashes
    sent: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by sender and recipient
    claims: TeamLog = field(default_factory=TeamLog)
    answers: Counter[str] = field(default_factory=Counter)

    def complaints(self, relay: Client, thread: str) -> list[str]:
        """What is not as promised, by the relay as it is now."""
        return [
            *self._versions(),
            *self._state(relay, thread),
            *self._artifacts(relay, thread),
            *self._mail(relay),
            *self.claims.complaints([]),
            *_events(relay, thread),
        ]

    def _versions(self) -> Iterator[str]:
        """Of a linearizable state: what was asked after an answer is behind it."""
        for one, other in permutations(self.seen, 2):
            if one.answered < other.asked and other.version < one.version + other.is_made:
                yield f"{other} was asked after {one}"
        made = Counter(one.version for one in self.seen if one.is_made)
        yield from (
            f"version {one} was made {times} times" for one, times in made.items() if times > 1
        )

    def _state(self, relay: Client, thread: str) -> Iterator[str]:
        state = relay.ask("state.get", thread=thread)
        facts = Counter(one["key"] for one in state.facts)
        if facts != Counter([*self.facts, COUNTER["key"]]):
            yield f"facts {facts}, of which {self.facts} were acknowledged"
        counted = [one["value"] for one in state.facts if one["key"] == COUNTER["key"]]
        if counted != [self.counted]:
            yield f"{self.counted} were counted, and the counter says {counted}"

    def _artifacts(self, relay: Client, thread: str) -> Iterator[str]:
        found = relay.ask("artifact.list", thread=thread, limit=1_000).artifacts
        if sorted((one.name, one.ref) for one in found) != sorted(self.artifacts.items()):
            yield f"artifacts {found}, of which {self.artifacts} were acknowledged"
        for one in self.artifacts.values():
            content = relay(ask("artifact_content", thread=thread, ref=one))
            if sha256(content).hexdigest() != one:
                yield f"artifact {one} has another content: {content!r}"

    def _mail(self, relay: Client) -> Iterator[str]:
        for name in sorted({recipient for _, recipient in self.sent}):
            came = relay.ask("mail.box", name=name, limit=1_000).messages
            for (sender, recipient), bodies in self.sent.items():
                found = [one.body for one in came if one.sender == sender]
                if recipient == name and found != bodies:
                    yield f"{sender} sent {bodies} to {name}, of which came {found}"


def _events(relay: Client, thread: str) -> Iterator[str]:
    numbers = [one.seq for one in relay.ask("event.list", thread=thread, limit=1_000).events]
    for one, other in pairwise(numbers):
        if other != one + 1:
            yield f"event {other} comes after event {one}"


class Course:
    """How far all agents together have come, and what happens to the machines at which step."""

    def __init__(self, happens: Mapping[int, Callable[[], None]]) -> None:
        self._happens = happens
        self._steps = count(1)
        self._ticks = count(1)  # of the clock by which what was told is compared
        self.told = Told()
        self.changing = threading.Lock()

    def step(self) -> None:
        """One of them has come a step further."""
        self._happens.get(next(self._steps), lambda: None)()

    def tick(self) -> int:
        """The clock, a tick later than whoever asked before."""
        return next(self._ticks)


class Worker(threading.Thread):
    """One agent: each round it claims, changes the state, counts, puts an artifact and writes to a
    colleague. What is not answered it asks again, under the same key.
    """

    def __init__(self, name: str, home: Path, colleague: str, thread: str, course: Course) -> None:
        super().__init__(name=name)
        self._home, self._colleague, self._thread = home, colleague, thread
        self._course, self._told = course, course.told
        self._keys = count(1)
        self._pause = threading.Event()  # which nobody sets
        self._client: Client | None = None
        self.rounds = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        """Work; `failure` says what has ended it early."""
        try:
            for number in range(self.rounds):
                for act in (self._hold, self._note, self._count, self._put, self._write):
                    act(number)
                    self._course.step()
        except Exception as error:  # noqa: BLE001 - whoever started the thread raises it
            self.failure = error
        finally:
            if self._client is not None:
                self._client.close()

    def _hold(self, number: int) -> None:
        target = TARGETS[number % len(TARGETS)]
        wish = {"targets": (target,), "minutes": _LEASE_MINUTES, "project": PROJECT}
        if self._ask("claim.take", **wish) is None:
            return
        since = self._course.tick()
        self._count_up()  # while nobody else holds it
        self._told.claims.held.append(Held(self.name, target, since, self._course.tick()))
        self._ask("claim.release", project=PROJECT)

    def _note(self, number: int) -> None:
        key = f"{self.name}-{number}"
        asked = self._course.tick()
        fact = {"op": "add", "path": "/facts/-", "value": {"id": key, "key": key, "value": number}}
        made = self._ask("state.patch", thread=self._thread, patch=[fact])
        self._saw(asked, made.version, is_made=True)
        self._told.facts.add(key)

    def _count(self, _: int) -> None:
        self._count_up()

    def _count_up(self) -> None:
        """Add one to what all count, of the version that was read alone."""
        while True:
            asked = self._course.tick()
            state = self._ask("state.get", thread=self._thread)
            self._saw(asked, state.version, is_made=False)
            value = {
                "op": "replace",
                "path": "/facts/0/value",
                "value": state.facts[0]["value"] + 1,
            }
            asked = self._course.tick()
            made = self._ask(
                "state.patch", thread=self._thread, patch=[value], version=f"v{state.version}"
            )
            if made is not None:
                self._saw(asked, made.version, is_made=True)
                with self._course.changing:
                    self._told.counted += 1
                return

    def _put(self, number: int) -> None:
        name = f"{self.name}-{number}.txt"
        made = self._ask("artifact.put", content=f"of {name}", name=name, thread=self._thread)
        self._told.artifacts[name] = made.ref

    def _write(self, number: int) -> None:
        body = f"{self.name} {number}"
        self._ask("mail.send", to=self._colleague, body=body, thread=self._thread, queue=True)
        self._told.sent.setdefault((self.name, self._colleague), []).append(body)

    def _saw(self, asked: int, version: int, *, is_made: bool) -> None:
        self._told.seen.append(Seen(asked, self._course.tick(), version, is_made))

    def _ask(self, capability: str, **arguments: Any) -> Any:
        """What the relay answers, None where it refuses."""
        key, watch = f"{self.name}-{next(self._keys)}", Stopwatch()
        while True:
            try:
                self._client = self._client or Client.local(self.name, self._home)
                answer = self._client.ask(capability, idempotency_key=key, **arguments)
            except TerselyError as error:
                self._told.answers[error.code] += 1
                if error.code in _REFUSED:
                    return None
                if error.code not in _GONE or watch.seconds() > _AWAY_SECONDS:
                    raise
                self._pause.wait(_RETRY_SECONDS)
            else:
                return answer


def work(workers: list[Worker], rounds: int) -> None:
    """Have all of them work at once, to their end; raises what has stopped one."""
    for one in workers:
        one.rounds = rounds
        one.start()
    for one in workers:
        one.join()
    failures = [one.failure for one in workers if one.failure is not None]
    if failures:
        raise ExceptionGroup("workers that have stopped", failures)
