"""Making room in a window that fills up: whole old turns leave the prompt, and a summary of them
comes at its end.

What stays keeps its place behind the prefix, so a server that can reuse parts of its cache
evaluates hardly anything again; and the history stays in the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from tersely.agent.models.protocol import (
    Constraint,
    Model,
    Prompt,
    RequestUsage,
    Thinking,
)
from tersely.agent.sessions.session import Stored
from tersely.agent.tool_calling import CallFormat, Repetition, ThoughtReader, prose_reader
from tersely.agent.tool_calling.text_call_format import CLOSING, OPENING, start_of
from tersely.agent.tool_calling.thoughts import without_thoughts
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.shortening import shortened
from tersely.foundation.text.tokens import Tokenizer

MIN_SUMMARY_CHARACTERS = 20  # of a summary by a model, below which it says nothing
BY_MODEL, EXTRACTIVE = "model", "extractive"
HEADING = "Summary of what went before:"
REQUEST = (
    "Summarise this session for yourself, as notes: what the user wants, what was found out (paths, symbols, lines), "
    "what was changed, what is left to do. No call, at most 150 words."
)
_LINE_CHARACTERS = 200
_LEAST_CHARACTERS = 40
_LEAST_LINES = 8  # that extracts have room for
_TOKEN_CHARACTERS = 4  # at least, of most texts


class TurnsSummary(NamedTuple):
    """The summary of the turns that leave; `how` it was made, and the `usage` that the model
    reported.
    """

    text: str
    how: str
    usage: RequestUsage | None = None


def first_kept(messages: Sequence[Stored], most_tokens: int, most_of_last: int = 0) -> int:
    """The index at which the newest whole turns that fit begin; `len(messages)` if not even the
    last one fits.

    The last turn may have `most_of_last` tokens if that is more: the next message is probably about
    it.
    """
    kept, spent = len(messages), 0
    for at in range(len(messages) - 1, -1, -1):
        spent += messages[at].tokens
        is_last = messages[at].turn == messages[-1].turn
        if spent > (max(most_tokens, most_of_last) if is_last else most_tokens):
            break
        if at == 0 or messages[at - 1].turn != messages[at].turn:
            kept = at
    return kept


def first_kept_step(messages: Sequence[Stored], most_tokens: int) -> int:
    """The index at which the newest messages that fit begin, never at an answer; the last message
    is always kept.
    """
    kept, spent = len(messages) - 1, messages[-1].tokens
    for at in range(len(messages) - 2, -1, -1):
        spent += messages[at].tokens
        if spent > most_tokens:
            break
        if messages[at].role != "assistant":
            kept = at
    return kept


class SummaryRequest(NamedTuple):
    """The request for a summary: like that for any answer, so that the server has nearly all of the
    prompt in its cache.
    """

    model: Model
    request: Prompt  # the prompt of the session, then REQUEST
    call_format: CallFormat
    constraint: Constraint | None  # only what is a part of the prompt: functions


async def summarised(
    asking: SummaryRequest, leaving: Sequence[Stored], most_tokens: int, tokenizer: Tokenizer
) -> TurnsSummary:
    """A summary by the model, whose prompt still has those turns; one made of extracts if that
    fails.
    """
    parts: list[str] = []
    reader, thoughts, repetition = prose_reader(asking.call_format), ThoughtReader(), Repetition()
    usage, is_stuck = None, False
    try:
        chunks = asking.model.stream(asking.request, asking.constraint, most_tokens, Thinking.OFF)
        async with aclosing(chunks) as stream:  # type: ignore[type-var]
            async for chunk in stream:
                usage = chunk.usage or usage
                if chunk.restarts:
                    parts, reader, thoughts = [], prose_reader(asking.call_format), ThoughtReader()
                parts.append(reader.feed(thoughts.feed(chunk.text).text))
                is_stuck = repetition.feed(chunk.text or chunk.thought)
                if is_stuck:
                    break
    except TerselyError:
        # a server that is gone is noticed by the next request; the turns have to leave all the same
        is_stuck = True
    said = without_thoughts("".join([*parts, reader.feed(thoughts.rest().text), reader.rest()]))
    text = tokenizer.truncate(said.strip(), most_tokens)
    if not is_stuck and len(text) >= MIN_SUMMARY_CHARACTERS and start_of(text, is_strict=False) < 0:
        return TurnsSummary(text, BY_MODEL, usage)
    return TurnsSummary(extracts(leaving, most_tokens, tokenizer), EXTRACTIVE, usage)


def extracts(leaving: Sequence[Stored], most_tokens: int, counter: Tokenizer) -> str:
    """The messages, calls and results of turns, a line each: the first, then the newest that have
    room.
    """
    width = max(
        _LEAST_CHARACTERS, min(_LINE_CHARACTERS, most_tokens // _LEAST_LINES * _TOKEN_CHARACTERS)
    )
    lines = [_cut(line, width) for each in leaving for line in _extract(each)]
    if not lines:
        return ""
    first, rest = lines[0], lines[1:]
    spent = counter.count(f"{first}\n")
    kept: list[str] = []
    for line in reversed(rest):
        spent += counter.count(f"{line}\n")
        if spent > most_tokens:
            break
        kept.append(line)
    return "\n".join([first, *reversed(kept)])


def _extract(stored: Stored) -> list[str]:
    earlier, text = "", stored.content
    if text.startswith(HEADING):
        earlier, _, text = text.removeprefix(HEADING).partition("\n\n")
    lines = earlier.strip().splitlines()
    if stored.role == "assistant":
        start = start_of(text, is_strict=False)
        said, call = (text[:start], text[start:]) if start >= 0 else (text, "")
        called = (
            [call.removeprefix(OPENING).replace(">", "", 1).replace(CLOSING, "")] if call else []
        )
        called += [f"{each.name} {each.arguments}" for each in stored.message().calls]
        return [f"you: {said}"] * bool(said.strip()) + [
            f"you called {each.strip()}" for each in called
        ]
    return [*lines, f"user: {stored.shown}" if stored.shown else f"  {text}"]


def _cut(line: str, characters: int) -> str:
    plain = ("  " if line.startswith("  ") else "") + " ".join(line.split())
    return shortened(plain, characters)
