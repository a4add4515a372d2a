"""Requests to a server of models: one connection each, every wait and every size bounded.

Connections are not kept. llama.cpp's server closes an idle one just when it is used again, which fails a request now
and then, and a model's answer takes longer than any handshake.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tersely.foundation import http
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_MODEL_ERROR_CHARACTERS
from tersely.foundation.tokens import well_formed

MODEL_CONNECT_SECONDS = 5.0
MODEL_SILENCE_SECONDS = 300.0  # of a server that is asked for an answer: a long prompt is evaluated without a word
MODEL_PROBE_SECONDS = 60.0  # for each small question that finds out what a server can do
MAX_MODEL_REPLY_BYTES = 8_000_000  # of an answer that is not streamed
MAX_MODEL_ANSWER_BYTES = 50_000_000  # of one stream
_FOR_A_HEADER = re.compile(r"[!-~]*")
_LOADING, _NOT_FOUND = 503, 404
_KEY_STATUSES = {401, 403}
_START_HINT = "start one, for example: llama-server -m MODEL.gguf --port 8080, or: ollama serve"
# What servers say when a prompt is too long: llama.cpp, vLLM and OpenAI, LM Studio, Ollama.
_TOO_LONG = (
    "exceed_context_size", "exceeds the available context", "context_length_exceeded", "maximum context length",
    "context length exceeded", "exceeds the context", "input length exceeds", "prompt is too long",
    "greater than the context length", "context window",
)  # fmt: skip


class Endpoint(NamedTuple):
    """Where a server listens; `key` is shown to it as a bearer token, where there is one."""

    scheme: str
    host: str
    port: int
    prefix: str  # of every path
    key: str = ""

    @property
    def url(self) -> str:
        """What people call it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


class Reply(NamedTuple):
    """An answer that came whole: `body` is what its JSON says, None where it is none."""

    status: int
    body: Any
    text: str


class Answer(NamedTuple):
    """An answer whose head has come."""

    status: int
    pieces: AsyncIterator[bytes]


def endpoint(url: str, key: str = "") -> Endpoint:
    """Read a URL such as http://127.0.0.1:8080; a trailing /v1 or /api is what providers add by themselves."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise TerselyError("invalid_argument", f"{url!r} is no URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise TerselyError("invalid_argument", f"{url!r} is no URL of a server", "for example http://127.0.0.1:8080")
    if not _FOR_A_HEADER.fullmatch(host + parts.path):
        raise TerselyError("invalid_argument", f"{url!r} has characters that no URL has", "write them as %20")
    if not _FOR_A_HEADER.fullmatch(key.strip()):
        raise TerselyError("invalid_argument", "the key of the server has characters that no key has")
    prefix = parts.path.rstrip("/").removesuffix("/v1").removesuffix("/api")
    return Endpoint(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), prefix, key.strip())


async def told(
    place: Endpoint, method: str, path: str, body: Mapping[str, Any] | None = None, seconds: float = MODEL_PROBE_SECONDS
) -> Reply:
    """Ask, and read the whole answer within so many seconds, whatever its status."""
    content = bytearray()
    try:
        async with asyncio.timeout(seconds), opened(place, method, path, body) as answer:
            async for piece in answer.pieces:
                content += piece
                if len(content) > MAX_MODEL_REPLY_BYTES:
                    raise TerselyError(
                        "model_failed", f"{place.url}{path} says more than {MAX_MODEL_REPLY_BYTES:,} bytes"
                    )
    except TimeoutError as error:
        raise TerselyError("model_failed", f"{place.url}{path} has not answered within {seconds:g} s") from error
    text = content.decode("utf-8", "replace")
    return Reply(answer.status, parsed(text), text)


def parsed(text: str) -> Any:
    """What JSON says, None for anything else. Its escapes can spell halves of characters: they become U+FFFD."""
    try:
        value = json.loads(text)
        if "\\ud" not in text.lower():
            return value
        return json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


@asynccontextmanager
async def opened(
    place: Endpoint, method: str, path: str, body: Mapping[str, Any] | None = None
) -> AsyncIterator[Answer]:
    """Ask, and give the answer as soon as its head is here; leaving closes the connection, which stops the model."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"Host": f"{place.host}:{place.port}", "Accept": "*/*"}
    headers |= {"Content-Type": "application/json"} if content else {}
    headers |= {"Authorization": f"Bearer {place.key}"} if place.key else {}
    async with AsyncExitStack() as stack:
        waits = http.waits(MODEL_CONNECT_SECONDS, MODEL_SILENCE_SECONDS)
        asked = http.stream_once(method, place.url + path, waits, headers=headers, content=content)
        try:
            response = await stack.enter_async_context(asked)
        except http.FAILURES as error:
            raise _failed(place, error, "before it answered") from error
        pieces = await stack.enter_async_context(aclosing(_pieces(place, response)))
        yield Answer(response.status, pieces)


def _failed(place: Endpoint, error: Exception, when: str) -> TerselyError:
    if isinstance(error, http.ConnectTimeout):
        message = f"{place.url} does not answer within {MODEL_CONNECT_SECONDS:g} s"
        return TerselyError("model_unavailable", message, _START_HINT)
    if isinstance(error, http.ConnectError):
        message = f"no server of models listens at {place.url}: {http.reason(error)}"
        return TerselyError("model_unavailable", message, _START_HINT)
    if isinstance(error, http.ReadTimeout):
        return TerselyError("model_failed", f"{place.url} has said nothing for {MODEL_SILENCE_SECONDS:g} s")
    return TerselyError("model_failed", f"{place.url} broke off {when}")


async def _pieces(place: Endpoint, response: http.Response) -> AsyncGenerator[bytes]:
    size = 0
    try:
        async for piece in response.aiter_stream():
            size += len(piece)
            if size > MAX_MODEL_ANSWER_BYTES:
                raise TerselyError("model_failed", f"{place.url} sent more than {MAX_MODEL_ANSWER_BYTES:,} bytes")
            yield piece
    except http.FAILURES as error:
        raise _failed(place, error, "in the middle of its answer") from error


async def refusal(place: Endpoint, model: str, answer: Answer) -> TerselyError:
    """The error that an answer with another status than 200 is."""
    content = bytearray()
    async for piece in answer.pieces:
        content += piece
        if len(content) > MAX_MODEL_REPLY_BYTES:
            break
    text = content.decode("utf-8", "replace")
    return refused(place, model, Reply(answer.status, parsed(text), text))


def refused(place: Endpoint, model: str, reply: Reply) -> TerselyError:
    """The same for an answer that was read."""
    words = reason_of(reply.body) or " ".join(reply.text.split()) or "without a word"
    message = f"{place.url} refused: {words[:MAX_MODEL_ERROR_CHARACTERS]} (status {reply.status})"
    if is_too_long(reply.text):
        return TerselyError(
            "window_exceeded", message, "start a new session, compact this one, or serve a larger window"
        )
    if reply.status in _KEY_STATUSES:
        return TerselyError("model_unavailable", message, "the server wants another key")
    if reply.status == _NOT_FOUND:
        return TerselyError("model_unavailable", message, f"does it have the model {model!r}?" if model else "")
    if reply.status == _LOADING:
        return TerselyError("model_unavailable", message, "wait until the model is loaded")
    return TerselyError("model_failed", message)


def reason_of(body: Any) -> str:
    """What an answer says went wrong: `error` is a text, or an object with a `message`; "" where it says nothing."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return " ".join(error.split()) if isinstance(error, str) else ""


def is_too_long(text: str) -> bool:
    """Whether a refusal is about the length of the prompt."""
    lowered = text.lower()
    return any(words in lowered for words in _TOO_LONG)
