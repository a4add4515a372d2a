"""The interface of a model to the agent: messages go in, chunks come out.

A prompt is a tuple of messages. Its first ones never change in a session, later ones are appended:
a server keeps what it has evaluated as long as a prompt begins with the one before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import NamedTuple, Protocol

from tersely.foundation.types import JsonMapping, Strings


class RawCall(NamedTuple):
    """A call of a tool as a server reported it: `arguments` is JSON text that nobody has checked."""

    name: str
    arguments: str
    id: str = ""


class ModelMessage(NamedTuple):
    """One message: `role` is system, user, assistant or tool.

    `calls` and `call_id` are for servers that are given tools natively: the calls that an
    assistant's message made, and which of them a tool's message answers. Every other way of calling
    has its calls in `content`. `pictures` are PNG files in Base64, which no model is sent that does
    not see.
    """

    role: str
    content: str
    calls: tuple[RawCall, ...] = ()
    call_id: str = ""
    pictures: Strings = ()

    def of_user(self) -> ModelMessage:
        """The result of a call as the user's words, for a prompt without that call."""
        return ModelMessage("user", self.content, pictures=self.pictures)


Prompt = tuple[ModelMessage, ...]


def without_pictures(prompt: Prompt) -> Prompt:
    """The prompt for a model that does not see."""
    return tuple(message._replace(pictures=()) for message in prompt)


class RequestUsage(NamedTuple):
    """Tokens of one request as the server counted them; `cached_tokens` of the prompt it did not
    evaluate again.

    A figure is None where the server does not report it.
    """

    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int
    thought_tokens: int | None = None  # of the completion, spent on reasoning


class Chunk(NamedTuple):
    """A part of an answer. The last one says in `stop` why it ended: end, length or calls.

    A chunk that `restarts` follows a connection that broke: the text before it is void, and the
    answer begins anew.
    """

    text: str = ""
    calls: tuple[RawCall, ...] = ()  # whole ones
    usage: RequestUsage | None = None
    stop: str = ""
    thought: str = ""  # what a reasoning model says to itself; no part of the answer
    notice: str = ""  # one line for the user: why the request waits, or that it was sent again
    restarts: bool = False
    begins_attempt: bool = False  # at the same answer: the request is sent again


class Constraint(NamedTuple):
    """The form that an answer is held to. One of the first three fields is set;
    `agent.tool_calling` makes them.

    `grammar` is GBNF; `schema` a JSON schema that the whole answer meets; `tools` are functions as
    JSON schemas, for servers that know how their model calls them.
    """

    grammar: str = ""
    schema: JsonMapping | None = None
    tools: tuple[JsonMapping, ...] = ()


class Thinking(StrEnum):
    """The reasoning of a model before it answers; a server that cannot choose it is not told."""

    DEFAULT = "default"  # as the server does it
    OFF = "off"
    ON = "on"


class Abilities(NamedTuple):
    """The abilities of a server and its model, as they were found out; `window` in tokens, 0 where
    nobody says.

    A way of calling (`grammar`, `schema`, `tools`) that the server has refused is False here, also
    in later sessions.
    """

    grammar: bool
    schema: bool
    tools: bool
    window: int
    model: str
    family: str  # of the model: qwen, llama, …; "" where its name says nothing
    # llama.cpp, ollama, anthropic, or openai for everything else that speaks like it
    server: str = ""
    output: int = 0  # most tokens of one answer, 0 where nobody says
    # what led to calls is sent back with them, and counts in later prompts
    returns_reasoning: bool = False
    thinking: bool = False  # `thinking` of a request is heeded
    sees: bool = False  # pictures in messages


class Model(Protocol):
    """One model of one server, for one event loop."""

    @property
    def abilities(self) -> Abilities:
        """The abilities of the model; less after `way_refused`."""

    def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncIterator[Chunk]:
        """The answer as it comes; closing the iterator stops the model, and ends the wait before
        another attempt.

        Raises `model_unavailable` (no connection, no such model), `model_failed` (it broke off,
        fell silent or sent what nobody understands), `window_exceeded` (the prompt does not fit, or
        was cut by the server) or `way_refused`: the server does not take this constraint.
        `abilities` no longer have that way then, so that the next one can be asked for; nothing of
        an answer has been given.
        """

    async def close(self) -> None:
        """Let go of what is open."""
