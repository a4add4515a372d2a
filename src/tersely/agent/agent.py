"""The agent as its fronts see it: a session that is talked to, one turn at a time.

    agent = await open_agent(model, wanted)
    async for event in agent.run("who calls parse?"):
        show(event)
    await agent.close()

It knows no screen: whoever shows it reads its events, and answers `ApprovalAsked` with `approve`.
What a turn does is in `turn.loop`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from tersely.agent.conversation import AnsweredApproval, Conversation
from tersely.agent.events import Compacted, Decision, EndReason, Event, TurnEnded
from tersely.agent.loop import failed, run_turn
from tersely.agent.sessions.budget import SPENT, BudgetedModel
from tersely.agent.sessions.session import ChatSession
from tersely.agent.tools.approvals import Mode
from tersely.agent.tools.running.shell import observed
from tersely.agent.tools.undoing import undo
from tersely.agent.turn import window_budget
from tersely.foundation.errors import TerselyError

_TOLD_OF_MODE = {
    Mode.ASK: "The user is asked from now on before files are changed or commands run.",
    Mode.PLAN: "Change nothing and run nothing from now on: look, and answer with a plan as a numbered list.",
    Mode.AUTO: "Files may be changed and commands run from now on without asking the user.",
}


class AgentStatus(NamedTuple):
    """The figures of a status line. `tokens` are those of the next prompt; `cached_percent` is of
    the last one, None if the server does not say.
    """

    model: str
    tier: int
    tokens: int
    window: int
    cached_percent: float | None
    retrieves: bool


class CodingAgent:
    """A session that can be talked to, one turn at a time."""

    def __init__(self, conversation: Conversation, budget: BudgetedModel) -> None:
        self.conversation = conversation
        self.budget = budget  # of tokens
        self._running: asyncio.Task[None] | None = None
        self._is_cancellable = False

    async def run(self, message: str, pasted: Sequence[str] = ()) -> AsyncIterator[Event]:
        """One turn: everything that happens, up to `TurnEnded`. Closing the iterator cancels the
        turn.

        `pasted` are parts of the message that were not typed: they ask for nothing.
        """
        if self._running is not None:
            raise TerselyError("busy", "a turn is still running", "wait for it, or cancel it")
        self._running = asyncio.create_task(self._to_its_end(message, pasted))
        self._is_cancellable = True
        try:
            while True:
                event = await self._next(self._running)
                yield event
                if isinstance(event, TurnEnded):
                    return
        finally:
            await self._end_running()
            self._drop_events()

    async def _next(self, running: asyncio.Task[None]) -> Event:
        """The next event. Raises the error of a turn that failed before it could tell of it."""
        events = self.conversation.events
        if events.empty():
            getting = asyncio.ensure_future(events.get())
            try:
                await asyncio.wait({getting, running}, return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    return getting.result()
            finally:
                getting.cancel()
            running.result()
        return events.get_nowait()

    async def _to_its_end(self, message: str, pasted: Sequence[str]) -> None:
        """A turn that ends with an event, and with an answer in the session, whatever happens."""
        conversation = self.conversation
        ended = await run_turn(conversation, message, pasted)
        if ended.code == SPENT:
            ended = ended._replace(reason=EndReason.LIMIT)
        self._is_cancellable = False  # it ends by itself now, and its end has to be told
        try:
            conversation.session.end_turn()
        except TerselyError as error:
            # deleted elsewhere, a full disk: whoever listens is told, and can go on
            ended = ended if ended.code else failed(error)
        if notice := ended.notice(conversation.turn):
            await conversation.emit(notice)
        await conversation.emit(
            TurnEnded(conversation.turn, ended.reason, ended.code, ended.message, ended.hint)
        )

    async def _end_running(self) -> None:
        """End the turn that runs. Whoever reads its events is told of its errors."""
        if self._running is not None:
            self._running.cancel()
            try:
                await asyncio.gather(self._running, return_exceptions=True)
            finally:
                self._running = None

    def _drop_events(self) -> None:
        while not self.conversation.events.empty():
            self.conversation.events.get_nowait()

    def cancel(self) -> None:
        """Have the turn end as soon as it can; nothing happens where none is running."""
        if self._running is not None and self._is_cancellable:
            self._is_cancellable = False
            self._running.cancel()

    def approve(self, call_id: str, decision: Decision, pattern: str = "") -> None:
        """Answer `ApprovalAsked`; a call that nobody waits for any more is passed over."""
        waiting = self.conversation.waiting.get(call_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(AnsweredApproval(decision, pattern))

    async def compact(self) -> Compacted | None:
        """Have all turns but the last leave the prompt with the next message; None where there are
        none.
        """
        if self._running is not None:
            raise TerselyError("busy", "a turn is still running", "wait for it, or cancel it")
        try:
            return await window_budget.compact_all_but_last(self.conversation)
        finally:
            self._drop_events()  # what has happened is what this returns

    def set_tier(self, tier: int) -> None:
        """Unlock exactly the tools up to a tier, because the user says so."""
        self.conversation.session.unlock(tier)

    def set_mode(self, mode: Mode) -> None:
        """Work in another mode from now on; the model reads of it with the next message."""
        self.conversation.toolbox.approvals.use_mode(mode)
        told = _TOLD_OF_MODE.values()
        self.conversation.asides[:] = [
            *(aside for aside in self.conversation.asides if aside not in told),
            _TOLD_OF_MODE[mode],
        ]

    @property
    def session(self) -> ChatSession:
        """The record of the session."""
        return self.conversation.session

    def status(self) -> AgentStatus:
        """The figures of a status line."""
        conversation, session = self.conversation, self.conversation.session
        usage, cached = conversation.usage, None
        if usage is not None and usage.cached_tokens is not None and usage.prompt_tokens:
            cached = 100 * usage.cached_tokens / usage.prompt_tokens
        return AgentStatus(
            session.model, session.tier, conversation.gauge.tokens(conversation.prompt()),
            conversation.budget.window, cached, conversation.retrieves,
        )  # fmt: skip

    async def undo(self, *, insists: bool) -> str:
        """Take back the last change to files, and say what was done; the model reads it with the
        next message.
        """
        observation = await undo(self.conversation.toolbox, insists=insists)
        if observation.status == "ok":
            self.conversation.asides.append(f"The user took back a change: {observation.text}")
        return observation.text

    async def run_command(self, command: str) -> str:
        """Run a command of the shell as `bash` does, for the user, and say what it printed; the
        model reads it with the next message.
        """
        if not command:
            raise TerselyError("invalid_argument", "there is no command", "write one behind the !")
        observation = await observed(self.conversation.toolbox, command, guards=True)
        self.conversation.asides.append(f"The user ran {command}\n{observation.text}")
        return observation.text

    async def close(self) -> None:
        """End the turn, and let go of everything but the model."""
        await self._end_running()
        await self.conversation.toolbox.end_conversations()
        self.conversation.toolbox.close()
        self.conversation.store.close()
        self.conversation.hold.close()
