"""Texts that spell what templates tell messages apart by, kept from being that.

A server makes one prompt of all messages and reads `<|im_end|>` as the end of one wherever it
stands: also in a file that was read, where it would end that message and could begin another in
anybody's name. On the way to the model a word joiner (U+2060), which nobody sees, parts such a text
behind its first character; from what comes back it is taken out, so that the model reads, quotes
and edits the text as it is.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from tersely.agent.models.protocol import (
    Abilities,
    Chunk,
    Constraint,
    ModelMessage,
    Prompt,
    RawCall,
    Thinking,
)
from tersely.agent.models.served import ServedModel

MAX_TOKEN_CHARACTERS = 128  # of one token in the vocabularies in use: a row of blanks
_JOINER = "\u2060"
_OPENING = "<["
# The tokens of templates in use: `<|im_end|>` of most, DeepSeek's with another bar, those of Gemma,
# Llama and Mistral, Seed's, and EXAONE's in brackets.
_TOKEN = re.compile(
    r"<(?=[|｜]|/?(?:s|bos|eos|unk|pad|sep|mask|start_of_turn|end_of_turn|start_of_image|seed:\w+)>|\w+[|｜]>)"
    r"|\[(?=\|\w+\|\]|/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|IMG)\])"
)
_ESCAPED = re.compile(rf"(?<=[{re.escape(_OPENING)}]){_JOINER}")


class EscapedModel:
    """A model whose messages end and begin where we say."""

    def __init__(self, model: ServedModel) -> None:
        self._model = model

    @property
    def abilities(self) -> Abilities:
        """See `protocol.Model`."""
        return self._model.abilities

    async def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncGenerator[Chunk]:
        """See `protocol.Model`. An answer longer than the tokens that were asked for can be is cut."""
        before = ""  # the last character of the answer so far
        left = most_tokens * MAX_TOKEN_CHARACTERS
        async with aclosing(
            self._model.stream(
                tuple(map(_escape_message, prompt)), constraint, most_tokens, thinking
            )
        ) as chunks:
            async for chunk in chunks:
                if chunk.restarts:
                    before, left = "", most_tokens * MAX_TOKEN_CHARACTERS
                text = unescape(before + chunk.text)[len(before) :]
                before = (before + chunk.text)[-1:]
                yield chunk._replace(text=text, calls=tuple(map(_unescape_call, chunk.calls)))
                left -= len(chunk.text) + len(chunk.thought)
                if left < 0:
                    yield Chunk(stop="length")
                    return

    async def close(self) -> None:
        """See `protocol.Model`."""
        await self._model.close()


def escape(text: str) -> str:
    """The text with nothing in it that a template means something by."""
    return _TOKEN.sub(lambda found: found.group() + _JOINER, text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPED.sub("", text)


def _escape_message(message: ModelMessage) -> ModelMessage:
    calls = tuple(RawCall(*map(escape, call)) for call in message.calls)
    return message._replace(
        content=escape(message.content), calls=calls, call_id=escape(message.call_id)
    )


def _unescape_call(call: RawCall) -> RawCall:
    return RawCall(*map(unescape, call))
