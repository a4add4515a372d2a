"""The models that the other tests ask are real ones: tokenized, cached, constrained and streamed by
llama.cpp.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench.modelserver.scripts import ENDED, Reply, tokens_of, write_scripted
from bench.modelserver.server import Server
from tests.agent.asking import asked
from tests.agent.model_servers import Scripted

CODE = "Two lines:\n\n```python\ndef f(x):\n    return x  # ünïcode ✓ 日本\n```\n"
SAME = "word " * 300 + "end"
Messages = list[dict[str, str]]


def talk(server: Server, messages: Messages, words: str, **more: Any) -> tuple[str, dict[str, Any]]:
    messages.append({"role": "user", "content": words})
    told = asked(server, "/v1/chat/completions", {"messages": messages, **more})
    said = told["choices"][0]["message"]["content"]
    messages.append({"role": "assistant", "content": said})
    return said, told["usage"]


def test_a_script_is_replayed_whatever_its_replies_have_in_common(scripted: Scripted) -> None:
    script = ["Hello.", "Hello.", CODE, SAME, CODE + "and more"]
    server = scripted(script)
    messages: Messages = [{"role": "system", "content": "Be brief."}]
    assert [talk(server, messages, f"message {turn}")[0] for turn in range(6)] == [*script, ENDED]


def test_a_reply_may_wait_for_words(scripted: Scripted) -> None:
    server = scripted(["first", Reply("a summary", when="Summarise"), "second"])
    messages: Messages = []
    assert talk(server, messages, "hello")[0] == "first"
    assert talk(server, [*messages], "Summarise this.")[0] == "a summary"
    assert talk(server, messages, "go on")[0] == "second"


def test_what_was_said_is_cached_when_the_conversation_goes_on(scripted: Scripted) -> None:
    server = scripted([CODE, SAME, "end"])
    messages: Messages = []
    _, first = talk(server, messages, "one")
    _, second = talk(server, messages, "two")
    kept = first["prompt_tokens"] + len(tokens_of(CODE))
    assert second["prompt_tokens_details"]["cached_tokens"] in range(kept - 1, kept + 1)


def test_a_grammar_has_the_last_word(scripted: Scripted) -> None:
    server = scripted(["yes, of course"])
    assert talk(server, [], "well?", grammar='root ::= "no" | "yes"')[0] == "yes"


def test_replies_are_tokenized_as_the_server_does(scripted: Scripted) -> None:
    server = scripted(["x"])
    for text in (CODE, SAME, "  leading\tand trailing  \n\n", "don't CamelCase 12345 __init__"):
        assert asked(server, "/tokenize", {"content": text})["tokens"] == tokens_of(text)


def test_a_random_model_says_something(model_server: Server) -> None:
    told = asked(
        model_server,
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8},
    )
    assert told["usage"]["completion_tokens"] > 0


def test_a_script_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at most"):
        write_scripted(tmp_path / "long.gguf", ["x"] * 100)


def test_a_killed_server_is_gone(scripted: Scripted) -> None:
    server = scripted(["x"])
    server.kill()
    with pytest.raises(OSError):
        asked(server, "/tokenize", {"content": "x"})


def test_the_example_of_the_documents_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "agent-models.md").read_text("utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    exec(compile(example, "agent-models.md", "exec"), {"path": tmp_path / "model.gguf"})
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")
