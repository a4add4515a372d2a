"""A real server, a real grammar, and a model that means nothing: a thousand answers of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from bench.modelserver.server import Server
from tests.agent.asking import asked
from tests.agent.random_model import CALL, CALL_END, LINE_END, fuzz_tokens
from tests.agent.tool_calling.tools import PATHS, TOOLS, first_call
from tests.depth import mostly_slow

from tersely.agent.tool_calling import CallFormat, PathTrie, ToolCall
from tersely.agent.tool_calling.grammar import grammar_for
from tersely.capabilities.declaration.declaration import Role

MOST_TOKENS = 400  # of one answer; one that is cut off there is no answer
# Added to the logits of what ends lines, and begins and ends calls: it would talk until it is cut
# off, or else.
LIKELIER = {LINE_END: 4.0, CALL: 8.0, CALL_END: 7.0}


class Answers(NamedTuple):
    calls: int
    malformed: list[str]
    unknown_paths: list[str]


def fuzz(server: Server, paths: PathTrie, count: int, seed: int = 0) -> Answers:
    """Ask so many times, and read every answer."""
    names_of_paths = {
        tool.name: [one.name for one in tool.parameters if one.role is Role.PATH] for tool in TOOLS
    }
    calls, malformed, unknown = 0, [], []
    for choice in choices(server, grammar_for(TOOLS, paths), count, seed):
        text = choice["message"]["content"]
        if choice["finish_reason"] == "length":
            continue
        call = first_call(text, paths, CallFormat.GRAMMAR)
        if isinstance(call, ToolCall):
            calls += 1
            named = [call.arguments.get(name, ".") for name in names_of_paths[call.tool]]
            unknown += [str(path) for path in named if path not in paths]
        elif call is not None or "\n<call" in f"\n{text}":
            malformed.append(f"{text!r}: {call}")
    return Answers(calls, malformed, unknown)


def choices(server: Server, grammar: str, count: int, seed: int) -> list[dict[str, Any]]:
    texts = fuzz_tokens().texts
    bias = [[texts.index(text.replace("\n", "\u010a")), more] for text, more in LIKELIER.items()]
    shared = {
        "grammar": grammar,
        "logit_bias": bias,
        "max_tokens": MOST_TOKENS,
        "cache_prompt": True,
    }
    sampling = {"temperature": 1.3, "top_k": 0, "min_p": 0.0, "top_p": 1.0}
    bodies = [
        {
            **shared,
            **sampling,
            "messages": [{"role": "user", "content": f"message {number % 7}"}],
            "seed": seed * 1_000_003 + number,
        }
        for number in range(count)
    ]
    return [asked(server, "/v1/chat/completions", body)["choices"][0] for body in bodies]


@pytest.mark.parametrize("count", mostly_slow([50, 750], 50))
def test_no_call_is_malformed_and_no_path_invented(model_server: Server, count: int) -> None:
    paths = PathTrie(f"src/part{number % 7}/file_{number}.py" for number in range(60))
    found = fuzz(model_server, paths, count)
    assert found.malformed == []
    assert found.unknown_paths == []
    assert found.calls > 0.8 * count


@pytest.mark.parametrize("count", mostly_slow([50, 250], 50))
def test_files_may_be_called_anything(model_server: Server, count: int) -> None:
    odd = [
        'a "quoted" name',
        "back\\slash",
        "ü/日本/✓.py",
        "[x]",
        "a-b_c (1).txt",
        "::=",
        "|",
        "\\n",
    ]
    found = fuzz(model_server, PathTrie([*PATHS, *odd]), count, seed=1)
    assert found.malformed == []
    assert found.unknown_paths == []
    assert found.calls > 0.8 * count
