"""Opening an agent: a model, a repository, and a session that begins or goes on.

What a caller needs to say how an agent is opened is offered here, so that the rooms behind stay
closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from tersely.agent.agent import CodingAgent
from tersely.agent.context.disclosure import unlocked
from tersely.agent.context.prefix import prefix_text, repository_card
from tersely.agent.context.window import Budget, Gauge
from tersely.agent.conversation import AgentOptions, Conversation, tools_for
from tersely.agent.models.protocol import Abilities, Model
from tersely.agent.sessions.budget import BudgetedModel
from tersely.agent.sessions.holding import Hold
from tersely.agent.sessions.session import ChatSession
from tersely.agent.sessions.store import SessionStore
from tersely.agent.tool_calling import CallFormat, call_format_of
from tersely.agent.tools.approvals import Mode, Verdict
from tersely.agent.tools.checkpoint_store import CheckpointStore
from tersely.agent.tools.declaration import AgentTool
from tersely.agent.tools.editors.finding import found_editor
from tersely.agent.tools.files.opened import OpenFiles
from tersely.agent.tools.others.external import configured
from tersely.agent.tools.others.tool_server import ToolServer
from tersely.agent.tools.running.command import CommandEnd as CommandEnded
from tersely.agent.tools.running.command import (
    CommandLimits,
    Confinement,
    SharedWithCommands,
    confinement,
)
from tersely.agent.tools.running.command import run as run_command
from tersely.agent.tools.running.terminal import TellTerminal, Terminals
from tersely.agent.tools.toolbox import Choices, Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.limits import DEFAULT_MODEL_WINDOW_TOKENS
from tersely.foundation.types import JsonMapping, field, frozen, replace

__all__ = [
    "MODES",
    "AgentOptions",
    "Choices",
    "CommandEnded",
    "CommandLimits",
    "Confinement",
    "Conversation",
    "Mode",
    "OpenFiles",
    "SharedWithCommands",
    "TellTerminal",
    "Terminals",
    "ToolServer",
    "Verdict",
    "WantedAgent",
    "call_format_of",
    "configured",
    "confinement",
    "delete_session",
    "found_editor",
    "open_agent",
    "run_command",
]  # fmt: skip


class ModeTold(NamedTuple):
    """A mode, as a user reads of it."""

    name: str
    text: str


MODES: Mapping[Mode, ModeTold] = {
    Mode.ASK: ModeTold("Ask", "Asks before files are changed or commands run"),
    Mode.PLAN: ModeTold("Plan", "Reads only, and answers with a plan"),
    Mode.AUTO: ModeTold("Auto", "Changes files and runs confined commands without asking"),
}


@frozen
class WantedAgent:
    """The wishes by which an agent is opened. `session` is the id of one that goes on, "" for a new
    one.

    A copy of it goes on where it `forks`. `hold` is ours on it, where this process has it open
    already.
    """

    root: Path
    folder: Path  # where sessions are kept
    answer_words: str  # as of `daemon.asking.Asking`
    session: str = ""
    choices: Choices = field(default_factory=Choices)
    options: AgentOptions = field(default_factory=AgentOptions)
    hold: Hold | None = None
    forks: bool = False
    server: str = ""  # URL of the model's, which the session notes


async def open_agent(model: Model, wanted: WantedAgent) -> CodingAgent:
    """An agent. Close it, and the model after it. Until then no other process can go on with its
    session.
    """
    window = model.abilities.window or DEFAULT_MODEL_WINDOW_TOKENS
    budget = Budget.of(window, wanted.options.reply_tokens)
    with ExitStack() as opened:
        store = opened.enter_context(SessionStore.open(wanted.folder))
        identifier = store.fork(wanted.session).id if wanted.forks else wanted.session or new_id()
        hold = opened.enter_context(wanted.hold.again() if wanted.hold else store.hold(identifier))
        has_editor = await asyncio.to_thread(wanted.choices.editor) is not None
        call_format = call_format_of(model.abilities, wanted.options.calls)
        tools = tools_for(
            call_format,
            with_code_context=wanted.options.with_code_context,
            has_editor=has_editor,
            has_browser=bool(wanted.choices.browser),
        )
        toolbox, session = await _open_parts(
            model.abilities, wanted, store, budget, identifier, call_format, tools
        )
        opened.pop_all()  # what is open is the agent's to close now
    gauge = Gauge(toolbox.tokenizer)
    session.note_model(model.abilities.model, wanted.server)
    budgeted = BudgetedModel(model, session, gauge, wanted.options.session_tokens)
    conversation = Conversation(
        budgeted,
        toolbox,
        store,
        session,
        hold,
        budget,
        gauge,
        call_format,
        wanted.options,
        tools,
    )
    conversation.thinks = model.abilities.thinking
    return CodingAgent(conversation, budgeted)


def delete_session(store: SessionStore, folder: Path, session: str) -> None:
    """Delete a session by its full id, with all that was kept to undo it; raises `session_in_use`."""
    with store.hold(session):
        store.delete(session)
        kept = CheckpointStore.open(folder, session)
        kept.forget()
        kept.close()


async def _open_parts(
    abilities: Abilities,
    wanted: WantedAgent,
    store: SessionStore,
    budget: Budget,
    id: str,
    call_format: CallFormat,
    tools: Sequence[AgentTool],
) -> tuple[Toolbox, ChatSession]:
    """The toolbox and the session, whose tools keep their things under its id."""
    root = wanted.root.resolve(strict=True)
    going_on = store.resume(id) if wanted.session else None
    if going_on is not None and going_on.repository != str(root):
        message = f"the session {going_on.id} is about {going_on.repository}, not about {root}"
        raise TerselyError(
            "invalid_argument", message, f"go on with it there: --root {going_on.repository}"
        )
    choices = replace(wanted.choices, observation_tokens=budget.observation)
    toolbox = Toolbox.open(root, wanted.folder, id, wanted.answer_words, choices)
    try:
        if going_on is not None and (going_on.call_format, going_on.model) == (
            call_format.value,
            abilities.model,
        ):
            return toolbox, going_on
        tier = going_on.tier if going_on else 0
        prefix = await _prefix(abilities, call_format, toolbox, tier, tools)
        if going_on is not None:
            going_on.use(abilities.model, prefix, call_format.value, tier)
            return toolbox, going_on
        return toolbox, store.create(str(root), abilities.model, prefix, call_format.value, id)
    except BaseException:
        toolbox.close()
        raise


async def _prefix(
    abilities: Abilities,
    call_format: CallFormat,
    toolbox: Toolbox,
    tier: int,
    offered: Sequence[AgentTool],
) -> str:
    tools = unlocked(offered, tier, toolbox.approvals.policy)
    return prefix_text(abilities.family, call_format, tools, await _card(toolbox))


async def _card(toolbox: Toolbox) -> str:
    """One line on the repository; one that cannot be indexed has its name alone."""
    try:
        stats = await toolbox.value("code.stats", {})
        tree = await toolbox.value("code.tree", {"depth": 1})
    except TerselyError:
        stats, tree = _UNKNOWN_STATS, _UNKNOWN_TREE
    return repository_card(toolbox.root, stats, tree)


_UNKNOWN_STATS: JsonMapping = {"languages": []}
_UNKNOWN_TREE: JsonMapping = {"entries": {"items": []}}
