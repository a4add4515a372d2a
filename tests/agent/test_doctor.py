"""`doctor` tries what a model's server can do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agent.model_servers import Scripted
from tests.agent.ollama import Front

from tersely.cli.agent import servers
from tersely.cli.agent.command_spec import ChatParameters
from tersely.cli.agent.doctor import examined_model
from tersely.cli.main import main


def test_the_doctor_tries_a_server(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted(["Hello."], window=2_048)
    monkeypatch.setenv("TERSELY_CHAT_URL", server.url)
    found = list(examined_model(tmp_path, ChatParameters()))
    assert all(is_well for is_well, _ in found)
    told = [what.strip() for _, what in found]
    assert told[0] == f"model scripted0 of llama.cpp at {server.url}"
    assert {
        "grammar: yes, kept",
        "window: yes, 2,048 tokens",
        "calls are asked for by: grammar",
    } <= set(told)


def test_a_server_that_was_named_and_is_not_there_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERSELY_CHAT_URL", "http://127.0.0.1:9")
    ((is_well, what),) = examined_model(tmp_path, ChatParameters())
    assert not is_well
    first, *hint = what.splitlines()
    assert "no server of models listens" in first
    assert "llama-server" in hint[0]


def test_without_any_server_it_says_what_to_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TERSELY_CHAT_URL", raising=False)
    monkeypatch.setattr(servers, "USUAL", (("nothing", "http://127.0.0.1:9"),))
    ((is_well, what),) = examined_model(tmp_path, ChatParameters())
    assert is_well
    assert "tersely chat --url" in what


def test_the_doctor_tries_what_looks_like_ollama(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Front(scripted(["Hello."])) as front:
        monkeypatch.setenv("TERSELY_CHAT_URL", front.url)
        found = list(examined_model(tmp_path, ChatParameters()))
    assert all(is_well for is_well, _ in found)
    told = [what.strip() for _, what in found]
    assert told[0] == f"model {front.model} of ollama at {front.url}"
    assert told[-1] in {"calls are asked for by: schema", "calls are asked for by: text"}


def test_one_server_is_checked_without_a_configuration(
    scripted: Scripted,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERSELY_CHAT_URL", "http://127.0.0.1:9")
    server = scripted(["Hello."], window=4_096)
    assert main(["doctor", "--url", server.url, "--kind", "openai", "--model", "scripted0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"ok   model scripted0 of llama.cpp at {server.url}"
    assert all(line.startswith("ok ") for line in lines)
    assert main(["doctor", "--url", server.url, "--model", "nosuch"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("bad ")
    assert "has no model 'nosuch'" in told.out
    assert told.err.startswith("doctor_found: ")


def test_a_window_in_which_nothing_fits_is_bad(
    scripted: Scripted,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    server = scripted(["Hello."], window=512)
    assert main(["doctor", "--url", server.url]) == 1
    assert "the window is too small" in capsys.readouterr().out
