"""The tool `bash`: one command line in the repository."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.observation import failed, plain
from tersely.agent.tools.running import undoable
from tersely.agent.tools.running.command import CommandEnd, CommandLimits, run
from tersely.agent.tools.running.terminal import Window
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping

COMMAND_SECONDS = 120  # for a command of the agent
_SIGNS_OF_CONFINEMENT = ("Permission denied", "Operation not permitted", "Read-only", "Network is unreachable",
                         "Could not resolve", "Temporary failure in name resolution")  # fmt: skip
_NOTHING = "(no output)"


async def bash(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Run a command line and tell what it printed and how it ended."""
    return await observed(toolbox, str(arguments["command"]), guards=True)


def preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The command line, and what it will be able to do."""
    return f"{visible(str(arguments.get('command', '')))}\n{may(toolbox)}"


def may(toolbox: Toolbox) -> str:
    """The freedoms of a command, for whoever is asked about one."""
    confined = toolbox.known_confinement
    what = "confinement is not known yet" if confined is None else confined.told()
    undone = "undo takes back what it changes in files that git does not ignore"
    return f"({what}; ends after {COMMAND_SECONDS} s; {undone})"


async def observed(
    toolbox: Toolbox,
    command: str,
    variables: Mapping[str, str] | None = None,
    *,
    guards: bool = False,
) -> Observation:
    """Run a command line as `bash` does, with some more variables: then it is one that only reads."""
    choices = toolbox.choices
    limits = CommandLimits(COMMAND_SECONDS)
    untold: list[str] = []
    try:
        confined = await toolbox.confinement()
        async with _undoable(toolbox, command, untold) if variables is None else nullcontext():
            ended = await run(
                command,
                toolbox.root,
                limits,
                confined,
                choices.shared,
                variables,
                guards,
                toolbox.heard,
                _window(toolbox) if variables is None else None,
            )
    except TerselyError as error:
        return failed(error)
    output = plain(ended.output).rstrip()
    last = _how(ended, limits)
    if ended.status and confined.files and any(sign in output for sign in _SIGNS_OF_CONFINEMENT):
        last += f" (commands are confined: {confined.told()})"
    if ended.restored:
        untold.append(
            f"(taken back, for git would believe or run it: {visible(', '.join(ended.restored))})"
        )
    text = "\n".join(filter(None, [output or _NOTHING * (not last), last, *untold]))
    return await toolbox.observed(text, "ok" if ended.status == 0 else "failed")


def _window(toolbox: Toolbox) -> Window | None:
    """The window in which the user sees what the command does, None without such an editor."""
    terminals = toolbox.choices.terminals
    return Window(terminals, toolbox.tell_terminal) if terminals else None


@asynccontextmanager
async def _undoable(toolbox: Toolbox, command: str, untold: list[str]) -> AsyncIterator[None]:
    """Have what a command changes written down, also when it is cancelled; `untold` gets why that
    cannot be.
    """
    root, kept = toolbox.root, toolbox.kept
    why = await toolbox.apart(lambda: undoable.begin(root, kept, command))
    try:
        yield
    finally:
        why = why or await toolbox.apart(lambda: undoable.end(root, kept))
        untold += [f"(undo cannot take back what this changed: {visible(why)})"] if why else []


def _how(ended: CommandEnd, limits: CommandLimits) -> str:
    rest = "" if ended.is_clear else "; some of its processes could not be ended"
    if ended.why == "time":
        return f"ended after {limits.seconds} s, it was not done{rest}"
    if ended.why == "processes":
        return f"ended: it had more than {limits.processes} processes at a time{rest}"
    if ended.why == "disk":
        return f"ended: it had nearly filled the disk{rest}"
    if ended.status is None:
        return f"it was ended from outside{rest}"
    return (f"exit status {ended.status}" if ended.status else "") + rest
