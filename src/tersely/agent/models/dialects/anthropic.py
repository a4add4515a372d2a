"""Anthropic's Messages API, `POST /v1/messages`.

The prompt is stored in the provider's cache at two places: behind the tools and the system text,
which never change in a session, and behind the last message, where the next request goes on.
Reasoning comes sealed, and goes back as it was with the calls that it led to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from tersely.agent.models.dialects.answers import EventAnswer, count_or_none, number, table, text
from tersely.agent.models.dialects.pairing import pair_calls
from tersely.agent.models.dialects.reasoning import SealedReasoning
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
from tersely.agent.models.wire import Endpoint, parse_json
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_EVENT_BYTES
from tersely.foundation.types import JsonMapping, JsonObject

ANTHROPIC = "anthropic"
VERSION = ("anthropic-version", "2023-06-01")
KEY_HEADER = "x-api-key"
LEAST_THINKING_TOKENS = 1_024  # the smallest budget that the API takes
_CACHED: JsonMapping = {"cache_control": {"type": "ephemeral"}}
_STOPS = {"max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "calls"}
_DECLINED = "refusal"
_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_ADAPTIVE = "adaptive"  # the form of reasoning that older models refuse
_NO_TEXT = "(no text)"  # empty texts are refused


class AnthropicMessages:
    """The dialect of `POST /messages`."""

    path = "/messages"

    def __init__(self) -> None:
        self._reasoning = SealedReasoning()

    def body(self, known: KnownModel, request: ModelRequest) -> JsonObject:
        """See `served.Dialect`."""
        body: JsonObject = {
            "model": known.abilities.model,
            "max_tokens": request.most_tokens,
            "stream": True,
            "messages": self._messages(request.prompt),
        }
        system = _system(request.prompt)
        if system:
            body["system"] = [{"type": "text", "text": system, **_CACHED}]
        if request.constraint is not None:
            body |= _constraint_fields(request.constraint)
        if known.abilities.thinking and request.thinking is not Thinking.DEFAULT:
            body |= _thinking(known, request)
        return {name: value for name, value in body.items() if name not in known.refused}

    def adaptable(self, body: JsonMapping) -> Mapping[str, str]:
        """See `served.Dialect`."""
        if "thinking" not in body:
            return {}
        name = _ADAPTIVE if body["thinking"]["type"] == _ADAPTIVE else "thinking"
        return {
            "thinking": name,
            "thinking.type": name,
            "thinking.type.enabled": name,
            "thinking.type.disabled": name,
        }

    def reader(self, place: Endpoint, request: ModelRequest) -> MessageAnswer:
        """See `served.Dialect`."""
        return MessageAnswer(place, self._reasoning)

    def _messages(self, prompt: Prompt) -> list[JsonObject]:
        """The messages behind the system text, as turns of two sides; the last block ends what is
        cached.
        """
        turns: list[JsonObject] = []
        rest = prompt[1:] if _system(prompt) else prompt
        for message in pair_calls(rest):
            role = "assistant" if message.role == "assistant" else "user"
            blocks = self._blocks(message)
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"] += blocks
            else:
                turns.append({"role": role, "content": blocks})
        if turns and turns[-1]["role"] == "user":
            turns[-1]["content"][-1] |= _CACHED
        return turns

    def _blocks(self, message: ModelMessage) -> list[JsonObject]:
        """The blocks of a message."""
        pictures = [_picture(each) for each in message.pictures]
        if message.call_id:
            said = [{"type": "text", "text": message.content or _NO_TEXT}, *pictures]
            result = {"type": "tool_result", "tool_use_id": _id(message.call_id)}
            return [{**result, "content": said if pictures else message.content}]
        blocks: list[JsonObject] = [dict(item) for item in self._reasoning.before(message)]
        if message.content.strip():
            blocks.append({"type": "text", "text": message.content.rstrip()})
        blocks += pictures
        blocks += [_tool_use(call) for call in message.calls]
        return blocks or [{"type": "text", "text": _NO_TEXT}]


def _system(prompt: Prompt) -> str:
    """The text of the first message, where it is the system's."""
    return prompt[0].content if prompt and prompt[0].role == "system" else ""


def _picture(png: str) -> JsonObject:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": png},
    }


def _tool_use(call: RawCall) -> JsonObject:
    return {
        "type": "tool_use",
        "id": _id(call.id),
        "name": call.name,
        "input": table(parse_json(call.arguments)),
    }


def _id(id: str) -> str:
    """An id that the API takes, of one that another server may have given."""
    return _NOT_IN_AN_ID.sub("_", id)


def _constraint_fields(constraint: Constraint) -> JsonObject:
    if not constraint.tools:
        return {}
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    return {"tools": [_tool(each) for each in constraint.tools], "tool_choice": choice}


def _tool(function: JsonMapping) -> JsonObject:
    made = {"name": function["name"], "input_schema": function["parameters"]}
    return made | ({"description": function["description"]} if function.get("description") else {})


def _thinking(known: KnownModel, request: ModelRequest) -> JsonObject:
    if request.thinking is Thinking.OFF:
        return {"thinking": {"type": "disabled"}}
    if _ADAPTIVE not in known.refused:
        return {"thinking": {"type": _ADAPTIVE, "display": "summarized"}}
    budget = request.most_tokens // 2
    if budget < LEAST_THINKING_TOKENS:
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


class MessageAnswer(EventAnswer):
    """The state of one answer by the events so far."""

    def __init__(self, place: Endpoint, reasoning: SealedReasoning) -> None:
        super().__init__(place)
        self._reasoning = reasoning
        self._thoughts: dict[int, JsonObject] = {}  # blocks of reasoning, by their position
        self._thought_bytes = 0
        self._usage: JsonObject = {}
        self._stop = ""

    def chunks(self, data: str) -> Iterator[Chunk]:
        """See `EventAnswer`."""
        event = self.event(data)
        kind, position = text(event.get("type")), number(event.get("index"))
        chunk = Chunk()
        if kind == "message_start":
            self._usage |= table(table(event.get("message")).get("usage"))
        elif kind == "content_block_start":
            chunk = self._begun(position, table(event.get("content_block")))
        elif kind == "content_block_delta":
            chunk = self._delta(position, table(event.get("delta")))
        elif kind == "message_delta":
            self._stop = text(table(event.get("delta")).get("stop_reason")) or self._stop
            changes = table(event.get("usage"))
            self._usage |= {name: value for name, value in changes.items() if value is not None}
        elif kind == "message_stop":
            self.is_ended = True
        if chunk.text or chunk.thought:
            yield chunk

    def _begun(self, position: int, block: JsonMapping) -> Chunk:
        kind = text(block.get("type"))
        if kind == "tool_use":
            self.calls.add(
                position, text(block.get("name")), _begun_input(block), text(block.get("id"))
            )
        elif kind in {"thinking", "redacted_thinking"}:
            self._thoughts[position] = dict(block)
            return Chunk(thought=text(block.get("thinking")))
        return Chunk(text(block.get("text")))

    def _delta(self, position: int, delta: JsonMapping) -> Chunk:
        kind = text(delta.get("type"))
        if kind == "input_json_delta":
            self.calls.add(position, "", text(delta.get("partial_json")), "")
        elif kind == "thinking_delta":
            self._add_thought(position, "thinking", text(delta.get("thinking")))
        elif kind == "signature_delta":
            self._add_thought(position, "signature", text(delta.get("signature")))
        return Chunk(text(delta.get("text")), thought=text(delta.get("thinking")))

    def _add_thought(self, position: int, field: str, part: str) -> None:
        self._thought_bytes += len(part)
        if self._thought_bytes > MAX_MODEL_EVENT_BYTES:
            raise TerselyError("model_failed", f"{self.place.url} sent reasoning without an end")
        block = self._thoughts.setdefault(position, {"type": "thinking"})
        block[field] = text(block.get(field)) + part

    def last(self) -> Chunk:
        """See `EventAnswer`."""
        if not self.is_ended:
            raise cut_error(self.place)
        calls = tuple(map(_complete, self.calls.complete()))
        if self._stop == _DECLINED:
            raise TerselyError(
                "model_failed", "the model declined to answer", "word the message otherwise"
            )
        self._reasoning.keep(
            calls, [self._thoughts[position] for position in sorted(self._thoughts)]
        )
        stop = "calls" if calls else _STOPS.get(self._stop, "end")
        return Chunk(calls=calls, usage=usage_of(self._usage), stop=stop)


def _begun_input(block: JsonMapping) -> str:
    """The arguments of a call that came whole with its beginning, "" where they follow."""
    arguments = block.get("input")
    return json.dumps(arguments) if isinstance(arguments, dict) and arguments else ""


def _complete(call: RawCall) -> RawCall:
    return call if call.arguments else call._replace(arguments="{}")


def usage_of(usage: JsonMapping) -> RequestUsage:
    """The tokens that an answer reports; what was read from the cache or stored in it is a part of
    the prompt.
    """
    cached = usage.get("cache_read_input_tokens")
    fresh = number(usage.get("input_tokens")) + number(usage.get("cache_creation_input_tokens"))
    thought = table(usage.get("output_tokens_details")).get("thinking_tokens")
    return RequestUsage(
        prompt_tokens=fresh + number(cached),
        cached_tokens=count_or_none(cached),
        completion_tokens=number(usage.get("output_tokens")),
        thought_tokens=count_or_none(thought),
    )
