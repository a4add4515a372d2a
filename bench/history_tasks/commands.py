"""Commands of a measurement: the tests of a task, confined to its folder, and the agents, as they
are started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from tersely.agent.opening import (
    CommandEnded,
    CommandLimits,
    Confinement,
    SharedWithCommands,
    confinement,
    run_command,
)
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import REPOSITORY_VARIABLES

TESTS = "{tests}"  # in a command that the user gives: the files of tests of a task
PROMPT = "{prompt}"  # in the command of an agent; without it the prompt comes last
DONE, TIME = "done", "time"  # why a command ended
_SET_UP = (
    "git init -q && git add -A && "
    "git -c user.name=tersely -c user.email=tersely -c commit.gpgsign=false commit -q -m base"
)
_SET_UP_SECONDS = 120.0


class EndedCommand(NamedTuple):
    """A command that has ended: whether it succeeded, why it ended, its exit status, its output,
    and the seconds.
    """

    is_success: bool
    why: str
    status: int | None
    output: str
    seconds: float


class Commands(NamedTuple):
    """The running of commands: what is shared with tests, and how long each may take."""

    shared: SharedWithCommands
    network: bool  # for tests
    test_seconds: float
    agent_seconds: float

    async def run_tests(self, folder: Path, command: str) -> EndedCommand:
        """Run tests, kept from writing outside of a folder where the system can; raises
        `program_failed`.
        """
        held = await confinement(network=self.network)
        return await _run(command, folder, self.test_seconds, held, self.shared)

    async def run_agent(
        self, folder: Path, command: str, variables: Mapping[str, str]
    ) -> EndedCommand:
        """Run an agent in a folder with the user's own variables; raises `program_failed`.

        It confines its commands itself, or as the user has told it to. Variables that name another
        repository are left out.
        """
        own = {
            name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES
        }
        own |= variables
        return await _run(
            command, folder, self.agent_seconds, Confinement(), SharedWithCommands(), own
        )

    async def set_up(self, folder: Path) -> None:
        """Make a repository with one commit of a folder, so that nothing in it tells of later
        commits.

        Raises `program_failed`.
        """
        ran = await _run(
            _SET_UP, folder, _SET_UP_SECONDS, await confinement(), SharedWithCommands()
        )
        if not ran.is_success:
            raise TerselyError(
                "program_failed", f"git cannot make a repository in {folder}: {ran.output.strip()}"
            )


async def _run(
    command: str, folder: Path, seconds: float, held: Confinement, shared: SharedWithCommands,
    variables: Mapping[str, str] | None = None,
) -> EndedCommand:  # fmt: skip
    watch = Stopwatch()
    ended: CommandEnded = await run_command(
        command, folder, CommandLimits(seconds), held, shared, variables
    )
    is_success = ended.why == DONE and ended.status == 0
    return EndedCommand(is_success, ended.why, ended.status, ended.output, watch.seconds())


def with_tests(command: str, tests: list[str]) -> str:
    """A command that the user gives, with the files of tests where it names them."""
    return command.replace(TESTS, " ".join(map(quote, tests)))


def with_prompt(command: str, prompt: str) -> str:
    """The command of an agent with its prompt."""
    return (
        command.replace(PROMPT, quote(prompt))
        if PROMPT in command
        else f"{command} {quote(prompt)}"
    )
