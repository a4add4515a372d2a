"""Servers that speak OpenAI's chat completions: llama.cpp's, vLLM, LM Studio, hosted ones.

llama.cpp's takes grammars, and tells the window, the template and the tokens of a prompt; what others leave out is
simply not asked of them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from tersely.agent.models.protocol import Abilities, Chunk, Constraint, Message, Prompt, RawCall, Usage
from tersely.agent.models.sse import EventReader
from tersely.agent.models.wire import Endpoint, is_too_long, opened, parsed, reason_of, refusal
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_CALLS, MAX_MODEL_ERROR_CHARACTERS, MAX_MODEL_EVENT_BYTES

CHAT = "/v1/chat/completions"
LLAMA_CPP = "llama.cpp"
_LARGEST_COUNT = 2**53  # exact in every reader of JSON, and more tokens than anybody has
_STOPS = {"stop": "end", "length": "length", "tool_calls": "calls", "function_call": "calls"}


class OpenAIModel:
    """A model behind `POST /v1/chat/completions`."""

    def __init__(self, place: Endpoint, abilities: Abilities) -> None:
        self.abilities = abilities
        self._place = place

    async def stream(self, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> AsyncGenerator[Chunk]:
        """See `protocol.Model`."""
        body = request(self.abilities, prompt, constraint, most_tokens)
        async with opened(self._place, "POST", CHAT, body) as answer:
            if answer.status != 200:
                raise await refusal(self._place, self.abilities.model, answer)
            reading = _Reading(self._place)
            events = EventReader()
            async for piece in answer.pieces:
                for data in events.feed(piece):
                    for chunk in reading.chunks(data):
                        yield chunk
            yield reading.last()

    async def close(self) -> None:
        """See `protocol.Model`; nothing stays open between requests."""


def request(abilities: Abilities, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = {
        "model": abilities.model,
        "messages": [_message(each) for each in prompt],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": most_tokens,
    }
    if abilities.server == LLAMA_CPP:
        body["cache_prompt"] = True
    if constraint is None:
        return body
    if constraint.grammar:
        body["grammar"] = constraint.grammar
    elif constraint.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": constraint.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif constraint.tools:
        body["tools"] = [{"type": "function", "function": each} for each in constraint.tools]
        body["parallel_tool_calls"] = False
    return body


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.call_id:
        written["tool_call_id"] = message.call_id
    return written


class _Reading:
    """What the events of one answer have said so far."""

    def __init__(self, place: Endpoint) -> None:
        self._place = place
        self._calls: dict[int, RawCall] = {}
        self._call_bytes = 0
        self._usage: Usage | None = None
        self._stop = ""

    def chunks(self, data: str) -> list[Chunk]:
        """What one event adds; raises where it reports an error or is nothing that one could read."""
        if data.strip() == "[DONE]":
            self._stop = self._stop or "stop"
            return []
        event = parsed(data)
        if not isinstance(event, dict):
            raise TerselyError("model_failed", f"{self._place.url} sent what is no JSON: {_shown(data)}")
        if event.get("error"):
            raise self._told_error(event, data)
        if isinstance(event.get("usage"), dict):
            self._usage = usage_of(event)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            raise TerselyError("model_failed", f"{self._place.url} sent an event without a choice: {_shown(data)}")
        self._stop = str(choice.get("finish_reason") or self._stop)
        delta = choice.get("delta")
        return self._deltas(delta) if isinstance(delta, dict) else []

    def _told_error(self, event: Mapping[str, Any], data: str) -> TerselyError:
        code = "window_exceeded" if is_too_long(data) else "model_failed"
        return TerselyError(code, f"{self._place.url} broke off: {reason_of(event) or _shown(data)}")

    def _deltas(self, delta: Mapping[str, Any]) -> list[Chunk]:
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._add(call)
        text = delta.get("content")
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        chunk = Chunk(text if isinstance(text, str) else "", thought=thought if isinstance(thought, str) else "")
        return [chunk] if chunk.text or chunk.thought else []

    def _add(self, part: Any) -> None:
        """A call comes in parts that say which one they belong to; the first names it, all add to its arguments."""
        if not isinstance(part, dict) or not isinstance(part.get("function"), dict):
            raise TerselyError("model_failed", f"{self._place.url} sent a call that is none: {_shown(str(part))}")
        at = number(part.get("index"))
        known = self._calls.get(at, RawCall("", ""))
        function = part["function"]
        name, arguments = (function.get(key) or "" for key in ("name", "arguments"))
        if isinstance(arguments, dict):  # some servers send an object where OpenAI sends its text
            arguments = json.dumps(arguments)
        self._call_bytes += len(str(arguments))
        if len(self._calls) > MAX_MODEL_CALLS or self._call_bytes > MAX_MODEL_EVENT_BYTES:
            raise TerselyError("model_failed", f"{self._place.url} sent calls without an end")
        self._calls[at] = RawCall(
            known.name or str(name), known.arguments + str(arguments), known.id or str(part.get("id") or "")
        )

    def last(self) -> Chunk:
        """The chunk that ends the answer; raises where the server never said that it has ended."""
        if not self._stop:
            raise TerselyError("model_failed", f"{self._place.url} broke off in the middle of its answer")
        calls = tuple(self._calls[at] for at in sorted(self._calls))
        stop = "calls" if calls else _STOPS.get(self._stop, "end")
        return Chunk(calls=calls, usage=self._usage, stop=stop)


def usage_of(event: Mapping[str, Any]) -> Usage:
    """The tokens that an event reports. llama.cpp also has them in `timings`, which older versions report alone."""
    usage, timings = (_table(event.get(key)) for key in ("usage", "timings"))
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = timings.get("cache_n") if cached is None else cached
    return Usage(
        number(usage.get("prompt_tokens")),
        number(cached) if cached is not None else None,
        number(usage.get("completion_tokens")),
    )


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def number(value: Any) -> int:
    """A count that a server reports, 0 for what is none."""
    return value if isinstance(value, int) and 0 < value <= _LARGEST_COUNT else 0


def _shown(data: str) -> str:
    return repr(data[:MAX_MODEL_ERROR_CHARACTERS])
