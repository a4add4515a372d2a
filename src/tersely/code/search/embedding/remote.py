"""Vectors from a server whose API is compatible with OpenAI's `POST /embeddings`, as that of Ollama
or llama.cpp.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tersely.code.search.embedding.embedders import Embedder
from tersely.code.search.query import Query
from tersely.code.search.storage.segment import UnitBatch, UnitText
from tersely.foundation.arrays import Floats, np
from tersely.foundation.errors import TerselyError
from tersely.foundation.network import http
from tersely.foundation.types import JsonMapping

EMBEDDER_SECONDS = 60  # for one reply
EMBEDDER_REQUEST_TEXTS = 32
EMBEDDER_REPLY_BYTES = 50_000_000
EMBEDDED_CHARACTERS = 4_000  # of a unit or question
_ERROR_BYTES = 200  # shown of a refusal
_HTTP_OK, _HTTP_NOT_FOUND = 200, 404
_WRONG_BASE = "embedder_url usually ends in /v1"


def server_embedder(url: str, model: str, key: str) -> Embedder:
    """A model of the server at `url`, the base of its API; `key` is its API key, empty for none.

    Raises `invalid_setting` for a URL that is not one of HTTP. The embedder raises
    `embedder_unavailable`.
    """
    if not _is_http(url):
        raise TerselyError(
            "invalid_setting",
            f"embedder_url cannot be {url!r}",
            "It begins with http:// or https://.",
        )
    place = f"{url.rstrip('/')}/embeddings"
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def embed(texts: Sequence[str]) -> Floats:
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        return _vectors(_post(place, headers, body), len(texts))

    def embed_units(batch: UnitBatch) -> Floats:
        texts = [_unit_text(text) for text in batch.texts()]
        starts = range(0, len(texts), EMBEDDER_REQUEST_TEXTS)
        return _stack([embed(texts[start : start + EMBEDDER_REQUEST_TEXTS]) for start in starts])

    def embed_question(query: Query) -> Floats:
        vector: Floats = embed([query.text[:EMBEDDED_CHARACTERS]])[0]
        return vector

    return Embedder(f"openai {place} {model}", embed_units, embed_question)


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that are no address
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _unit_text(text: UnitText) -> str:
    """The path and the name of a unit, its documentation, and the beginning of its code."""
    return f"{text.heading}\n{text.doc}\n{text.code}"[:EMBEDDED_CHARACTERS]


def _vectors(reply: Any, texts: int) -> Floats:
    """The vectors of a reply, one row for each text, in the order of the texts."""
    try:
        listed = sorted(reply["data"], key=lambda entry: int(entry["index"]))
        vectors = np.array([entry["embedding"] for entry in listed], np.float32)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refusal(f"its reply has no vectors; {_WRONG_BASE}") from error
    if vectors.ndim != 2 or len(vectors) != texts or not vectors.shape[1]:
        raise _refusal(f"{texts} texts were sent, and its reply has not a vector for each")
    if not np.isfinite(vectors).all():
        raise _refusal("its reply has numbers that are not finite")
    return vectors


def _stack(parts: Sequence[Floats]) -> Floats:
    try:
        return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
    except ValueError as error:
        raise _refusal("its vectors are not of one length") from error


def _post(url: str, headers: Mapping[str, str], body: JsonMapping) -> Any:
    """The JSON value that a server answers to one; `embedder_unavailable` where there is none."""
    headers = {"Content-Type": "application/json", **headers}
    content = json.dumps(body).encode()
    waits = http.waits(EMBEDDER_SECONDS, EMBEDDER_SECONDS)
    try:
        with http.connections() as pool:
            reply = http.ask(
                pool, "POST", url, waits, EMBEDDER_REPLY_BYTES, headers=headers, content=content
            )
    except http.TooLongError as error:
        raise _refusal(f"its reply is longer than {EMBEDDER_REPLY_BYTES:,} bytes") from error
    except (*http.FAILURES, ValueError) as error:
        raise _refusal(f"{url} cannot be reached: {http.reason(error)}") from error
    if reply.status != _HTTP_OK:
        said = " ".join(reply.body[:_ERROR_BYTES].decode("utf-8", "replace").split())
        advice = f"; {_WRONG_BASE}" if reply.status == _HTTP_NOT_FOUND else ""
        raise _refusal(f"{url} answers {reply.status}: {said or 'without a word'}{advice}")
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise _refusal("its reply is not JSON") from error


def _refusal(why: str) -> TerselyError:
    hint = "Without TERSELY_EMBEDDER_URL and TERSELY_EMBEDDER_MODEL, search needs no server."
    return TerselyError("embedder_unavailable", f"the embedder gives no vectors: {why}", hint)
