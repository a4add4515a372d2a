"""A model in this process that says what it is told to, and agents that talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from tersely.agent.agent import CodingAgent
from tersely.agent.events import EndReason, Event, TurnEnded
from tersely.agent.models.protocol import (
    Abilities,
    Chunk,
    Constraint,
    Model,
    Prompt,
    RawCall,
    RequestUsage,
    Thinking,
)
from tersely.agent.opening import WantedAgent, open_agent
from tersely.agent.tools.approvals import Verdict
from tersely.agent.tools.toolbox import Choices
from tersely.foundation.text.tokens import count

ANSWER_WORDS = "tersely.cli.printing.recorded_output:answer"
PART_CHARACTERS = 7
GRAMMAR = Abilities(grammar=True, schema=True, tools=False, window=8_192, model="m", family="qwen")
NATIVE = GRAMMAR._replace(grammar=False, schema=False, tools=True)
ALLOWED = Choices(policy=dict.fromkeys(range(4), Verdict.ALLOW))

OPENED = "<|im_start|>assistant\n"  # what opens the answer of a model after a rendered prompt

EventT = TypeVar("EventT")
Said = str | RawCall | Exception | Callable[[Prompt], "Said"]


class Scripted:
    """Says one reply after another, and remembers what it was asked."""

    def __init__(self, replies: Iterable[Said], abilities: Abilities = GRAMMAR) -> None:
        self.abilities = abilities
        self.prompts: list[Prompt] = []
        self.constraints: list[Constraint | None] = []
        self.thinking: list[Thinking] = []
        self.limits: list[int] = []  # tokens of each answer
        self._replies = iter(replies)

    async def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncIterator[Chunk]:
        """The next reply, in parts."""
        self.thinking.append(thinking)
        self.prompts.append(prompt)
        self.constraints.append(constraint)
        self.limits.append(most_tokens)
        said = next(self._replies)
        while callable(said):
            said = said(prompt)
        usage = RequestUsage(sum(count(message.content) for message in prompt), 0, 1)
        if isinstance(said, RawCall):
            yield Chunk(calls=(said,), usage=usage, stop="calls")
            return
        text = said if isinstance(said, str) else "broken "
        for start in range(0, len(text), PART_CHARACTERS):
            yield Chunk(text[start : start + PART_CHARACTERS])
            await asyncio.sleep(0)  # as a server would, let others go on
        if isinstance(said, Exception):
            raise said
        yield Chunk(usage=usage, stop="end")

    async def close(self) -> None:
        """There is nothing to let go of."""


def wanted(root: Path, **more: Any) -> WantedAgent:
    return WantedAgent(root, root.parent / "chats", ANSWER_WORDS, **more)


@asynccontextmanager
async def talking(
    model: Model, root: Path, *, retrieves: bool = False, **more: Any
) -> AsyncIterator[CodingAgent]:
    agent = await open_agent(model, wanted(root, **more))
    agent.conversation.retrieves = retrieves
    try:
        yield agent
    finally:
        await agent.close()
        await model.close()


async def turn(agent: CodingAgent, message: str) -> list[Event]:
    """All that happens in one turn."""
    return [event async for event in agent.run(message)]


def reason_of(events: list[Event]) -> EndReason:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last.reason


def of_kind(events: Iterable[Event], kind: type[EventT]) -> list[EventT]:
    return [event for event in events if isinstance(event, kind)]


def call(tool: str, body: str = "", **arguments: object) -> str:
    """A call as the model writes it."""
    lines = "".join(f"{name}: {value}\n" for name, value in arguments.items())
    return f"<call {tool}>\n{lines}{body}</call>"


def rendered(prompt: Prompt) -> str:
    """A prompt as ChatML has it, which Qwen and others use, without what opens the answer."""
    calls = ["".join(f"<tool_call>{call}" for call in message.calls) for message in prompt]
    return "".join(
        f"<|im_start|>{message.role}\n{message.content}{said}<|im_end|>\n"
        for message, said in zip(prompt, calls, strict=True)
    )
