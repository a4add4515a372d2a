"""Ollama by its own protocol, `POST /api/chat`: lines of JSON.

Its window is what `num_ctx` says. Where that changes the model is loaded anew, so it is the same in
every request; where it is left out it may be as small as 4,096. A prompt that is too long is cut
without a word: newer versions refuse instead when asked to (`truncate`, `shift`), and whether
others have cut is told from the size that they report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tersely.agent.models.dialects.answers import number, object_in, table
from tersely.agent.models.protocol import (
    Chunk,
    ModelMessage,
    Prompt,
    RawCall,
    RequestUsage,
    Thinking,
)
from tersely.agent.models.refusals import cut_error, stream_error
from tersely.agent.models.served import KnownModel, ModelRequest
from tersely.agent.models.wire import Endpoint, parse_json
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_CALLS, MAX_MODEL_EVENT_BYTES
from tersely.foundation.text.tokens import count
from tersely.foundation.types import JsonMapping, JsonObject

OLLAMA = "ollama"
KEEP_ALIVE = "30m"  # that the model stays loaded, and what it has evaluated with it
# A vocabulary may make fewer tokens of a text than o200k_base, but not that few.
LEAST_SHARE = 0.6
_STOPS = {"stop": "end", "length": "length"}


class OllamaChat:
    """The dialect of `POST /api/chat`, with a window of `window` tokens."""

    path = "/api/chat"

    def __init__(self, window: int) -> None:
        self._sizes = PromptSizes(window)

    def body(self, known: KnownModel, request: ModelRequest) -> JsonObject:
        """See `served.Dialect`."""
        body: JsonObject = {
            "model": known.abilities.model,
            "messages": [_message(each) for each in request.prompt],
            "stream": True,
            "truncate": False,
            "shift": False,
            "keep_alive": KEEP_ALIVE,
            "options": {"num_ctx": known.abilities.window, "num_predict": request.most_tokens},
        }
        if known.abilities.thinking and request.thinking is not Thinking.DEFAULT:
            body["think"] = request.thinking is Thinking.ON
        constraint = request.constraint
        if constraint is not None and constraint.schema is not None:
            body["format"] = constraint.schema
        elif constraint is not None and constraint.tools:
            body["tools"] = [{"type": "function", "function": each} for each in constraint.tools]
        return {name: value for name, value in body.items() if name not in known.refused}

    def adaptable(self, body: JsonMapping) -> Mapping[str, str]:
        """See `served.Dialect`."""
        words = {"think": "think", "thinking": "think"}
        return words if "think" in body else {}

    def reader(self, place: Endpoint, request: ModelRequest) -> OllamaAnswer:
        """See `served.Dialect`."""
        return OllamaAnswer(place, request.prompt, self._sizes)


class OllamaAnswer:
    """The state of one answer by the lines so far."""

    def __init__(self, place: Endpoint, prompt: Prompt, sizes: PromptSizes) -> None:
        self._place = place
        self._prompt = prompt
        self._sizes = sizes
        self._lines = LineReader()
        self._calls: list[RawCall] = []

    def feed(self, received: bytes) -> Iterator[Chunk]:
        """See `served.AnswerReader`."""
        for line in self._lines.feed(received):
            chunk = self._chunk(line)
            if chunk.usage is not None:
                self._sizes.check(self._prompt, chunk.usage.prompt_tokens)
            if chunk.text or chunk.thought or chunk.stop:
                yield chunk

    def last(self) -> Chunk:
        """See `served.AnswerReader`; the last line has ended the answer before."""
        raise cut_error(self._place)

    def _chunk(self, line: str) -> Chunk:
        event = object_in(self._place, line)
        if event.get("error"):
            raise stream_error(self._place, event["error"], line)
        message = table(event.get("message"))
        self._calls += _calls(message)
        text, thought = (str(message.get(key) or "") for key in ("content", "thinking"))
        if len(self._calls) > MAX_MODEL_CALLS:
            raise TerselyError("model_failed", f"{self._place.url} sent calls without an end")
        if not event.get("done"):
            return Chunk(text, thought=thought)
        usage = RequestUsage(
            number(event.get("prompt_eval_count")), None, number(event.get("eval_count"))
        )
        stop = "calls" if self._calls else _STOPS.get(str(event.get("done_reason")), "end")
        return Chunk(text, tuple(self._calls), usage, stop, thought)


def _message(message: ModelMessage) -> JsonObject:
    written: JsonObject = {"role": message.role, "content": message.content}
    if message.calls:
        written["tool_calls"] = [
            {"function": {"name": call.name, "arguments": table(parse_json(call.arguments))}}
            for call in message.calls
        ]
    if message.pictures:
        written["images"] = list(message.pictures)
    if message.call_id:
        written["tool_name"] = message.call_id.rpartition("#")[0] or message.call_id
    return written


def _calls(message: JsonMapping) -> Iterator[RawCall]:
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name = str(function.get("name") or "")
            yield RawCall(
                name, json.dumps(function.get("arguments") or {}), str(call.get("id") or f"{name}#")
            )


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
            raise TerselyError(
                "model_failed",
                f"the server sent a line of more than {MAX_MODEL_EVENT_BYTES:,} bytes",
            )
        yield from (line.decode("utf-8", "replace") for line in lines if line.strip())


class PromptSizes:
    """The sizes of prompts by which is told whether a server has evaluated them or cut them to fit.

    For each of our tokens a server reports at least LEAST_SHARE. Where a prompt begins with the one
    before, that holds of what was added: it cannot be smaller than it was, and what a template puts
    around messages does not count.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._before: Prompt = ()
        self._before_tokens = self._before_ours = 0  # as reported, and as we count

    def check(self, prompt: Prompt, reported: int) -> None:
        """Take what was reported of a prompt; raises `window_exceeded` where the server must have
        cut it.
        """
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
