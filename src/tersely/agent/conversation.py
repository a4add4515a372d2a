"""What the parts of the loop share: one session with its model, its tools, and whoever listens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tersely.agent.calling import Paths, Way, constraint_for
from tersely.agent.context import disclosure, prefix
from tersely.agent.context.window import Budget, Gauge
from tersely.agent.events import Decision, Event, Unlocked, Usage
from tersely.agent.models.protocol import Constraint, Model
from tersely.agent.models.protocol import Usage as RequestUsage
from tersely.agent.sessions.holding import Hold
from tersely.agent.sessions.session import Session, Stored
from tersely.agent.sessions.store import Store
from tersely.agent.tools.declaration import ANSWER, Tool
from tersely.agent.tools.table import PLAIN_TOOLS, TOOLS
from tersely.agent.tools.toolbox import Toolbox
from tersely.agent.turn.repeats import Repeats
from tersely.foundation.clock import Stopwatch
from tersely.foundation.ids import new_id

MAX_WAITING_EVENTS = 256  # that nobody has taken yet


@dataclass(frozen=True, slots=True)
class Options:
    """What the user and the program that shows the agent have decided."""

    can_ask: bool = True  # somebody answers `ApprovalAsked`; else such calls are denied
    reply_tokens: int = 0  # of one answer, 0 for its share of the window
    compacts: bool = True  # older turns leave a window that fills up; else a turn ends when it is full
    session_tokens: int = 0  # of all requests of the session together, 0 for no limit
    with_code_context: bool = True  # tools that know symbols, and code before messages; else files and text alone


class Answered(NamedTuple):
    """What somebody said about a call."""

    decision: Decision
    pattern: str


@dataclass(slots=True)
class Reading:
    """The model as a reader of packs: the session in which it is told what it was not, anew once messages have left."""

    session: str = field(default_factory=new_id)
    had: frozenset[str] = frozenset()  # the messages of the prompt when it was last told something

    def renewed(self, prompted: Iterable[Stored]) -> bool:
        """Whether messages have left the prompt, by compaction or by going back, and a session begins with it."""
        now = frozenset(stored.id for stored in prompted)
        has_lost = not self.had <= now
        if has_lost:
            self.session = new_id()
        self.had = now
        return has_lost


@dataclass(slots=True)
class Conversation:
    """One session that goes on, in one event loop."""

    model: Model
    toolbox: Toolbox
    store: Store
    session: Session
    hold: Hold  # on the session
    budget: Budget
    gauge: Gauge
    way: Way
    options: Options
    tools: tuple[Tool, ...]  # all there are for this way of calling
    paths: Paths | None = None  # of the repository, as they were when the turn began
    turn: int = 0
    retrieves: bool = True
    asides: list[str] = field(default_factory=list)  # what the model is to know with the next message
    has_made_room: bool = False  # in this turn
    usage: RequestUsage | None = None  # of the last request
    repeats: Repeats = field(default_factory=Repeats)
    reading: Reading = field(default_factory=Reading)
    events: asyncio.Queue[Event] = field(default_factory=lambda: asyncio.Queue(MAX_WAITING_EVENTS))
    waiting: dict[str, asyncio.Future[Answered]] = field(default_factory=dict)  # for approval, by call

    def begin_turn(self) -> None:
        """Count one more turn, and forget what concerned the one before."""
        self.turn = self.session.turn + 1
        self.has_made_room = False
        self.repeats.forget()

    async def emit(self, event: Event) -> None:
        """Tell whoever listens; waits where nobody does."""
        await self.events.put(event)

    def count(self, text: str) -> int:
        """The tokens of a text, as we count them."""
        return self.toolbox.tokenizer.count(text)

    def unlocked(self) -> list[Tool]:
        """The tools that may be called now."""
        return disclosure.unlocked(self.tools, self.session.tier, self.toolbox.approvals.policy)

    async def unlock(self, wanted: int, reason: str) -> bool:
        """Unlock a tier and those below, as far as the policy lets; whether that was more than before."""
        tier = disclosure.reachable(wanted, self.session.tier, self.toolbox.approvals.policy)
        if tier <= self.session.tier:
            return False
        self.session.unlock(tier)
        await self.emit(Unlocked(self.turn, tier, reason))
        return True

    def constraint(self) -> Constraint | None:
        """What holds the answer to the tools that are unlocked.

        Functions that a server puts into its template itself stay those that the session began with: others would
        change the beginning of the prompt. What is unlocked later is told in words, and checked on our side.
        """
        tools = self.unlocked()
        if self.way is Way.NATIVE:
            tools = disclosure.unlocked(self.tools, self.session.prefix_tier, self.toolbox.approvals.policy)
        return constraint_for(tools, self.model.abilities, self.paths)

    async def account(self, usage: RequestUsage, watch: Stopwatch) -> None:
        """Write down and tell what a request cost that has just been answered."""
        self.session.record(usage, int(watch.seconds() * 1000))
        self.usage = usage
        counts = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        await self.emit(Usage(self.turn, *counts, self.budget.window))

    def announcement(self, after_all_left: bool = False) -> str:
        """The signatures of unlocked tools that the prompt does not have, "" where it has all."""
        said = [self.session.prefix]
        if not after_all_left:
            said += [stored.content for stored in self.session.prompted()]
        missing = [tool for tool in self.unlocked() if not any(tool.signature in text for text in said)]
        return prefix.unlocked_text(missing) if missing else ""


def tools_for(way: Way, *, with_code_context: bool = True) -> tuple[Tool, ...]:
    """All tools for a way of calling: where the server knows calls, an answer is what is said beside them."""
    tools = TOOLS if with_code_context else PLAIN_TOOLS
    return tuple(tool for tool in tools if not (way is Way.NATIVE and tool.name == ANSWER))
