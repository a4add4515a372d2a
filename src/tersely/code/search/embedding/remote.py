"""Vectors from a server: Ollama's protocol, and the one of OpenAI that many others speak."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np

from tersely.code.search.embedding.embedders import Embedder
from tersely.code.search.embedding.texts import question_text, unit_texts
from tersely.code.search.embedding.vectors import Floats
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import EMBEDDER_REPLY_BYTES, EMBEDDER_REQUEST_TEXTS, EMBEDDER_SECONDS

OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"

Ask = Callable[[Sequence[str]], list[Any]]  # texts to vectors, in order


def ollama(model: str, url: str) -> Embedder:
    """A model that an Ollama server runs."""
    place = f"{_base(url or OLLAMA_URL)}/api/embed"

    def ask(texts: Sequence[str]) -> list[Any]:
        reply = _post(place, {}, {"model": model, "input": list(texts), "truncate": True})
        return list(reply["embeddings"])

    return _embedder(f"ollama {place} {model}", ask)


def openai(model: str, url: str, key: str) -> Embedder:
    """A model behind `POST /embeddings`."""
    place = f"{_base(url or OPENAI_URL)}/embeddings"
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def ask(texts: Sequence[str]) -> list[Any]:
        reply = _post(place, headers, {"model": model, "input": list(texts), "encoding_format": "float"})
        listed = sorted(reply["data"], key=lambda entry: int(entry["index"]))
        return [entry["embedding"] for entry in listed]

    return _embedder(f"openai {place} {model}", ask)


def _embedder(identity: str, ask: Ask) -> Embedder:
    def embed(texts: Sequence[str]) -> Floats:
        parts = [
            _checked(ask, texts[start : start + EMBEDDER_REQUEST_TEXTS])
            for start in range(0, len(texts), EMBEDDER_REQUEST_TEXTS)
        ]
        try:
            return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        except ValueError as error:
            raise _refusal("its vectors are not of one length") from error

    return Embedder(
        identity, lambda batch: embed(unit_texts(batch.texts())), lambda query: embed([question_text(query)])[0]
    )


def _checked(ask: Ask, texts: Sequence[str]) -> Floats:
    """One vector for each text, or a refusal that says what is wrong with the reply."""
    try:
        vectors = np.array(ask(texts), np.float32)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _refusal("its reply has no vectors") from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise _refusal(f"{len(texts)} texts were sent, and its reply has not a vector for each")
    return vectors


def _base(url: str) -> str:
    if urlsplit(url).scheme not in {"http", "https"}:
        raise TerselyError("invalid_setting", f"embedder_url cannot be {url!r}", "It begins with http:// or https://.")
    return url.rstrip("/")


def _post(url: str, headers: Mapping[str, str], body: Mapping[str, object]) -> Any:
    request = Request(  # noqa: S310 - its scheme has been looked at
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}, method="POST"
    )
    try:
        with urlopen(request, timeout=EMBEDDER_SECONDS) as reply:  # noqa: S310
            content = reply.read(EMBEDDER_REPLY_BYTES + 1)
    except HTTPError as error:
        with error:
            said = error.read(200).decode("utf-8", "replace").strip()
        raise _refusal(f"{url} answers {error.code}: {said or error.reason}") from error
    except (OSError, HTTPException) as error:
        raise _refusal(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error
    if len(content) > EMBEDDER_REPLY_BYTES:
        raise _refusal(f"its reply is longer than {EMBEDDER_REPLY_BYTES:,} bytes")
    try:
        return json.loads(content)
    except ValueError as error:
        raise _refusal("its reply is not JSON") from error


def _refusal(why: str) -> TerselyError:
    hint = "TERSELY_EMBEDDER=words does without a server."
    return TerselyError("embedder_unavailable", f"the embedder gives no vectors: {why}", hint)
