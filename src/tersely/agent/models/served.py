"""A model behind any protocol: one request an answer, sent again or otherwise where the server asks
for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import NamedTuple, Protocol

from tersely.agent.models.protocol import (
    Abilities,
    Chunk,
    Constraint,
    Prompt,
    Thinking,
    without_pictures,
)
from tersely.agent.models.refusals import (
    ability_in_refusal,
    not_a_model_server,
    output_limit,
    parameter_in_refusal,
    refusal_error,
    refuses_pictures,
)
from tersely.agent.models.retries import (
    DEFECT_STATUS,
    Retries,
    TransientError,
)
from tersely.agent.models.wire import Endpoint, WholeReply, read_whole, stream_request
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonMapping, JsonObject

MAX_MODEL_ANSWER_SECONDS = 3_600.0  # of one stream, however it goes on
LATE_ANSWER_SECONDS = 20.0  # without a word of a server, after which it is named
MAX_ADAPTATIONS = 12  # of one request, to what its server refuses in it


class ModelRequest(NamedTuple):
    """The request for one answer."""

    prompt: Prompt
    constraint: Constraint | None
    most_tokens: int
    thinking: Thinking = Thinking.DEFAULT


class KnownModel(NamedTuple):
    """The knowledge of a model of a server: what it can do, parameters that it refuses, and how it
    was listed then.

    A model that is listed otherwise is another one behind the same name: what was known of it does
    not hold.
    """

    abilities: Abilities
    refused: frozenset[str] = frozenset()
    fingerprint: str = ""  # see `recognition.ModelListing.fingerprint`


class AnswerReader(Protocol):
    """One answer as it comes in."""

    def feed(self, received: bytes) -> Iterator[Chunk]:
        """The chunks that are complete now; one that has a `stop` is the last."""

    def last(self) -> Chunk:
        """The chunk that ends the answer; raises where the server never said that it has ended."""


class Dialect(Protocol):
    """One protocol of servers, for one model: it may keep what the protocol wants back."""

    path: str  # of requests, below the base

    def body(self, known: KnownModel, request: ModelRequest) -> JsonObject:
        """The body of a request, without what the server refuses."""

    def adaptable(self, body: JsonMapping) -> Mapping[str, str]:
        """The parts of a body that can be left out or sent otherwise: by the words of refusals,
        what is remembered of it.
        """

    def reader(self, place: Endpoint, request: ModelRequest) -> AnswerReader:
        """A reader for the answer to a request."""


class _AdaptedError(Exception):
    """The request is to be sent again otherwise: what was learnt is remembered."""


def forget(known: KnownModel) -> None:
    """Remember nothing."""


class ServedModel:
    """See `protocol.Model`. `remember` is handed what was learnt of the server whenever that
    changes.
    """

    def __init__(
        self,
        place: Endpoint,
        known: KnownModel,
        dialect: Dialect,
        remember: Callable[[KnownModel], None] = forget,
    ) -> None:
        self._place = place
        self._known = known
        self._dialect = dialect
        self._remember = remember

    @property
    def abilities(self) -> Abilities:
        """See `protocol.Model`."""
        return self._known.abilities

    async def stream(
        self,
        prompt: Prompt,
        constraint: Constraint | None,
        most_tokens: int,
        thinking: Thinking = Thinking.DEFAULT,
    ) -> AsyncGenerator[Chunk]:
        """See `protocol.Model`."""
        request = ModelRequest(prompt, constraint, most_tokens, thinking)
        retries = Retries()
        adaptations = 0
        has_begun = False  # some of an answer was given
        while True:
            try:
                async with aclosing(self._named_if_late(self._attempt(request))) as chunks:
                    async for chunk in chunks:
                        has_begun = has_begun or bool(chunk.text or chunk.thought)
                        yield chunk
                return
            except _AdaptedError:
                adaptations += 1
                if adaptations > MAX_ADAPTATIONS:
                    raise TerselyError(
                        "model_failed", f"{self._place.url} refuses every form of a request"
                    ) from None
            except TransientError as error:
                seconds = retries.wait(error)
                notice = retries.notice(error, seconds)
                yield Chunk(notice=notice, restarts=has_begun, begins_attempt=True)
                await asyncio.sleep(seconds)
                has_begun = False

    async def _named_if_late(self, chunks: AsyncGenerator[Chunk]) -> AsyncGenerator[Chunk]:
        """The chunks of an attempt; before the first one a notice, where that is late."""
        async with aclosing(chunks):
            first = asyncio.ensure_future(anext(chunks, None))
            try:
                await asyncio.wait([first], timeout=LATE_ANSWER_SECONDS)
                if not first.done():
                    late = (
                        f"{self._place.url} has not begun to answer for {LATE_ANSWER_SECONDS:g} s"
                    )
                    yield Chunk(notice=f"{late}: it may be reading the prompt")
                chunk = await first
            finally:
                first.cancel()
                await asyncio.wait([first])
            if chunk is not None:
                yield chunk
            async for chunk in chunks:
                yield chunk

    def correct(self, abilities: Abilities) -> None:
        """Have other abilities from now on: what was tried out."""
        self._learn(self._known._replace(abilities=abilities))

    async def close(self) -> None:
        """See `protocol.Model`; nothing stays open between requests."""

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        limit = self.abilities.output or request.most_tokens
        prompt = request.prompt if self.abilities.sees else without_pictures(request.prompt)
        request = ModelRequest(
            prompt, request.constraint, min(request.most_tokens, limit), request.thinking
        )
        body = self._dialect.body(self._known, request)
        async with stream_request(self._place, "POST", self._dialect.path, body) as answer:
            if answer.status != 200:
                raise self._refusal(request, body, await read_whole(answer))
            if answer.headers.get("content-type", "").startswith("text/html"):
                raise not_a_model_server(self._place)
            reader = self._dialect.reader(self._place, request)
            watch = Stopwatch()
            async for piece in answer.pieces:
                if watch.seconds() > MAX_MODEL_ANSWER_SECONDS:
                    bound = f"{MAX_MODEL_ANSWER_SECONDS / 60:.0f} minutes"
                    raise TerselyError(
                        "model_failed", f"{self._place.url} has not ended its answer within {bound}"
                    )
                for chunk in reader.feed(piece):
                    yield chunk
                    if chunk.stop:
                        return
            yield reader.last()

    def _refusal(self, request: ModelRequest, body: JsonMapping, reply: WholeReply) -> Exception:
        """The error that a refusal is; what it says of the server is remembered."""
        parameter = parameter_in_refusal(self._dialect.adaptable(body), reply)
        if parameter and parameter not in self._known.refused:
            self._learn(self._known._replace(refused=self._known.refused | {parameter}))
            return _AdaptedError()
        limit = output_limit(request.most_tokens, reply)
        if limit:
            self.correct(self.abilities._replace(output=limit))
            return _AdaptedError()
        if refuses_pictures(request.prompt, reply):
            self.correct(self.abilities._replace(sees=False))
            return _AdaptedError()
        error = refusal_error(self._place, self.abilities.model, reply)
        ability = ability_in_refusal(request.constraint, reply)
        is_for_a_time = isinstance(error, TransientError) and reply.status != DEFECT_STATUS
        if not ability or is_for_a_time:
            return error
        self.correct(Abilities(**{**self.abilities._asdict(), ability: False}))
        return TerselyError("way_refused", error.message, "calls are asked for in the next way")

    def _learn(self, known: KnownModel) -> None:
        self._known = known
        self._remember(known)
