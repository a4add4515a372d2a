"""OpenAI's Responses API, `POST /v1/responses`.

Nothing is stored at the provider: every request has the whole prompt, and reasoning comes sealed
and goes back with the calls that it led to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tersely.agent.models.dialects.answers import EventAnswer, count_or_none, number, table, text
from tersely.agent.models.dialects.openai import data_url, drop_optional_nulls, is_strict
from tersely.agent.models.dialects.pairing import pair_calls
from tersely.agent.models.dialects.reasoning import Item, SealedReasoning
from tersely.agent.models.dialects.strict_schema import strict_form
from tersely.agent.models.protocol import Chunk, Constraint, Message, Prompt, Thinking, Usage
from tersely.agent.models.refusals import cut_error, stream_error
from tersely.agent.models.served import Known, Request
from tersely.agent.models.wire import Endpoint

RESPONSES = "responses"
LEAST_OUTPUT_TOKENS = 16  # the smallest limit that the API takes
_SEALED = "reasoning.encrypted_content"
# the first that is not refused
_EFFORTS = {Thinking.ON: ("medium",), Thinking.OFF: ("none", "minimal", "low")}
_OPTIONAL = ("include", "parallel_tool_calls", "tool_choice")
_TEXT_EVENTS = {"response.output_text.delta", "response.refusal.delta"}
_THOUGHT_EVENTS = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
_END_EVENTS = {"response.completed", "response.incomplete"}
_CUT_REASON = "max_output_tokens"


class Responses:
    """The dialect of `POST /responses`."""

    path = "/responses"

    def __init__(self) -> None:
        self._reasoning = SealedReasoning()

    def body(self, known: Known, request: Request) -> dict[str, Any]:
        """See `served.Dialect`."""
        body: dict[str, Any] = {
            "model": known.abilities.model,
            "input": self._items(request.prompt),
            "max_output_tokens": max(request.most_tokens, LEAST_OUTPUT_TOKENS),
            "store": False,
            "stream": True,
        }
        if request.constraint is not None:
            body |= _constraint_fields(known, request.constraint)
        if known.abilities.thinking:
            body["include"] = [_SEALED]
            body["reasoning"] = _reasoning(known, request.options.thinking)
        return {
            name: value for name, value in body.items() if name not in known.refused and value != {}
        }

    def adaptable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        """See `served.Dialect`."""
        names = {name: name for name in _OPTIONAL if name in body}
        if "include" in body:
            names |= {"encrypted content": "include", _SEALED: "include"}
        reasoning = table(body.get("reasoning"))
        if "summary" in reasoning:
            names |= {"reasoning.summary": "summary", "reasoning summaries": "summary"}
        if "effort" in reasoning:
            names["reasoning.effort"] = f"effort {reasoning['effort']}"
        if any(each["strict"] for each in body.get("tools", ())):
            names["strict"] = "strict"
        return names

    def reader(self, place: Endpoint, request: Request) -> ResponseAnswer:
        """See `served.Dialect`."""
        return ResponseAnswer(place, self._reasoning)

    def _items(self, prompt: Prompt) -> list[Item]:
        return [item for message in pair_calls(prompt) for item in self._of_message(message)]

    def _of_message(self, message: Message) -> Iterator[Item]:
        if message.call_id:
            yield {
                "type": "function_call_output",
                "call_id": message.call_id,
                "output": _content(message),
            }
            return
        yield from self._reasoning.before(message)
        if message.content or not message.calls:
            yield {"role": message.role, "content": _content(message)}
        for call in message.calls:
            yield {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }


def _content(message: Message) -> str | list[dict[str, str]]:
    """The text of a message, as a part beside its pictures where it has any."""
    if not message.pictures:
        return message.content
    pictures = [
        {"type": "input_image", "image_url": data_url(each), "detail": "auto"}
        for each in message.pictures
    ]
    return [{"type": "input_text", "text": message.content}, *pictures]


def _constraint_fields(known: Known, constraint: Constraint) -> dict[str, Any]:
    if constraint.schema is not None:
        schema = strict_form(constraint.schema) if is_strict(known) else constraint.schema
        answer = {
            "type": "json_schema",
            "name": "answer",
            "schema": schema,
            "strict": is_strict(known),
        }
        return {"text": {"format": answer}}
    if not constraint.tools:
        return {}
    body: dict[str, Any] = {
        "tools": [_tool(known, each) for each in constraint.tools],
        "parallel_tool_calls": False,
    }
    if constraint.allowed and known.abilities.restricts_tools:
        allowed = [{"type": "function", "name": name} for name in constraint.allowed]
        body["tool_choice"] = {"type": "allowed_tools", "mode": "auto", "tools": allowed}
    return body


def _tool(known: Known, function: Mapping[str, Any]) -> dict[str, Any]:
    parameters = strict_form(function["parameters"]) if is_strict(known) else function["parameters"]
    made = {
        "type": "function",
        "name": function["name"],
        "parameters": parameters,
        "strict": is_strict(known),
    }
    return made | ({"description": function["description"]} if function.get("description") else {})


def _reasoning(known: Known, thinking: Thinking) -> dict[str, str]:
    """The reasoning that is asked of the model: a summary to show, unless refused, and an effort
    that is not refused.
    """
    asked = {} if "summary" in known.refused else {"summary": "auto"}
    efforts = (
        effort for effort in _EFFORTS.get(thinking, ()) if f"effort {effort}" not in known.refused
    )
    effort = next(efforts, "")
    return {**asked, "effort": effort} if effort else asked


class ResponseAnswer(EventAnswer):
    """The state of one answer by the events so far."""

    def __init__(self, place: Endpoint, reasoning: SealedReasoning) -> None:
        super().__init__(place)
        self._reasoning = reasoning
        self._items: list[Item] = []  # of reasoning
        self._response: Mapping[str, Any] = {}  # as it ended
        self._has_text = False

    def chunks(self, data: str) -> Iterator[Chunk]:
        """See `EventAnswer`."""
        event = self.event(data)
        kind = text(event.get("type"))
        chunk = Chunk()
        if kind in _TEXT_EVENTS:
            self._has_text = True
            chunk = Chunk(text(event.get("delta")))
        elif kind in _THOUGHT_EVENTS:
            chunk = Chunk(thought=text(event.get("delta")))
        elif kind == "response.reasoning_summary_part.added" and number(event.get("summary_index")):
            chunk = Chunk(thought="\n\n")
        elif (
            kind == "response.output_item.added"
            and table(event.get("item")).get("type") == "message"
        ):
            chunk = Chunk("\n\n" if self._has_text else "")  # a second message of one answer
        elif kind == "response.output_item.done":
            self._add(number(event.get("output_index")), table(event.get("item")))
        elif kind in _END_EVENTS:
            self._response = table(event.get("response"))
            self.is_ended = True
        elif kind in {"response.failed", "error"}:
            error = table(event.get("response")).get("error") or event
            raise stream_error(self.place, error, data)
        if chunk.text or chunk.thought:
            yield chunk

    def _add(self, position: int, item: Mapping[str, Any]) -> None:
        if item.get("type") == "function_call":
            self.calls.add(
                position,
                text(item.get("name")),
                text(item.get("arguments")),
                text(item.get("call_id")),
            )
        elif item.get("type") == "reasoning":
            kept = ("id", "type", "summary", "encrypted_content")
            self._items.append({name: item[name] for name in kept if item.get(name) is not None})

    def last(self) -> Chunk:
        """See `EventAnswer`."""
        if not self.is_ended:
            raise cut_error(self.place)
        calls = tuple(drop_optional_nulls(call) for call in self.calls.complete())
        self._reasoning.keep(calls, [item for item in self._items if "encrypted_content" in item])
        cause = table(self._response.get("incomplete_details")).get("reason")
        stop = "calls" if calls else "length" if cause == _CUT_REASON else "end"
        return Chunk(calls=calls, usage=usage_of(table(self._response.get("usage"))), stop=stop)


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """The tokens that an answer reports."""
    details = table(usage.get("input_tokens_details"))
    return Usage(
        number(usage.get("input_tokens")),
        count_or_none(details.get("cached_tokens")),
        number(usage.get("output_tokens")),
        count_or_none(table(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
