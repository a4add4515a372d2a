"""OpenAI's chat completions: llama.cpp's server, vLLM, LM Studio, and most hosted ones.

llama.cpp's takes grammars, and tells the window, the template and the tokens of a prompt; what
others leave out is simply not asked of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tersely.agent.models.dialects.answers import (
    EventAnswer,
    arguments_text,
    count_or_none,
    excerpt,
    number,
    table,
    text,
)
from tersely.agent.models.dialects.pairing import pair_calls
from tersely.agent.models.protocol import (
    Chunk,
    Constraint,
    ModelMessage,
    Prompt,
    RawCall,
    RequestUsage,
    Thinking,
)
from tersely.agent.models.refusals import cut_error
from tersely.agent.models.served import KnownModel, ModelRequest
from tersely.agent.models.wire import Endpoint
from tersely.foundation.errors import TerselyError
from tersely.foundation.ids import new_id
from tersely.foundation.types import JsonMapping, JsonObject

LLAMA_CPP = "llama.cpp"
_STOPS = {"stop": "end", "length": "length", "tool_calls": "calls", "function_call": "calls"}
# What a server may refuse without harm, by the words that its refusal uses.
_OPTIONAL = (
    "stream_options",
    "parallel_tool_calls",
    "cache_prompt",
    "chat_template_kwargs",
)
_NEWER_LIMIT = "max_completion_tokens"  # what newer models want instead of `max_tokens`


class ChatCompletions:
    """The dialect of `POST /chat/completions`."""

    path = "/chat/completions"

    def body(self, known: KnownModel, request: ModelRequest) -> JsonObject:
        """See `served.Dialect`."""
        most = _NEWER_LIMIT if _NEWER_LIMIT in known.refused else "max_tokens"
        body: JsonObject = {
            "model": known.abilities.model,
            "messages": _messages(pair_calls(request.prompt)),
            "stream": True,
            "stream_options": {"include_usage": True},
            most: request.most_tokens,
        }
        if known.abilities.server == LLAMA_CPP:
            body |= _for_llama_cpp(request)
        if request.constraint is not None:
            body |= _constraint_fields(request.constraint)
        return {
            name: value
            for name, value in body.items()
            if name not in known.refused or name == _NEWER_LIMIT
        }

    def adaptable(self, body: JsonMapping) -> Mapping[str, str]:
        """See `served.Dialect`."""
        names = {name: name for name in _OPTIONAL if name in body}
        if "max_tokens" in body:
            names[_NEWER_LIMIT] = _NEWER_LIMIT
        return names

    def reader(self, place: Endpoint, request: ModelRequest) -> ChatAnswer:
        """See `served.Dialect`."""
        return ChatAnswer(place)


def _for_llama_cpp(request: ModelRequest) -> JsonObject:
    body: JsonObject = {"cache_prompt": True}
    if request.thinking is not Thinking.DEFAULT:
        body["chat_template_kwargs"] = {"enable_thinking": request.thinking is Thinking.ON}
    return body


def _constraint_fields(constraint: Constraint) -> JsonObject:
    if constraint.grammar:
        return {"grammar": constraint.grammar}
    if constraint.schema is not None:
        answer = {"name": "answer", "schema": constraint.schema}
        return {"response_format": {"type": "json_schema", "json_schema": answer}}
    if not constraint.tools:
        return {}
    tools = [{"type": "function", "function": each} for each in constraint.tools]
    return {"tools": tools, "parallel_tool_calls": False}


def _messages(prompt: Prompt) -> list[JsonObject]:
    """The messages as they are sent. What answers a call is text alone, so its pictures follow as
    the user's, behind the answers to all calls of a message.
    """
    written: list[JsonObject] = []
    pictures: list[str] = []
    for message in prompt:
        if pictures and not message.call_id:
            written.append(_seen(pictures))
            pictures = []
        written.append(_message(message))
        if message.call_id:
            pictures += message.pictures
    if pictures:
        written.append(_seen(pictures))
    return written


def _seen(pictures: Sequence[str]) -> JsonObject:
    return {"role": "user", "content": [_picture(each) for each in pictures]}


def _picture(png: str) -> JsonObject:
    return {"type": "image_url", "image_url": {"url": data_url(png)}}


def data_url(png: str) -> str:
    """The URL that a picture in Base64 is."""
    return f"data:image/png;base64,{png}"


def _message(message: ModelMessage) -> JsonObject:
    written: JsonObject = {"role": message.role, "content": message.content}
    if message.pictures and not message.call_id:
        said = {"type": "text", "text": message.content}
        written["content"] = [said, *(_picture(each) for each in message.pictures)]
    if message.calls:
        written["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    if message.call_id:
        written["tool_call_id"] = message.call_id
    return written


class ChatAnswer(EventAnswer):
    """The state of one answer by the events so far."""

    def __init__(self, place: Endpoint) -> None:
        super().__init__(place)
        self._usage: RequestUsage | None = None
        self._stop = ""

    def chunks(self, data: str) -> Iterator[Chunk]:
        """See `EventAnswer`."""
        if data.strip() == "[DONE]":
            self._stop = self._stop or "stop"
            self.is_ended = True
            return
        event = self.event(data)
        if isinstance(event.get("usage"), dict):
            self._usage = usage_of(event)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            raise TerselyError(
                "model_failed", f"{self.place.url} sent an event without a choice: {excerpt(data)}"
            )
        self._stop = str(choice.get("finish_reason") or self._stop)
        chunk = self._delta(table(choice.get("delta")))
        if chunk.text or chunk.thought:
            yield chunk

    def _delta(self, delta: JsonMapping) -> Chunk:
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._add(call)
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        return Chunk(text(delta.get("content")), thought=text(thought))

    def _add(self, part: Any) -> None:
        if not isinstance(part, dict) or not isinstance(part.get("function"), dict):
            raise TerselyError(
                "model_failed", f"{self.place.url} sent a call that is none: {excerpt(str(part))}"
            )
        function = part["function"]
        arguments = arguments_text(function.get("arguments"))
        self.calls.add(
            number(part.get("index")),
            str(function.get("name") or ""),
            arguments,
            str(part.get("id") or ""),
        )

    def last(self) -> Chunk:
        """See `EventAnswer`."""
        if not self._stop:
            raise cut_error(self.place)
        calls = tuple(map(_with_id, self.calls.complete()))
        stop = "calls" if calls else _STOPS.get(self._stop, "end")
        return Chunk(calls=calls, usage=self._usage, stop=stop)


def _with_id(call: RawCall) -> RawCall:
    """A call with an id, which some servers do not give and others want with its answer."""
    return call if call.id else call._replace(id=f"call_{new_id()}")


def usage_of(event: JsonMapping) -> RequestUsage:
    """The tokens that an event reports. llama.cpp also has them in `timings`, which older versions
    report alone.
    """
    usage, timings = table(event.get("usage")), table(event.get("timings"))
    details = table(usage.get("prompt_tokens_details"))
    cached = details.get(
        "cached_tokens", usage.get("prompt_cache_hit_tokens", timings.get("cache_n"))
    )
    return RequestUsage(
        number(usage.get("prompt_tokens")),
        count_or_none(cached),
        number(usage.get("completion_tokens")),
        count_or_none(table(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )
