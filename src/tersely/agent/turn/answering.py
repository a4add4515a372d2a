"""One answer of the model: streamed, written down before it is shown, and read for the calls that it makes."""

from __future__ import annotations

from contextlib import aclosing
from typing import NamedTuple

from tersely.agent.calling import Call, Malformed, Repetition, prose_reader, read_call
from tersely.agent.conversation import Conversation
from tersely.agent.events import TextDelta
from tersely.agent.models.protocol import RawCall
from tersely.agent.models.protocol import Usage as RequestUsage
from tersely.agent.sessions.session import Draft
from tersely.foundation.clock import Stopwatch

STUCK, LENGTH = "stuck", "length"


class Answer(NamedTuple):
    """What the model said, and the calls in it; `stop` says why it ended."""

    calls: tuple[Call | Malformed, ...]
    stop: str
    is_empty: bool = False  # neither a word nor a call


async def answer(talk: Conversation) -> Answer:
    """Ask the model with the prompt as it is, and append what it answers."""
    watch, prompt = Stopwatch(), talk.session.prompt()
    room = talk.budget.window - talk.gauge.tokens(prompt)
    reader, repetition = prose_reader(talk.way), Repetition()
    texts: list[str] = []
    prose: list[str] = []
    raw: list[RawCall] = []
    usage: RequestUsage | None = None
    stop = ""
    async with aclosing(talk.model.stream(prompt, talk.constraint(), min(talk.budget.reply, room))) as stream:  # type: ignore[type-var]
        async for chunk in stream:
            texts.append(chunk.text)
            raw += chunk.calls
            usage, stop = chunk.usage or usage, chunk.stop or stop
            prose.append(await _show(talk, reader.feed(chunk.text)))
            if repetition.feed(chunk.text or chunk.thought):
                stop = STUCK
                break
    prose.append(await _show(talk, reader.rest()))
    text, shown = "".join(texts), "".join(prose)
    draft = Draft("assistant", text, talk.count(text), talk.turn, None if shown == text else shown, raw)
    talk.session.add(draft)
    if usage is not None:
        if usage.prompt_tokens <= talk.budget.window:  # no server reads more than it has room for
            talk.gauge.told(prompt, usage)
        await talk.account(usage, watch)
    if stop == STUCK:
        return Answer((), STUCK)
    calls = _calls(talk, text, raw)
    return Answer(calls, stop, is_empty=not calls and not shown.strip())


def _calls(talk: Conversation, text: str, raw: list[RawCall]) -> tuple[Call | Malformed, ...]:
    if raw:
        read = [read_call(each, talk.tools, talk.paths, talk.way) for each in raw]
    else:
        read = [read_call(text, talk.tools, talk.paths, talk.way)]
    return tuple(each for each in read if each is not None)


async def _show(talk: Conversation, text: str) -> str:
    if text:
        talk.session.keep_draft(text)
        await talk.emit(TextDelta(talk.turn, text))
    return text
