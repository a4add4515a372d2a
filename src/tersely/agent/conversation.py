"""The state that the parts of the loop share: one session with its model, its tools, and whoever
listens.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import NamedTuple

from tersely.agent.context import disclosure, prefix
from tersely.agent.context.disclosure import HIGHEST_TIER
from tersely.agent.context.window import Budget, Gauge
from tersely.agent.events import (
    Decision,
    Event,
    Notice,
    NoticeLevel,
    ToolsDeclared,
    Unlocked,
    Usage,
)
from tersely.agent.models.protocol import (
    Abilities,
    Constraint,
    Model,
    ModelMessage,
    Prompt,
    RequestUsage,
    without_pictures,
)
from tersely.agent.sessions.holding import Hold
from tersely.agent.sessions.session import ChatSession, MessageDraft
from tersely.agent.sessions.store import SessionStore
from tersely.agent.tool_calling import (
    AUTO,
    CallFormat,
    PathTrie,
    call_format_of,
    constraint_for,
    written,
)
from tersely.agent.tools.declaration import ANSWER, AgentTool
from tersely.agent.tools.table import PLAIN_TOOLS, TOOLS
from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.turn.repeats import CallRepeats
from tersely.foundation.clock import Stopwatch
from tersely.foundation.types import field, frozen, record

MAX_WAITING_EVENTS = 256  # that nobody has taken yet


@frozen
class AgentOptions:
    """The decisions of the user and of the program that shows the agent."""

    can_ask: bool = True  # somebody answers `ApprovalAsked`; else such calls are denied
    reply_tokens: int = 0  # of one answer, 0 for its share of the window
    # older turns leave a window that fills up; else a turn ends when it is full
    compacts: bool = True
    calls: str = AUTO  # the way in which calls are asked for, where the server has it
    session_tokens: int = 0  # of all requests of the session together, 0 for no limit
    # tools that know symbols, and code before messages; else files and text alone
    with_code_context: bool = True


class AnsweredApproval(NamedTuple):
    """The answer of somebody who was asked about a call."""

    decision: Decision
    pattern: str


@record
class Conversation:
    """One session that goes on, in one event loop."""

    model: Model
    toolbox: Toolbox
    store: SessionStore
    session: ChatSession
    hold: Hold  # on the session
    budget: Budget
    gauge: Gauge
    call_format: CallFormat
    options: AgentOptions
    tools: tuple[AgentTool, ...]  # all there are for this way of calling
    paths: PathTrie | None = None  # of the repository, as they were when the turn began
    turn: int = 0
    retrieves: bool = True
    # what the model is to know with the next message
    asides: list[str] = field(default_factory=list)
    has_made_room: bool = False  # in this turn
    has_shown: bool = False  # something of the answer that comes in
    is_work: bool = False  # the message of this turn asks for more than looking
    thinks: bool = False  # the model has shown thoughts, or its server can switch them
    unread_calls: int = 0  # answers in the model's own form that the server could not read
    usage: RequestUsage | None = None  # of the last request
    repeats: CallRepeats = field(default_factory=CallRepeats)
    events: asyncio.Queue[Event] = field(default_factory=lambda: asyncio.Queue(MAX_WAITING_EVENTS))
    # for approval, by call
    waiting: dict[str, asyncio.Future[AnsweredApproval]] = field(default_factory=dict)

    def begin_turn(self) -> None:
        """Count one more turn, and forget what concerned the one before."""
        self.turn = self.session.turn + 1
        self.has_made_room = self.is_work = False
        self.repeats.forget()

    async def emit(self, event: Event) -> None:
        """Tell whoever listens; waits where nobody does."""
        await self.events.put(event)

    async def notice(self, level: NoticeLevel, text: str) -> None:
        """Tell whoever listens something that is no part of an answer."""
        await self.emit(Notice(self.turn, level, text))

    def append(self, role: str, content: str, shown: str | None = None) -> None:
        """Add a message to the session at its end; `shown` is what a person sees of it, None for
        all.
        """
        self.session.add(MessageDraft(role, content, self.count(content), self.turn, shown))

    def count(self, text: str) -> int:
        """The tokens of a text, as we count them."""
        return self.toolbox.tokenizer.count(text)

    @property
    def sees(self) -> bool:
        """True if the model is sent pictures: it sees, and the window has room for them."""
        return self.model.abilities.sees and self.budget.has_pictures

    def unlocked(self) -> list[AgentTool]:
        """The tools that may be called now."""
        return disclosure.unlocked(self.tools, self.session.tier, self.toolbox.approvals.policy)

    async def unlock(self, wanted: int, reason: str) -> bool:
        """Unlock a tier and those below, as far as the policy lets; whether that was more than
        before.
        """
        tier = disclosure.reachable(wanted, self.session.tier, self.toolbox.approvals.policy)
        if tier <= self.session.tier:
            return False
        self.session.unlock(tier)
        await self.emit(Unlocked(self.turn, tier, reason))
        return True

    def prompt(self) -> Prompt:
        """The prompt as the model is sent it; calls that a server has read are text for a way that
        has no place for them.
        """
        prompt = self.session.prompt()
        if not self.sees:
            prompt = without_pictures(prompt)
        return _merge_user_messages(
            prompt if self.call_format is CallFormat.NATIVE else map(self._as_text, prompt)
        )

    def _as_text(self, message: ModelMessage) -> ModelMessage:
        if message.role == "tool":
            return message.of_user()
        if not message.calls:
            return message
        by_name = {tool.name: tool for tool in self.tools}
        calls = [
            written(by_name[call.name], json.loads(call.arguments))
            for call in message.calls
            if call.name in by_name and call.arguments.startswith("{")
        ]
        return ModelMessage(message.role, "\n".join(filter(None, [message.content, *calls])))

    def declared(self) -> list[AgentTool]:
        """The tools that the next request names, in the order in which it does.

        As functions they stand before all messages, so the list only grows, and at most twice in a
        session: by the tier that is unlocked first, then to all that the policy allows.
        """
        policy = self.toolbox.approvals.policy
        if self.call_format is not CallFormat.NATIVE:
            return self.unlocked()
        return disclosure.unlocked(self.tools, self.session.prefix_tier, policy)

    async def declare(self) -> None:
        """Have the next request name the tools that are unlocked, and count what it takes."""
        before = self.session.prefix_tier
        if self.call_format is CallFormat.NATIVE and self.session.tier > before:
            session = self.session
            session.use(
                session.model,
                session.prefix,
                self.call_format.value,
                session.tier if before == 0 else HIGHEST_TIER,
            )
        tokens = self.declared_tokens()
        if self.session.prefix_tier != before and self.session.messages:
            await self.emit(
                ToolsDeclared(self.turn, tuple(tool.name for tool in self.declared()), tokens)
            )
        self.gauge.declared_tokens = tokens

    def declared_tokens(self) -> int:
        """Our count of the functions or the schema of the next request, as templates write them
        into the prompt.
        """
        constraint = self.constraint()
        if constraint is None or constraint.grammar:
            return 0
        functions = [
            json.dumps({"type": "function", "function": each}) for each in constraint.tools
        ]
        return sum(
            map(
                self.count, [*functions, json.dumps(constraint.schema) if constraint.schema else ""]
            )
        )

    def constraint(self, *, may_call: bool = True) -> Constraint | None:
        """The constraint that holds the answer to the tools that are unlocked, as far as the server
        can. Functions stay where nothing may be called: they stand before all messages.
        """
        if not may_call and self.call_format is not CallFormat.NATIVE:
            return None
        return constraint_for(self.declared(), self.call_format, self.paths)

    def use_call_format(self, abilities: Abilities) -> None:
        """Ask for calls in the way that these abilities have; the prompt begins anew."""
        self.call_format = call_format_of(abilities, self.options.calls)
        self.tools = tools_for(
            self.call_format,
            with_code_context=self.options.with_code_context,
            has_editor=any(tool.is_in_editor for tool in self.tools),
            has_browser=bool(self.toolbox.choices.browser),
        )
        session = self.session
        text = prefix.prefix_text(
            abilities.family, self.call_format, self.unlocked(), prefix.card_of(session.prefix)
        )
        session.use(session.model, text, self.call_format.value, session.tier)

    async def account(
        self, usage: RequestUsage, watch: Stopwatch, *, is_estimated: bool = False
    ) -> None:
        """Write down and tell what a request cost that has just been answered, or was stopped."""
        self.session.record(usage, int(watch.seconds() * 1000))
        again = _reevaluated(self.usage, usage)
        self.usage = usage
        counts = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        told = Usage(
            self.turn, *counts, self.budget.window, again, usage.thought_tokens, is_estimated
        )
        await self.emit(told)

    def announcement(self, after_all_left: bool = False) -> str:
        """The signatures of unlocked tools that the prompt does not have, "" where it has all."""
        said = [self.session.prefix]
        if not after_all_left:
            said += [stored.content for stored in self.session.prompted()]
        if self.call_format is CallFormat.NATIVE:
            return ""  # declared with each request
        missing = [
            tool for tool in self.unlocked() if not any(tool.signature in text for text in said)
        ]
        return prefix.unlocked_text(missing) if missing else ""


def _reevaluated(before: RequestUsage | None, now: RequestUsage) -> int:
    """The tokens of a prompt that had been evaluated for the request before, and were evaluated
    again; 0 for the first one, and where the server does not report its cache.
    """
    if before is None or now.cached_tokens is None:
        return 0
    return max(0, min(before.prompt_tokens, now.prompt_tokens) - now.cached_tokens)


def _merge_user_messages(messages: Iterable[ModelMessage]) -> Prompt:
    """Messages with those of the user joined that follow each other: templates may want roles to
    take turns.
    """
    joined: list[ModelMessage] = []
    for message in messages:
        if joined and message.role == joined[-1].role == "user":
            content = f"{joined[-1].content}\n\n{message.content}"
            pictures = joined[-1].pictures + message.pictures
            joined[-1] = ModelMessage("user", content, pictures=pictures)
        else:
            joined.append(message)
    return tuple(joined)


def tools_for(
    call_format: CallFormat,
    *,
    with_code_context: bool = True,
    has_editor: bool = False,
    has_browser: bool = False,
) -> tuple[AgentTool, ...]:
    """All tools for a way of calling: where the server knows calls, an answer is what is said
    beside them.
    """
    tools = TOOLS if with_code_context else PLAIN_TOOLS
    answers_apart = call_format is not CallFormat.NATIVE
    offered = (tool for tool in tools if has_editor or not tool.is_in_editor)
    offered = (tool for tool in offered if has_browser or not tool.is_in_browser)
    return tuple(tool for tool in offered if answers_apart or tool.name != ANSWER)
