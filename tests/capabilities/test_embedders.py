"""Vectors from a server: llama.cpp's own, one that counts what it is asked, and refusals."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.modelserver.server import Server as LlamaServer
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.ollama import Front
from tests.agent.random_model import write_random
from tests.code.search.repositories import FILES, ids, lay

from tersely.capabilities.invoke import ask
from tersely.code.engine import Engine
from tersely.code.search.embedding.embedders import Choice
from tersely.code.search.embedding.remote import EMBEDDER_REQUEST_TEXTS
from tersely.code.search.embedding.vectors import (
    differing_signs,
    estimated_cosines,
    quantized,
    signs_of,
    similarities,
)
from tersely.code.search.words import words_of_text
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

DIMENSIONS = 48
RANDOM_MODEL_DIMENSIONS = 64


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository to search."""
    lay(tmp_path, FILES)
    return tmp_path


def embedded(text: str) -> list[float]:
    """A vector that words have in common: each word turns its own numbers on."""
    vector = np.zeros(DIMENSIONS)
    for word in words_of_text(text.lower()):
        vector[
            int.from_bytes(blake2b(word.encode(), digest_size=2).digest(), "big") % DIMENSIONS
        ] += 1
    return [float(value) for value in vector]


class Server(ThreadingHTTPServer):
    """A model server; `asked` holds (path, body, authorization) of each request, `reply` replaces
    its answers.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[tuple[str, Any, str | None]] = []
        self.reply: tuple[int, bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        assert isinstance(self.server, Server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body, self.headers.get("Authorization")))
        vectors = [embedded(text) for text in body["input"]]
        data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        said = {"object": "list", "data": data[::-1]}
        status, content = self.server.reply or (200, json.dumps(said).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    serving = Server()
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serving
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_a_server_gives_vectors_once_for_each_unit(shop: Path, server: Server) -> None:
    choice = Choice(server.url + "/", "tiny", "secret")
    with Engine.open(shop) as engine:
        engine.refresh()
        hits = engine.search.find("receipt of an order", choice=choice)
        assert ids(hits)[0] == "shop/mail.py:send_receipt"
        texts = sum(len(body["input"]) for _, body, _ in server.asked)
        assert {path for path, _, _ in server.asked} == {"/embeddings"}
        assert {body["model"] for _, body, _ in server.asked} == {"tiny"}
        assert {key for _, _, key in server.asked} == {"Bearer secret"}
        assert max(len(body["input"]) for _, body, _ in server.asked) <= EMBEDDER_REQUEST_TEXTS
    (shop / "shop" / "mail.py").write_text("def post(letter): pass\n")
    before = len(server.asked)
    with Engine.open(shop) as engine:
        engine.refresh()
        engine.search.find("letter", choice=choice)
    assert sum(len(body["input"]) for _, body, _ in server.asked[before:]) < texts / 2


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """llama.cpp's server with a model of random weights."""
    model = tmp_path_factory.mktemp("model") / "random.gguf"
    write_random(model)
    with LlamaServer(model, window=4_096, embeds=True) as serving:
        yield serving


def test_units_that_a_real_server_embeds_are_searched(shop: Path, llama: LlamaServer) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        by_words = engine.search.find("receipt of an order")
        hits = engine.search.find("receipt of an order", choice=Choice(f"{llama.url}/v1", "random"))
        stored = engine.search.searcher(Choice(f"{llama.url}/v1", "random")).collection
        assert stored.parts[0].segment["vectors"].shape[1] == RANDOM_MODEL_DIMENSIONS
        assert "shop/mail.py:send_receipt" in ids(hits)[:3]
        assert engine.search.find("receipt of an order") == by_words


def test_ollama_is_asked_at_its_compatible_url(shop: Path, llama: LlamaServer) -> None:
    with Front(llama) as ollama, Engine.open(shop) as engine:
        engine.refresh()
        assert engine.search.find(
            "receipt of an order", choice=Choice(f"{ollama.url}/v1", "scripted:latest")
        ).hits


def test_a_url_without_its_last_part_is_explained(shop: Path, llama: LlamaServer) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError, match="embedder_url usually ends in /v1"):
            engine.search.find("anything", choice=Choice(llama.url, "random"))


BAD_REPLIES = {
    "not JSON": (200, b"<html>"),
    "an error": (500, b"out of\nmemory"),
    "nothing there": (404, b""),
    "too few": (200, b'{"data": []}'),
    "no numbers": (200, b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
    "infinite": (200, b'{"data": [{"index": 0, "embedding": [1e999]}]}'),
    "another shape": (200, b"[1, 2]"),
    "nested without end": (200, b"[" * 100_000),
}


@pytest.mark.parametrize("reply", BAD_REPLIES)
def test_a_bad_reply_is_refused_in_one_line(shop: Path, server: Server, reply: str) -> None:
    server.reply = BAD_REPLIES[reply]
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError) as refusal:
            engine.search.find("anything", choice=Choice(server.url, "tiny"))
        assert refusal.value.code == "embedder_unavailable"
        assert "\n" not in refusal.value.message
        assert engine.search.find("validate a token").hits


def test_a_server_that_is_not_there_is_named(shop: Path, server: Server) -> None:
    url = server.url
    server.server_close()
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError, match=url):
            engine.search.find("anything", choice=Choice(url, "tiny"))


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel\u2028"])
def test_a_key_that_no_header_can_hold_is_refused(shop: Path, server: Server, key: str) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError) as refusal:
            engine.search.find("anything", choice=Choice(server.url, "tiny", key))
        assert refusal.value.code == "embedder_unavailable"
    assert server.asked == []


@pytest.mark.parametrize(
    "choice",
    [Choice(url="http://127.0.0.1:1"), Choice(model="m"), Choice("file:///etc/passwd", "m")],
)
def test_a_choice_that_cannot_be_is_refused(shop: Path, choice: Choice) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError) as refusal:
            engine.search.find("anything", choice=choice)
        assert refusal.value.code == "invalid_setting"


@pytest.mark.parametrize("url", ["http://ex\xe4mple", "http://[::1"])
def test_a_url_that_no_request_can_have_is_refused(shop: Path, url: str) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        with pytest.raises(TerselyError, match=r"embedder_unavailable|invalid_setting"):
            engine.search.find("anything", choice=Choice(url, "tiny"))


def test_the_settings_choose_the_server(
    shop: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_EMBEDDER_URL", server.url)
    monkeypatch.setenv("TERSELY_EMBEDDER_MODEL", "tiny")
    monkeypatch.setenv("TERSELY_EMBEDDER_KEY", "secret")
    with Workspace.open(shop) as workspace:
        assert ask(workspace, "code.search", query="receipt of an order").hits
    assert {key for _, _, key in server.asked} == {"Bearer secret"}


MATRICES = st.integers(1, 400).flatmap(lambda d: st.tuples(st.just(d), st.integers(0, 2**32 - 1)))


@given(MATRICES)
def test_quantized_cosines_are_close_and_do_not_depend_on_their_neighbours(
    drawn: tuple[int, int],
) -> None:
    dimensions, seed = drawn
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((17, dimensions)).astype(np.float32)
    query = random.standard_normal(dimensions).astype(np.float32)
    stored = quantized(vectors)
    found = similarities(stored, query)
    exact = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    assert np.abs(found - exact).max() < 0.03
    alone = [similarities(quantized(vectors[[row]]), query)[0] for row in range(17)]
    assert found.tolist() == [float(value) for value in alone]
    estimated = estimated_cosines(dimensions)[differing_signs(signs_of(stored.rows), query)]
    assert np.abs(estimated - exact).max() < 12 / dimensions**0.5
