"""Tokens as agents write them down themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tersely.integrations import transcripts
from tersely.integrations.transcripts import Transcripts


def _claude(answer: str, fresh: int) -> dict[str, Any]:
    usage = {"input_tokens": fresh - 12, "cache_creation_input_tokens": 2, "output_tokens": 10}
    usage["cache_read_input_tokens"] = 50_000
    return {"type": "assistant", "message": {"id": answer, "role": "assistant", "usage": usage}}


def _codex(total: int) -> dict[str, Any]:
    usage = {"input_tokens": total + 90, "cached_input_tokens": 100, "output_tokens": 10}
    return {
        "type": "event_msg",
        "payload": {"type": "token_count", "info": {"total_token_usage": usage}},
    }


def _gemini(answer: str, fresh: int) -> dict[str, Any]:
    tokens = {"input": fresh + 30, "output": 10, "cached": 50, "thoughts": 10, "total": fresh + 50}
    return {"id": answer, "type": "gemini", "tokens": tokens}


def _qwen(answer: str, fresh: int) -> dict[str, Any]:
    usage = {"promptTokenCount": fresh, "totalTokenCount": fresh + 7, "cachedContentTokenCount": 7}
    return {"uuid": answer, "type": "assistant", "usageMetadata": usage}


def write(path: Path, *lines: object) -> None:
    with path.open("a") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


@pytest.mark.parametrize(
    ("agent", "before", "lines", "tokens"),
    [
        # an answer of several parts has a line for each, and a sum that grows
        ("claude", _claude("a", 900), [_claude("b", 100), _claude("b", 120), _claude("c", 30)], 150),
        ("codex", _codex(900), [_codex(950), {"type": "event_msg", "payload": {}}, _codex(1_000)], 100),
        ("gemini", _gemini("a", 900), [_gemini("b", 100), _gemini("b", 100), _gemini("c", 5)], 105),
        ("qwen", _qwen("a", 900), [_qwen("b", 100), {"type": "user"}, _qwen("c", 5)], 105),
    ],
)  # fmt: skip
def test_what_is_written_from_now_on_counts_once(
    agent: str, before: Any, lines: list[Any], tokens: int, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    write(path, before)
    read = Transcripts(agent)
    read.begin(str(path))
    assert read.tokens() == 0
    write(path, *lines)
    read.begin(str(path))  # as every hook says it
    assert (read.tokens(), read.tokens()) == (tokens, tokens)


def test_sub_agents_and_new_sessions_count_too(tmp_path: Path) -> None:
    read = Transcripts("claude")
    read.begin(str(tmp_path / "one.jsonl"))  # is yet to be written
    (tmp_path / "one" / "subagents").mkdir(parents=True)
    write(tmp_path / "one.jsonl", _claude("a", 20))
    write(tmp_path / "one" / "subagents" / "agent-1.jsonl", _claude("b", 300))
    assert read.tokens() == 320
    read.begin(str(tmp_path / "two.jsonl"))
    write(tmp_path / "two.jsonl", _claude("c", 4_000))
    assert read.tokens() == 4_320


def test_lines_that_are_incomplete_damaged_or_long_are_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MAX_TRANSCRIPT_LINE_BYTES", 1_000)
    path = tmp_path / "session.jsonl"
    read = Transcripts("claude")
    read.begin(str(path))
    write(path, _claude("a", 20), {**_claude("b", 50), "text": "x" * 3_000})
    with path.open("a") as file:
        file.write(
            '{"usage"\n[1, "usage"]\n{"message": {"id": 7, "usage": {"input_tokens": -3}}}\n'
        )
        whole = json.dumps(_claude("c", 100))
        file.write(whole[:60])
    assert read.tokens() == 20
    with path.open("a") as file:
        file.write(whole[60:] + "\n")
    assert read.tokens() == 120


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read = Transcripts("claude")
    read.begin(str(tmp_path / "pipe"))
    read.begin(str(tmp_path))
    assert read.tokens() == 0
    other = Transcripts("aider")  # which is not known to write any
    other.begin(str(tmp_path / "pipe"))
    assert other.tokens() == 0
