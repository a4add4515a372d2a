"""The commands that can be typed after `/` in an editor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    UnstructuredCommandInput,
)

from tersely.agent.tools.declaration import INSIST
from tersely.doors.acp.front import EditorAgent
from tersely.doors.screen.shown import set_retrieval, undo
from tersely.foundation.errors import TerselyError


class SlashCommand(NamedTuple):
    """One command; `argument` names what follows, "" for nothing."""

    summary: str
    run: Callable[[EditorAgent, str], Awaitable[str]]
    argument: str = ""


def split(message: str) -> tuple[SlashCommand, str] | None:
    """The command that a message is, and what follows it; None for a message to the model."""
    name, _, argument = message.strip().removeprefix("/").partition(" ")
    command = COMMANDS.get(name) if message.startswith("/") else None
    return (command, argument.strip()) if command else None


def available() -> AvailableCommandsUpdate:
    """The commands, for the editor to offer."""
    commands = [
        AvailableCommand(name=name, description=command.summary, input=_input(command.argument))
        for name, command in COMMANDS.items()
    ]
    return AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=commands
    )


def _input(argument: str) -> AvailableCommandInput | None:
    return AvailableCommandInput(UnstructuredCommandInput(hint=argument)) if argument else None


async def _compact(agent: EditorAgent, argument: str) -> str:
    return await agent.compact()


async def _cost(agent: EditorAgent, argument: str) -> str:
    return f"{agent.cost()}\n{agent.budget()}"


async def _tools(agent: EditorAgent, argument: str) -> str:
    if argument:
        if argument not in {"0", "1", "2", "3"}:
            raise TerselyError("invalid_argument", "/tools takes a tier", "tiers are 0 to 3")
        agent.set_tier(int(argument))
    rows = [
        f"- {row.signature} (tier {row.tier}, {row.policy})"
        for row in agent.tools()
        if row.is_unlocked
    ]
    return "\n".join(rows)


async def _rag(agent: EditorAgent, argument: str) -> str:
    if argument not in {"on", "off"}:
        raise TerselyError("invalid_argument", "/rag takes on or off")
    return set_retrieval(agent, on=argument == "on")


COMMANDS: Mapping[str, SlashCommand] = {
    "compact": SlashCommand("summarize older turns now", _compact),
    "undo": SlashCommand("take back the last change to files", undo, f"[{INSIST}]"),
    "cost": SlashCommand("tokens of this session", _cost),
    "tools": SlashCommand(
        "the unlocked tools; with a number, unlock or lock tiers", _tools, "[0-3]"
    ),
    "rag": SlashCommand("look up code before the model is asked, or not", _rag, "on|off"),
}
