"""Requests to a server of models: one connection each, every wait and every size bounded.

Connections are not kept. llama.cpp's server closes an idle one just when it is used again, which
fails a request now and then, and a model's answer takes longer than any handshake.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tersely.agent.models.retries import AbsentError, TransientError
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import http
from tersely.foundation.text.tokens import well_formed
from tersely.foundation.types import Headers, JsonMapping

MODEL_CONNECT_SECONDS = 5.0
# of a server that is asked for an answer: a long prompt is evaluated without a word
MODEL_SILENCE_SECONDS = 300.0
MODEL_PROBE_SECONDS = 60.0  # for each small question that finds out what a server can do
MAX_MODEL_REPLY_BYTES = 8_000_000  # of an answer that is not streamed
MAX_MODEL_ANSWER_BYTES = 50_000_000  # of one stream
_FOR_A_HEADER = re.compile(r"[!-~]*")
_START_HINT = "start one, for example: llama-server -m MODEL.gguf --port 8080, or: ollama serve"
# What people copy from examples behind the base of an interface.
_METHODS = ("/chat/completions", "/responses", "/messages", "/models", "/api/chat")
BEARER = "Authorization"


class Endpoint(NamedTuple):
    """The address at which a server listens, and the base of the paths of its interface.

    `key` is sent in the field `key_header`, where there is one, `headers` with every request.
    """

    scheme: str
    host: str
    port: int
    prefix: str  # of every path
    key: str = ""
    query: str = ""  # of every URL: some want a version there
    key_header: str = BEARER
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: who is spoken to, whatever is asked for there."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host and port as URLs and the field `Host` have them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL as people write it."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    def target(self, path: str) -> str:
        """The URL of a path below the base."""
        return f"{self.url}{path}{'?' if self.query else ''}{self.query}"

    def fields(self) -> dict[str, str]:
        """The fields of the head of every request."""
        fields = {"Host": self.authority, "Accept": "*/*", **dict(self.headers)}
        if self.key:
            fields[self.key_header] = (
                f"Bearer {self.key}" if self.key_header == BEARER else self.key
            )
        return fields


class WholeReply(NamedTuple):
    """An answer that came whole: `body` is what its JSON says, None where it is none."""

    status: int
    body: Any
    text: str
    headers: Headers = MappingProxyType({})  # by their names in lower case


class StreamedReply(NamedTuple):
    """An answer whose head has come."""

    status: int
    pieces: AsyncIterator[bytes]
    headers: Headers


def endpoint(url: str, key: str = "") -> Endpoint:
    """Read a URL such as http://127.0.0.1:8080 or https://host/api/v1; the path is kept but for
    that of a method.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise TerselyError("invalid_argument", f"{url!r} is no URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise TerselyError(
            "invalid_argument",
            f"{url!r} is no URL of a server",
            "for example http://127.0.0.1:8080",
        )
    if not _FOR_A_HEADER.fullmatch(host + parts.path + parts.query):
        raise TerselyError(
            "invalid_argument", f"{url!r} has characters that no URL has", "write them as %20"
        )
    if not _FOR_A_HEADER.fullmatch(key.strip()):
        raise TerselyError(
            "invalid_argument", "the key of the server has characters that no key has"
        )
    prefix = parts.path.rstrip("/")
    for method in _METHODS:
        prefix = prefix.removesuffix(method)
    port = port or (443 if parts.scheme == "https" else 80)
    return Endpoint(parts.scheme, host, port, prefix, key.strip(), parts.query)


async def request_json(
    place: Endpoint,
    method: str,
    path: str,
    body: JsonMapping | None = None,
) -> WholeReply:
    """The whole answer to a request, whatever its status; raises `model_failed` where it is late or
    too long.
    """
    seconds = MODEL_PROBE_SECONDS
    content = bytearray()
    try:
        async with asyncio.timeout(seconds), stream_request(place, method, path, body) as answer:
            async for piece in answer.pieces:
                content += piece
                if len(content) > MAX_MODEL_REPLY_BYTES:
                    raise TerselyError(
                        "model_failed",
                        f"{place.url}{path} says more than {MAX_MODEL_REPLY_BYTES:,} bytes",
                    )
    except TimeoutError as error:
        raise TerselyError(
            "model_failed", f"{place.url}{path} has not answered within {seconds:g} s"
        ) from error
    text = content.decode("utf-8", "replace")
    return WholeReply(answer.status, parse_json(text), text, answer.headers)


def parse_json(text: str) -> Any:
    """The value of a JSON text, None for anything else. Its escapes can spell halves of characters:
    they become U+FFFD.
    """
    try:
        value = json.loads(text)
        if "\\ud" not in text.lower():
            return value
        return json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


@asynccontextmanager
async def stream_request(
    place: Endpoint, method: str, path: str, body: JsonMapping | None = None
) -> AsyncIterator[StreamedReply]:
    """Ask, and give the answer as soon as its head is here; leaving closes the connection, which
    stops the model.
    """
    content = None if body is None else json.dumps(body).encode()
    headers = place.fields() | ({"Content-Type": "application/json"} if content else {})
    async with AsyncExitStack() as stack:
        waits = http.waits(MODEL_CONNECT_SECONDS, MODEL_SILENCE_SECONDS)
        request = http.stream_once(
            method, place.target(path), waits, headers=headers, content=content
        )
        try:
            response = await stack.enter_async_context(request)
        except http.FAILURES as error:
            raise _failed(place, error, "before it answered") from error
        pieces = await stack.enter_async_context(aclosing(_pieces(place, response)))
        fields = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        yield StreamedReply(response.status, pieces, fields)


def _failed(place: Endpoint, error: Exception, when: str) -> TerselyError:
    if isinstance(error, http.ConnectTimeout):
        message = f"{place.url} does not answer within {MODEL_CONNECT_SECONDS:g} s"
        return TransientError("model_unavailable", message, _START_HINT)
    if isinstance(error, http.ConnectError):
        message = f"no server of models listens at {place.url}: {http.reason(error)}"
        absent = AbsentError("model_unavailable", message, _START_HINT)
        return http.disbelieved(place.url, error) or absent
    if isinstance(error, http.ReadTimeout):
        return TerselyError(
            "model_failed", f"{place.url} has said nothing for {MODEL_SILENCE_SECONDS:g} s"
        )
    return TransientError("model_failed", f"{place.url} broke off {when}")


async def _pieces(place: Endpoint, response: http.Response) -> AsyncGenerator[bytes]:
    size = 0
    try:
        async for piece in response.aiter_stream():
            size += len(piece)
            if size > MAX_MODEL_ANSWER_BYTES:
                raise TerselyError(
                    "model_failed", f"{place.url} sent more than {MAX_MODEL_ANSWER_BYTES:,} bytes"
                )
            yield piece
    except http.FAILURES as error:
        raise _failed(place, error, "in the middle of its answer") from error


async def read_whole(answer: StreamedReply) -> WholeReply:
    """The whole of an answer whose head has come, cut at its bound."""
    content = bytearray()
    async for piece in answer.pieces:
        content += piece
        if len(content) > MAX_MODEL_REPLY_BYTES:
            break
    text = content.decode("utf-8", "replace")
    return WholeReply(answer.status, parse_json(text), text, answer.headers)
