"""`doctor` tries what a model's server can do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agent.model_servers import Scripted
from tests.agent.ollama import Front

from tersely.cli.agent import servers
from tersely.cli.agent.doctor import examined_model


def test_the_doctor_tries_a_server(scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = scripted(["Hello."], window=2_048)
    monkeypatch.setenv("TERSELY_CHAT_URL", server.url)
    found = list(examined_model(tmp_path))
    assert all(is_well for is_well, _ in found)
    told = [what.strip() for _, what in found]
    assert told[0] == f"model scripted0 of llama.cpp at {server.url}"
    assert {"grammar: yes, kept", "window: yes, 2,048 tokens", "calls are asked for by: grammar"} <= set(told)


def test_a_server_that_was_named_and_is_not_there_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERSELY_CHAT_URL", "http://127.0.0.1:9")
    ((is_well, what),) = examined_model(tmp_path)
    assert not is_well
    first, *hint = what.splitlines()
    assert "no server of models listens" in first
    assert "llama-server" in hint[0]


def test_without_any_server_it_says_what_to_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TERSELY_CHAT_URL", raising=False)
    monkeypatch.setattr(servers, "USUAL", (("nothing", "http://127.0.0.1:9"),))
    ((is_well, what),) = examined_model(tmp_path)
    assert is_well
    assert "tersely chat --url" in what


def test_the_doctor_tries_what_looks_like_ollama(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Front(scripted(["Hello."])) as front:
        monkeypatch.setenv("TERSELY_CHAT_URL", front.url)
        found = list(examined_model(tmp_path))
    assert all(is_well for is_well, _ in found)
    told = [what.strip() for _, what in found]
    assert told[0] == f"model {front.model} of ollama at {front.url}"
    assert told[-1] in {"calls are asked for by: schema", "calls are asked for by: text"}
