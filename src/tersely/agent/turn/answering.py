"""One answer of the model: streamed, written down before it is shown, and read for the calls that
it makes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import NamedTuple

from tersely.agent.conversation import Conversation
from tersely.agent.events import AnswerRestarted, NoticeLevel, TextDelta, ThoughtDelta
from tersely.agent.models.protocol import Chunk, Prompt, RawCall, RequestUsage, Thinking
from tersely.agent.sessions.session import MessageDraft
from tersely.agent.tool_calling import (
    CallFormat,
    MalformedCall,
    Reading,
    Repetition,
    ThoughtReader,
    ToolCall,
    prose_reader,
    read_calls,
    read_raw_call,
)
from tersely.agent.tool_calling.thoughts import without_thoughts
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id

STUCK, LENGTH = "stuck", "length"
ANNOUNCED = "calls"  # why an answer ended, by its server


class ModelAnswer(NamedTuple):
    """The answer of the model, and the calls in it; `stop` says why it ended."""

    calls: tuple[ToolCall | MalformedCall, ...]
    stop: str
    is_empty: bool = False  # neither a word nor a call


async def answer(
    conversation: Conversation, thinking: Thinking, *, may_call: bool = True
) -> ModelAnswer:
    """Ask the model with the prompt as it is, and append what it answers; who may not call has all
    of it taken for prose.
    """
    await conversation.declare()
    watch, prompt = Stopwatch(), conversation.prompt()
    incoming = _Incoming(conversation, prompt, watch)
    try:
        await incoming.read(
            conversation.model.stream(
                prompt,
                conversation.constraint(may_call=may_call),
                _most_tokens(conversation, prompt, thinking),
                thinking,
            )
        )
    except (asyncio.CancelledError, TerselyError):
        incoming.record_broken()
        raise
    text, shown = await incoming.ended()
    is_stuck = incoming.stop == STUCK
    has_calls = may_call and not is_stuck
    read = _read(conversation, text, incoming.raw) if has_calls else Reading((), len(text))
    if conversation.call_format is CallFormat.NATIVE and not incoming.raw:
        read, raw = _as_functions(read)
        incoming.raw += raw
        text = text[: read.start].rstrip() if raw else text
    conversation.session.add(
        MessageDraft(
            "assistant",
            text,
            conversation.count(text),
            conversation.turn,
            None if shown == text else shown,
            incoming.raw,
        )
    )
    await _account(conversation, incoming, prompt, watch, is_usual=may_call)
    if is_stuck:
        return ModelAnswer((), STUCK)
    if not may_call:
        return ModelAnswer((), incoming.stop, is_empty=not shown.strip())
    calls = read.calls
    if not calls and incoming.stop == LENGTH and incoming.is_repeating:
        return ModelAnswer((), STUCK)
    if not calls and incoming.stop == ANNOUNCED:
        calls = (MalformedCall("the server says that this is a call, but none can be read in it"),)
    return ModelAnswer(calls, incoming.stop, is_empty=not calls and not shown.strip())


async def _account(
    conversation: Conversation,
    incoming: _Incoming,
    prompt: Prompt,
    watch: Stopwatch,
    *,
    is_usual: bool,
) -> None:
    """Note the tokens of a request: as the server counted them, or as they are estimated where
    the answer was broken off. One that is not usual went without what others declare.
    """
    usage = incoming.usage or incoming.estimated()
    is_counted = incoming.usage is not None
    if is_counted and is_usual and usage.prompt_tokens <= conversation.budget.window:
        # no server reads more than it has room for
        conversation.gauge.told(prompt, usage)
    if incoming.raw and conversation.model.abilities.returns_reasoning:
        thought = max(usage.thought_tokens or 0, incoming.thought_tokens)
        conversation.gauge.reasoned(tuple(incoming.raw), thought)
    if is_counted or incoming.stop == STUCK:
        await conversation.account(usage, watch, is_estimated=not is_counted)


def _most_tokens(conversation: Conversation, prompt: Prompt, thinking: Thinking) -> int:
    """The limit of an answer: its share of the window, and as much again for thoughts, as far as
    there is room.
    """
    thinks = thinking is not Thinking.OFF and conversation.thinks
    share = conversation.budget.reply * (1 + thinks)
    return min(share, conversation.budget.window - conversation.gauge.tokens(prompt))


class _Incoming:
    """An answer as it comes in: its text without thoughts, what of it is shown, and how it ended."""

    def __init__(self, conversation: Conversation, prompt: Prompt, watch: Stopwatch) -> None:
        self.raw: list[RawCall] = []
        self.usage: RequestUsage | None = None
        self.stop = ""
        self._conversation = conversation
        self._prompt = prompt
        self._watch = watch
        self._is_answered = False  # by the attempt that is being made, with anything
        self._received: list[str] = []  # of this attempt
        conversation.has_shown = False
        self._begin()

    def _begin(self) -> None:
        self._thoughts = ThoughtReader()
        self._reader = prose_reader(self._conversation.call_format, self._conversation.tools)
        self._repetition = Repetition()
        self._texts: list[str] = []
        self._prose: list[str] = []
        self.thought_tokens = 0

    async def read(self, chunks: AsyncIterator[Chunk]) -> None:
        """Take all chunks, up to where the answer ends or repeats itself."""
        async with aclosing(chunks) as stream:  # type: ignore[type-var]
            async for chunk in stream:
                await self._take(chunk)
                if self.stop == STUCK:
                    return

    def record_broken(self) -> None:
        """Count an attempt that has ended early: a server counts what it did, whoever waits for the
        answer.
        """
        if not self._is_answered:
            return
        completion = self._conversation.count("".join(self._received))
        usage = RequestUsage(self._conversation.gauge.tokens(self._prompt), None, completion)
        self._conversation.session.record(usage, int(self._watch.seconds() * 1000))
        self._is_answered = False
        self._received.clear()

    async def _take(self, chunk: Chunk) -> None:
        if chunk.begins_attempt:
            self.record_broken()
        else:
            self._is_answered = True
        self._received += [chunk.thought, chunk.text, *(call.arguments for call in chunk.calls)]
        if chunk.notice:
            await self._conversation.notice(NoticeLevel.WARNING, chunk.notice)
        if chunk.restarts:
            self._conversation.session.drop_draft()
            self._begin()
            await self._conversation.emit(AnswerRestarted(self._conversation.turn))
        self.raw += chunk.calls
        self.usage, self.stop = chunk.usage or self.usage, chunk.stop or self.stop
        split = self._thoughts.feed(chunk.text)
        await self._add_thought(chunk.thought + split.thought)
        await self._add_text(split.text)
        is_data = self._reader.is_within_call
        if self._repetition.feed(chunk.text or chunk.thought, is_data):
            self.stop = STUCK

    async def _add_text(self, text: str) -> None:
        self._texts.append(text)
        await self._show(self._reader.feed(text))

    async def _add_thought(self, thought: str) -> None:
        if thought:
            self._conversation.thinks = True
            self.thought_tokens += self._conversation.count(thought)
            await self._conversation.emit(ThoughtDelta(self._conversation.turn, thought))

    async def _show(self, text: str) -> None:
        if text:
            self._prose.append(text)
            self._conversation.has_shown = True
            self._conversation.session.keep_draft(text)
            await self._conversation.emit(TextDelta(self._conversation.turn, text))

    async def ended(self) -> tuple[str, str]:
        """The whole text, and what of it is shown; both without thoughts."""
        rest = self._thoughts.rest()
        await self._add_thought(rest.thought)
        await self._add_text(rest.text)
        await self._show(self._reader.rest())
        return without_thoughts("".join(self._texts)), without_thoughts("".join(self._prose))

    def estimated(self) -> RequestUsage:
        """Our own count of a request that was stopped."""
        completion = self._conversation.count("".join(self._texts)) + self.thought_tokens
        prompt = self._conversation.gauge.tokens(self._prompt)
        return RequestUsage(prompt, None, completion, thought_tokens=self.thought_tokens)

    @property
    def is_repeating(self) -> bool:
        """True if its end repeats itself."""
        return self._repetition.is_repeating


def _read(conversation: Conversation, text: str, raw: list[RawCall]) -> Reading:
    """The calls that the server has read, else those in the text."""
    tools, paths = conversation.tools, conversation.paths
    if raw:
        return Reading(tuple(read_raw_call(each, tools, paths) for each in raw), len(text))
    return read_calls(text, tools, paths, conversation.call_format)


def _as_functions(read: Reading) -> tuple[Reading, list[RawCall]]:
    """Calls that the model wrote as text, as if its server had read them: a model that reads the
    results as a user's words makes the same calls again. Where one names no tool they stay text.
    """
    if not all(call.tool for call in read.calls):
        return read, []
    calls = tuple(call._replace(id=f"call_{new_id()}") for call in read.calls)
    raw = [
        RawCall(call.tool, json.dumps(dict(call.arguments), ensure_ascii=False), call.id)
        for call in calls
    ]
    return Reading(calls, read.start), raw
