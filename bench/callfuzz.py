"""Calls by models that mean nothing: how many of a thousand come back malformed, or name a file that is not there.

    python -m bench.callfuzz --count 10000 --record

A model of random weights is asked through llama.cpp's server, with the grammar of the agent's calls over 20,000 paths.
Line ends and the bracket that opens a call are made likelier, or else it would talk until it is cut off. An answer that
was cut off by the bound on tokens is no answer; how many there are is told as well.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.machine import facts
from bench.modelserver.asked import asked
from bench.modelserver.scripts import write_random
from bench.modelserver.server import Server
from bench.modelserver.weights import CALL, CALL_END, LINE_END, fuzz_tokens
from tersely.agent.calling import Call, Paths, Way, read_call
from tersely.agent.calling.grammar import grammar_for
from tersely.agent.tools.declaration import Kind, Tool

MOST_TOKENS = 400
FEW_PATHS = 20  # beside which the time of a token is measured
# Added to the logits of what ends lines, and begins and ends calls.
LIKELIER = {LINE_END: 4.0, CALL: 8.0, CALL_END: 7.0}
WORDS = "src lib core api auth models views tests db cache http forms admin static".split()


class Fuzzed(NamedTuple):
    """What came of so many answers."""

    answers: int
    calls: int
    prose: int  # answers without a call
    cut: int  # by the bound on tokens
    malformed: tuple[str, ...]
    unknown_paths: tuple[str, ...]
    token_ms: float  # as the server measured it, sampling under the grammar included
    seconds: float


def some_paths(count: int, seed: int = 0) -> Paths:
    """As many paths of files as a large repository has."""
    made = random.Random(seed)
    found: set[str] = set()
    while len(found) < count:
        folders = "/".join(made.choice(WORDS) for _ in range(made.randint(1, 5)))
        found.add(f"{folders}/{made.choice(WORDS)}_{made.randint(0, 500)}.py")
    return Paths(found)


def fuzz(server: Server, tools: Sequence[Tool], paths: Paths, count: int, seed: int = 0) -> Fuzzed:
    """Ask so many times, and read every answer."""
    grammar = grammar_for(tools, paths)
    kinds = {tool.name: [each.name for each in tool.parameters if _is_known_path(each)] for tool in tools}
    bias = [[fuzz_token(text), more] for text, more in LIKELIER.items()]
    tally = {"calls": 0, "prose": 0, "cut": 0}
    malformed, unknown = [], []
    tokens, spent_ms = 0, 0.0
    begun = time.perf_counter()
    for number in range(count):
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": f"message {number % 7}"}], "grammar": grammar, "logit_bias": bias,
            "max_tokens": MOST_TOKENS, "seed": seed * 1_000_003 + number, "temperature": 1.3, "top_k": 0, "min_p": 0.0,
            "top_p": 1.0, "cache_prompt": True,
        }  # fmt: skip
        answer = asked(server, "/v1/chat/completions", body)
        tokens += answer["timings"]["predicted_n"]
        spent_ms += answer["timings"]["predicted_ms"]
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        call = None if choice["finish_reason"] == "length" else read_call(text, tools, paths, Way.GRAMMAR)
        if choice["finish_reason"] == "length":
            tally["cut"] += 1
        elif isinstance(call, Call):
            tally["calls"] += 1
            named = [call.arguments.get(name, ".") for name in kinds[call.tool]]
            unknown += [str(path) for path in named if path not in paths]
        elif call is None and "\n<call" not in f"\n{text}":
            tally["prose"] += 1
        else:
            malformed.append(f"{text!r}: {call}")
    spent = time.perf_counter() - begun
    wrong = (tuple(malformed), tuple(unknown))
    return Fuzzed(count, tally["calls"], tally["prose"], tally["cut"], *wrong, spent_ms / max(1, tokens), spent)


def fuzz_token(text: str) -> int:
    """The id of one of the tokens of the random models, by its text."""
    return fuzz_tokens().texts.index(text.replace("\n", "\u010a"))


def _is_known_path(parameter: Any) -> bool:
    return parameter.kind is Kind.PATH and not parameter.is_new


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz, print what came of it, and keep the figures."""
    from tersely.agent.tools.table import TOOLS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--paths", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "random.gguf"
        write_random(model, options.seed)
        with Server(model) as server:
            few = fuzz(server, TOOLS, some_paths(FEW_PATHS), options.count // 10, options.seed)
            found = fuzz(server, TOOLS, some_paths(options.paths), options.count, options.seed)
    for name, value in found._asdict().items():
        print(f"{name}: {len(value) if isinstance(value, tuple) else value}")
    for example in (*found.malformed[:5], *found.unknown_paths[:5]):
        print(example)
    if options.record:
        record(found, few, options.paths)
    return int(bool(found.malformed or found.unknown_paths))


def record(found: Fuzzed, few: Fuzzed, paths: int) -> None:
    """Keep the figures."""
    counts = {name: len(value) if isinstance(value, tuple) else value for name, value in found._asdict().items()}
    results.keep(
        "callfuzz",
        {"machine": facts(), "paths": paths, "few_paths": FEW_PATHS, "few_token_ms": few.token_ms, **counts},
    )


if __name__ == "__main__":
    sys.exit(main())
