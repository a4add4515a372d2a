"""Agents at work on tasks, each task in a folder of its own, and what came of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.history_tasks.commands import TIME, Commands, EndedCommand, with_prompt
from bench.history_tasks.tasks import Cutter, Task
from bench.history_tasks.transcripts import Spent, ending, spent

SOLVED, TIMED_OUT, AGENT_FAILED, TESTS_FAIL = "solved", "time is up", "agent failed", "tests fail"


@dataclass(frozen=True, slots=True)
class Contestant:
    """An agent as it is started: `command` takes the prompt, `variables` are set besides the
    user's.
    """

    name: str
    command: str
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one task: `outcome` is one of the four above, `detail` a line about a failure."""

    task: str
    title: str
    agent: str
    outcome: str
    detail: str
    spent: Spent
    seconds: float

    @property
    def is_solved(self) -> bool:
        """True if the tests pass."""
        return self.outcome == SOLVED


class Measurement:
    """Has agents work on tasks, in folders below `scratch` that are deleted at once."""

    def __init__(self, cutter: Cutter, commands: Commands, scratch: Path) -> None:
        self._cutter = cutter
        self._commands = commands
        self._scratch = scratch

    async def run(
        self,
        tasks: tuple[Task, ...],
        agents: tuple[Contestant, ...],
        progress: Callable[[str], None],
    ) -> tuple[Result, ...]:
        """The results task by task, so that what changes over time concerns all agents alike."""
        results = []
        for number, task in enumerate(tasks, 1):
            for agent in agents:
                progress(f"task {number} of {len(tasks)}, {task.name}: {agent.name}")
                results.append(await self._result(task, agent))
        return tuple(results)

    async def _result(self, task: Task, agent: Contestant) -> Result:
        folder = self._scratch / "task"
        try:
            self._cutter.write_base(folder, task.commit)
            await self._commands.set_up(folder)
            command = with_prompt(agent.command, prompt(task))
            worked = await self._commands.run_agent(folder, command, agent.variables)
            self._cutter.write_tests(folder, task.commit)
            tested = await self._commands.run_tests(folder, task.test_command)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        outcome, detail = _outcome(worked, tested)
        return Result(
            task.name, task.title, agent.name, outcome, detail, spent(worked.output), worked.seconds
        )


def prompt(task: Task) -> str:
    """The prompt of every agent."""
    return (
        f"{task.commit.text}\n\n"
        "Please change the code of this repository so that this is done. Its tests are written already and fail now. "
        f"Run them with\n\n    {task.test_command}\n\n"
        "They must pass in the end. Leave the tests as they are."
    )


def _outcome(worked: EndedCommand, tested: EndedCommand) -> tuple[str, str]:
    """The outcome of a run: the tests decide, also where the agent ended with an error."""
    if tested.is_success:
        return SOLVED, ""
    if worked.why == TIME:
        return TIMED_OUT, ""
    if worked.is_success:
        return TESTS_FAIL, ""
    return AGENT_FAILED, f"exit status {worked.status}: {ending(worked.output)}"
