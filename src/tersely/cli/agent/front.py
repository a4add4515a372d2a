"""The agent as a front knows it: one server, one repository, and the session that is talked to now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

from tersely.agent.agent import CodingAgent
from tersely.agent.events import CallEnded, CallStarted, Decision, Event
from tersely.agent.models.connecting import Model, address, is_same_server, names
from tersely.agent.opening import Conversation, Mode, WantedAgent, open_agent
from tersely.agent.sessions.analytics import analytics
from tersely.capabilities.answers.text import counted
from tersely.cli.agent.command_spec import HIGHEST_TIER
from tersely.cli.agent.servers import Server, connected
from tersely.cli.agent.tally import Tally
from tersely.cli.agent.transcript import transcript
from tersely.doors.screen.shown import SessionRow, ShownStatus, ShownWords, ToolRow
from tersely.foundation.clock import local_minute
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import replace


async def open_front(
    wanted: WantedAgent, server: Server, model: Model, *, retrieves: bool
) -> FrontAgent:
    """The agent for a front; the model is closed with it, also where it cannot be opened."""
    try:
        agent = await open_agent(model, replace(wanted, server=address(server.url)))
    except BaseException:
        await model.close()
        raise
    agent.conversation.retrieves = retrieves
    held = await agent.conversation.toolbox.confinement()
    return FrontAgent(wanted, server, model, agent, held.told() if held.files else "")


class FrontAgent:
    """See `doors.screen.shown.ShownAgent` and `doors.acp.front.EditorAgent`."""

    def __init__(
        self,
        wanted: WantedAgent,
        server: Server,
        model: Model,
        agent: CodingAgent,
        confinement: str,
    ) -> None:
        self._wanted = wanted
        self._server = server
        self._model = model
        self._agent = agent
        self._confinement = confinement
        self._tally = Tally()

    @property
    def root(self) -> Path:
        """The repository, resolved."""
        return self._wanted.root

    def status(self) -> ShownStatus:
        """The state of the agent."""
        told = self._agent.status()
        return ShownStatus(
            told.model, told.tier, told.tokens, told.window, told.cached_percent, self._wanted.root.name,
            self._confinement, told.retrieves, self._conversation.session.id,
        )  # fmt: skip

    async def run(self, message: str, pasted: Sequence[str] = ()) -> AsyncIterator[Event]:
        """One turn."""
        async with aclosing(self._agent.run(message, pasted)) as events:  # type: ignore[type-var]
            async for event in events:
                self._tally.take(event)
                yield event

    def cancel(self) -> None:
        """Have the running turn end."""
        self._agent.cancel()

    def approve(self, call_id: str, decision: Decision, pattern: str = "") -> None:
        """Answer `ApprovalAsked`."""
        self._agent.approve(call_id, decision, pattern)

    def tools(self) -> Sequence[ToolRow]:
        """Every tool, also those that are locked."""
        conversation = self._conversation
        policy = conversation.toolbox.approvals.policy
        return [
            ToolRow(
                tool.name,
                tool.tier,
                tool.signature,
                policy[tool.tier].value,
                tool.tier <= conversation.session.tier,
            )
            for tool in conversation.tools
        ]

    def set_tier(self, tier: int) -> None:
        """Lock or unlock tools by hand."""
        if not 0 <= tier <= HIGHEST_TIER:
            raise TerselyError(
                "invalid_argument", f"there is no tier {tier}", f"tiers are 0 to {HIGHEST_TIER}"
            )
        self._agent.set_tier(tier)

    def mode(self) -> Mode:
        """The freedom with which it works."""
        return self._conversation.toolbox.approvals.mode

    def set_mode(self, mode: Mode) -> None:
        """Work in another mode, also in sessions that go on from here."""
        self._wanted = replace(self._wanted, choices=replace(self._wanted.choices, mode=mode))
        self._agent.set_mode(mode)

    def set_retrieval(self, on: bool) -> None:
        """Turn on or off that code is looked up and put in before the model is asked."""
        self._conversation.retrieves = on

    async def models(self, url: str) -> Sequence[str]:
        """The names of the models that a server has, the one in use for ""."""
        server = self._at(url)
        return await names(server.url, server.kind, server.key)

    async def use_model(self, name: str, url: str) -> str:
        """Go on with another model, of the server in use for ""; where that fails all stays as it
        is.
        """
        server, model = await connected(self._at(url)._replace(model=name))
        before = self._server, self._model
        self._server, self._model = server, model
        try:
            await self._go_on(self._conversation.session.id)
        except BaseException:
            self._server, self._model = before
            await model.close()
            raise
        await before[1].close()
        return f"{model.abilities.model} at {server.url} answers from now on, with {self._window()}"

    def _at(self, url: str) -> Server:
        """The server at a URL, that in use for "". A key goes nowhere but to the server that it was
        given for.
        """
        if not url:
            return self._server
        return Server(url, key=self._server.key if is_same_server(url, self._server.url) else "")

    def _window(self) -> str:
        return f"a window of {self._agent.status().window:,} tokens"

    def set_budget(self, tokens: int) -> None:
        """Have another limit for the tokens of this session, and of those that go on from here."""
        self._wanted = replace(
            self._wanted, options=replace(self._wanted.options, session_tokens=tokens)
        )
        self._agent.budget.limit_tokens = tokens

    def budget(self) -> str:
        """The tokens that the session has used, and of how many."""
        limit, spent = self._agent.budget.limit_tokens, self._agent.budget.spent()
        return (
            f"{spent:,} of {limit:,} tokens used"
            if limit
            else f"{spent:,} tokens used, of any number"
        )

    async def compact(self) -> str:
        """Make the prompt shorter now."""
        done = await self._agent.compact()
        if done is None:
            return "there are no old turns to leave out"
        return f"old turns leave the prompt: {done.before:,} tokens to {done.after:,} ({done.how})"

    async def undo(self, *, insists: bool) -> str:
        """Take back the last change to files; the model is told with the next message."""
        return await self._agent.undo(insists=insists)

    async def sessions(self) -> Sequence[SessionRow]:
        """The sessions of this repository, the newest first."""
        found = self._conversation.store.every(self._conversation.session.repository)
        return [
            SessionRow(
                each.id, each.name or each.id, each.turns, local_minute(each.updated_at / 1000)
            )
            for each in found
        ]

    async def resume(self, session: str) -> None:
        """Go on with another session."""
        await self._go_on(
            self._conversation.store.find(session, self._conversation.session.repository).id
        )

    async def begin_anew(self) -> None:
        """Go on with a new session."""
        await self._go_on("")

    async def run_command(self, command: str) -> str:
        """Run a command of the shell; the model reads of it with the next message."""
        return await self._agent.run_command(command)

    async def fork(self) -> str:
        """Go on in a copy of this session."""
        new = self._conversation.store.fork(self._conversation.session.id)
        await self._go_on(new.id)
        return f"this is {new.name} now"

    def history(self) -> Sequence[ShownWords | CallStarted | CallEnded]:
        """The words and calls so far."""
        return transcript(self._conversation.store.history(self._conversation.session.id))

    def cost(self) -> str:
        """The cost of the session so far."""
        figures = analytics(self._conversation.store, (self._conversation.session.id,))
        (spent,) = figures.sessions
        cached = (
            "" if spent.cached_percent is None else f", {spent.cached_percent:.1f} % of it cached"
        )
        lines = [
            f"{spent.requests:,} requests, {spent.seconds:,.1f} s",
            f"prompts {spent.prompt_tokens:,} tokens{cached}; answers {spent.completion_tokens:,} tokens",
            *self._tally.lines(),
            *(
                f"{each.tool}: {counted(each.calls, 'call')}, {each.tokens:,} tokens"
                for each in figures.tools
            ),
        ]
        return "\n".join(lines)

    async def close(self) -> None:
        """Let go of everything."""
        await self._agent.close()
        await self._model.close()

    @property
    def _conversation(self) -> Conversation:
        return self._agent.conversation

    async def _go_on(self, session: str) -> None:
        """Have another session, or the same one with another model; the one there is stays where
        that fails.
        """
        retrieves = self._conversation.retrieves
        hold = self._conversation.hold if session == self._conversation.session.id else None
        wanted = replace(
            self._wanted, session=session, hold=hold, forks=False, server=address(self._server.url)
        )
        agent = await open_agent(self._model, wanted)
        old, self._agent = self._agent, agent
        agent.conversation.retrieves = retrieves
        if session != old.session.id:
            self._tally = Tally()
        await old.close()
