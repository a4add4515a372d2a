"""Vectors from a server whose API is compatible with OpenAI's `POST /embeddings`, as that of Ollama or llama.cpp."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np

from tersely.code.search.embedding.embedders import Embedder
from tersely.code.search.embedding.vectors import Floats
from tersely.code.search.query import Query
from tersely.code.search.storage.segment import Batch, Text
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import (
    EMBEDDED_CHARACTERS,
    EMBEDDER_REPLY_BYTES,
    EMBEDDER_REQUEST_TEXTS,
    EMBEDDER_SECONDS,
)

_ERROR_BYTES = 200  # read of a refusal, to be shown
_HTTP_NOT_FOUND = 404
_WRONG_BASE = "embedder_url usually ends in /v1"


def server_embedder(url: str, model: str, key: str) -> Embedder:
    """A model of the server at `url`, the base of its API; `key` is its API key, empty for none.

    Raises `invalid_setting` for a URL that is not one of HTTP. The embedder raises `embedder_unavailable`.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise TerselyError("invalid_setting", f"embedder_url cannot be {url!r}", "It begins with http:// or https://.")
    place = f"{url.rstrip('/')}/embeddings"
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def embed(texts: Sequence[str]) -> Floats:
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        return _vectors(_post(place, headers, body), len(texts))

    def embed_units(batch: Batch) -> Floats:
        texts = [_unit_text(text) for text in batch.texts()]
        starts = range(0, len(texts), EMBEDDER_REQUEST_TEXTS)
        return _stack([embed(texts[start : start + EMBEDDER_REQUEST_TEXTS]) for start in starts])

    def embed_question(query: Query) -> Floats:
        vector: Floats = embed([query.text[:EMBEDDED_CHARACTERS]])[0]
        return vector

    return Embedder(f"openai {place} {model}", embed_units, embed_question)


def _unit_text(text: Text) -> str:
    """Where a unit is and what it is called, its documentation, and the beginning of its code."""
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


def _post(url: str, headers: Mapping[str, str], body: Mapping[str, object]) -> Any:
    """The JSON value that a server answers to one; `embedder_unavailable` where there is none."""
    try:
        request = Request(  # noqa: S310 - its scheme has been looked at
            url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}, method="POST"
        )
        with urlopen(request, timeout=EMBEDDER_SECONDS) as reply:  # noqa: S310
            content = reply.read(EMBEDDER_REPLY_BYTES + 1)
    except HTTPError as error:
        with error:
            said = " ".join(error.read(_ERROR_BYTES).decode("utf-8", "replace").split())
        advice = f"; {_WRONG_BASE}" if error.code == _HTTP_NOT_FOUND else ""
        raise _refusal(f"{url} answers {error.code}: {said or error.reason}{advice}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _refusal(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error
    if len(content) > EMBEDDER_REPLY_BYTES:
        raise _refusal(f"its reply is longer than {EMBEDDER_REPLY_BYTES:,} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _refusal("its reply is not JSON") from error


def _refusal(why: str) -> TerselyError:
    hint = "Without TERSELY_EMBEDDER_URL and TERSELY_EMBEDDER_MODEL, search needs no server."
    return TerselyError("embedder_unavailable", f"the embedder gives no vectors: {why}", hint)
