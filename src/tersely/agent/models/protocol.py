"""What the agent knows of a model: messages go in, chunks come out.

A prompt is a tuple of messages. Its first ones never change in a session, later ones are appended: a server keeps what
it has evaluated as long as a prompt begins with the one before it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple, Protocol


class RawCall(NamedTuple):
    """A call of a tool as a server reported it: `arguments` is JSON text that nobody has checked."""

    name: str
    arguments: str
    id: str = ""


class Message(NamedTuple):
    """One message: `role` is system, user, assistant or tool.

    `calls` and `call_id` are for servers that are given tools natively: the calls that an assistant's message made, and
    which of them a tool's message answers. Every other way of calling has its calls in `content`.
    """

    role: str
    content: str
    calls: tuple[RawCall, ...] = ()
    call_id: str = ""


Prompt = tuple[Message, ...]


class Usage(NamedTuple):
    """Tokens of one request as the server counted them; `cached_tokens` of the prompt it did not evaluate again.

    `cached_tokens` is None where the server does not say.
    """

    prompt_tokens: int
    cached_tokens: int | None
    completion_tokens: int


class Chunk(NamedTuple):
    """A part of an answer. The last one says in `stop` why it ended: end, length or calls."""

    text: str = ""
    calls: tuple[RawCall, ...] = ()  # whole ones
    usage: Usage | None = None
    stop: str = ""
    thought: str = ""  # what a reasoning model says to itself; no part of the answer


class Constraint(NamedTuple):
    """What an answer may be. One of the fields is set; `agent.calling` makes them.

    `grammar` is GBNF; `schema` a JSON schema that the whole answer meets; `tools` are functions as JSON schemas, for
    servers that know how their model calls them.
    """

    grammar: str = ""
    schema: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()


class Abilities(NamedTuple):
    """What a server and its model can do, as it was found out; `window` in tokens, 0 where nobody says."""

    grammar: bool
    schema: bool
    tools: bool
    window: int
    model: str
    family: str  # of the model: qwen, llama, …; "" where its name says nothing
    server: str = ""  # llama.cpp, ollama, or openai for everything else that speaks like it


class Model(Protocol):
    """One model of one server, for one event loop."""

    abilities: Abilities

    def stream(self, prompt: Prompt, constraint: Constraint | None, most_tokens: int) -> AsyncIterator[Chunk]:
        """The answer as it comes; closing the iterator stops the model.

        Raises `model_unavailable` (no connection, no such model), `model_failed` (it broke off, fell silent or sent
        what nobody understands) or `window_exceeded` (the prompt does not fit, or was cut by the server).
        """

    async def close(self) -> None:
        """Let go of what is open."""
