"""Ollama by its own protocol, `POST /api/chat`: lines of JSON.

Its window is what `num_ctx` says. Where that changes the model is loaded anew, so it is the same in every request;
where it is left out it may be as small as 4,096. A prompt that is too long is cut without a word: newer versions refuse
instead when asked to (`truncate`, `shift`), and whether others have cut is told from the size that they report.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from tersely.agent.models.openai import number
from tersely.agent.models.protocol import Abilities, Chunk, Constraint, Message, Prompt, RawCall, Usage
from tersely.agent.models.wire import Endpoint, is_too_long, opened, parsed, reason_of, refusal
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_CALLS, MAX_MODEL_ERROR_CHARACTERS, MAX_MODEL_EVENT_BYTES
from tersely.foundation.tokens import count

CHAT = "/api/chat"
OLLAMA = "ollama"
KEEP_ALIVE = "30m"  # that the model stays loaded, and what it has evaluated with it
# A vocabulary may make fewer tokens of a text than o200k_base, but not that few.
LEAST_SHARE = 0.6
_STOPS = {"stop": "end", "length": "length"}


class OllamaModel:
    """A model behind `POST /api/chat`, with a window of `abilities.window` tokens."""

    def __init__(self, place: Endpoint, abilities: Abilities) -> None:
        self.abilities = abilities
        self._place = place
        self._sizes = PromptSizes(abilities.window)

    async def stream(self, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> AsyncGenerator[Chunk]:
        """See `protocol.Model`."""
        body = request(self.abilities, prompt, constraint, most_tokens)
        async with opened(self._place, "POST", CHAT, body) as answer:
            if answer.status != 200:
                raise await refusal(self._place, self.abilities.model, answer)
            lines = LineReader()
            calls: list[RawCall] = []
            async for piece in answer.pieces:
                for line in lines.feed(piece):
                    chunk = self._chunk(line, calls)
                    if chunk.usage is not None:
                        self._sizes.check(prompt, chunk.usage.prompt_tokens)
                    if chunk.text or chunk.thought or chunk.stop:
                        yield chunk
                    if chunk.stop:
                        return
        raise TerselyError("model_failed", f"{self._place.url} broke off in the middle of its answer")

    def _chunk(self, line: str, calls: list[RawCall]) -> Chunk:
        said = parsed(line)
        if not isinstance(said, dict):
            shown = repr(line[:MAX_MODEL_ERROR_CHARACTERS])
            raise TerselyError("model_failed", f"{self._place.url} sent what is no JSON: {shown}")
        if said.get("error"):
            code = "window_exceeded" if is_too_long(line) else "model_failed"
            raise TerselyError(
                code, f"{self._place.url} broke off: {reason_of(said) or line[:MAX_MODEL_ERROR_CHARACTERS]}"
            )
        message = said.get("message")
        message = message if isinstance(message, dict) else {}
        calls += _calls(message)
        text, thought = (str(message.get(key) or "") for key in ("content", "thinking"))
        if len(calls) > MAX_MODEL_CALLS:
            raise TerselyError("model_failed", f"{self._place.url} sent calls without an end")
        if not said.get("done"):
            return Chunk(text, thought=thought)
        usage = Usage(number(said.get("prompt_eval_count")), None, number(said.get("eval_count")))
        stop = "calls" if calls else _STOPS.get(str(said.get("done_reason")), "end")
        return Chunk(text, tuple(calls), usage, stop, thought)

    async def close(self) -> None:
        """See `protocol.Model`; nothing stays open between requests."""


def request(abilities: Abilities, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = {
        "model": abilities.model,
        "messages": [_message(each) for each in prompt],
        "stream": True,
        "truncate": False,
        "shift": False,
        "keep_alive": KEEP_ALIVE,
        "options": {"num_ctx": abilities.window, "num_predict": most_tokens},
    }
    if constraint is not None and constraint.schema is not None:
        body["format"] = constraint.schema
    elif constraint is not None and constraint.tools:
        body["tools"] = [{"type": "function", "function": each} for each in constraint.tools]
    return body


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        written["tool_calls"] = [
            {"function": {"name": call.name, "arguments": parsed(call.arguments) or {}}} for call in message.calls
        ]
    if message.call_id:
        written["tool_name"] = message.call_id.rpartition("#")[0] or message.call_id
    return written


def _calls(message: Mapping[str, Any]) -> Iterator[RawCall]:
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name = str(function.get("name") or "")
            yield RawCall(name, json.dumps(function.get("arguments") or {}), str(call.get("id") or f"{name}#"))


class LineReader:
    """Cuts bytes, however they were split on their way, into lines; empty ones are left out."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, received: bytes) -> Iterator[str]:
        """Every line that is complete now; raises `model_failed` for one that is too long."""
        self._rest += received
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if max(map(len, (*lines, rest))) > MAX_MODEL_EVENT_BYTES:
            raise TerselyError("model_failed", f"the server sent a line of more than {MAX_MODEL_EVENT_BYTES:,} bytes")
        yield from (line.decode("utf-8", "replace") for line in lines if line.strip())


class PromptSizes:
    """Whether a server has evaluated the prompts that it was sent, or cut them to fit.

    For each of our tokens a server reports at least LEAST_SHARE. Where a prompt begins with the one before, that holds
    of what was added: it cannot be smaller than it was, and what a template puts around messages does not count.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._before: Prompt = ()
        self._before_tokens = self._before_ours = 0  # as reported, and as we count

    def check(self, prompt: Prompt, reported: int) -> None:
        """Take what was reported of a prompt; raises `window_exceeded` where the server must have cut it."""
        ours = sum(count(message.content) for message in prompt)
        if not reported or not ours:
            return
        has_grown = bool(self._before) and prompt[: len(self._before)] == self._before
        known, new = (self._before_tokens, ours - self._before_ours) if has_grown else (0, ours)
        if reported < known + LEAST_SHARE * new:
            message = f"the server cut the prompt: it has about {ours:,} tokens, and {reported:,} of them were read"
            hint = f"the window is {self._window:,} tokens; ask for a larger one, or compact the session"
            raise TerselyError("window_exceeded", message, hint)
        self._before, self._before_tokens, self._before_ours = prompt, reported, ours
