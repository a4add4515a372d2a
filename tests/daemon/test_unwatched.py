"""Where changes cannot be heard of, every question has all files looked at, and no answer is taken
from memory.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from tersely.daemon import freshness
from tersely.daemon.freshness import Freshness
from tersely.daemon.processes.dispatch import Dispatcher
from tersely.daemon.watch import Changes, WatchUnavailableError
from tersely.foundation.errors import TerselyError


class Asked:
    """Stands for the processes: notes the tasks, and answers or fails as it is told."""

    def __init__(self, *failures: TerselyError) -> None:
        self.tasks: list[Any] = []
        self._failures = list(failures)

    async def ask(self, client: object, task: Any, on_progress: Any = None) -> Any:
        self.tasks.append(task)
        if self._failures:
            raise self._failures.pop()
        return [] if task[0] == "directories" else ("r1", (), (), False, 3)


def unwatched(root: str) -> None:
    raise WatchUnavailableError("no more watches")


def test_every_question_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "Watch", unwatched)
    asked = Asked()

    async def questions() -> None:
        fresh = Freshness("/r", cast("Dispatcher", asked))
        fresh.start()
        generations = set()
        for _ in range(3):
            await fresh.ensure()
            generations.add(fresh.standing.generation)
        assert len(generations) == 3
        assert fresh.why_unwatched == "no more watches"

    asyncio.run(questions())
    assert asked.tasks == [("refresh", None)] * 3


def test_many_questions_at_once_look_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "Watch", unwatched)
    asked = Asked()

    async def questions() -> None:
        fresh = Freshness("/r", cast("Dispatcher", asked))
        fresh.start()
        await asyncio.gather(*(fresh.ensure() for _ in range(20)))

    asyncio.run(questions())
    assert 1 <= len(asked.tasks) <= 3


def test_what_fails_is_tried_again_with_the_next_question(tmp_path: Any) -> None:
    asked = Asked(TerselyError("database_locked", "x"))

    async def questions() -> None:
        fresh = Freshness(str(tmp_path), cast("Dispatcher", asked))
        fresh.start()
        await fresh.ensure()
        await fresh.ensure()
        assert fresh.standing.is_fresh
        assert fresh.revision == "r1"
        before = len(asked.tasks)
        await fresh.ensure()
        assert len(asked.tasks) == before
        fresh.mark(Changes(paths={"a.py"}))
        await fresh.ensure()
        assert asked.tasks[-1] == ("refresh", ["a.py"])
        fresh.close()

    asyncio.run(questions())
