"""What is given to a process first, of questions that come at the same moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tersely.daemon.processes import dispatch
from tersely.daemon.processes.dispatch import Dispatcher

SHORT, LONG = ("call", (), "extract", {}), ("call", (), "context", {})


class Process:
    """Stands for a process that analyses: answers each task at the next turn of the loop."""

    resident_bytes, idle_since, pid = 0, 0.0, 1

    def __init__(self) -> None:
        self.done: list[Any] = []

    async def ask(self, task: Any, on_progress: Any = None) -> Any:
        self.done.append(task)
        await asyncio.sleep(0)
        return "done", task

    async def tidied(self) -> None:
        """It has no garbage."""

    def stop(self) -> None:
        """There is nothing to end."""


def test_short_questions_go_before_a_long_one_of_the_same_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = Process()

    async def start(root: str, answer_words: str) -> Process:
        return process

    monkeypatch.setattr(dispatch.AnalysisProcess, "start", start)

    async def asked() -> None:
        dispatcher = Dispatcher("/r", "")
        dispatcher.start()
        await dispatcher.ask("ann", SHORT)
        for task, seconds in ((SHORT, 0.01), (LONG, 1.0)):
            dispatcher._waiting.durations.note(("call", task[2]), seconds)
        process.done.clear()
        questions = (("ann", LONG), ("ben", SHORT), ("eve", SHORT))
        await asyncio.gather(*(dispatcher.ask(client, task) for client, task in questions))
        dispatcher.close()

    asyncio.run(asked())
    assert process.done == [SHORT, SHORT, LONG]
