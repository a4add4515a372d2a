"""Other tools on the same questions, where they are installed below a folder (see
`bench/speed/peers.py`).

Each is asked in the way that its own help recommends for such a question, with the names and the
budget that we have; what it prints beyond a budget is cut off. What none of its commands can be
asked is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.scratch import git
from bench.speed.peers import PEERS
from bench.tokens.plain import keywords
from bench.tokens.questions import HALF, SUBJECT, SYMBOL, Question
from tersely.foundation.text.tokens import count

MAX_PEER_SECONDS = 120.0
# what tools print of a name that they do not know, or know twice
NOT_FOUND = ("(?:0)", "Ambiguous entry point")
CHARACTERS_A_TOKEN = 4  # where a tool takes its budget in characters, and by its own account

AIDER = """
import json, sys
from pathlib import Path
from aider.repomap import RepoMap
from tersely.foundation.text.tokens import count

class Silent:
    def __getattr__(self, name): return lambda *words, **others: None
    def read_text(self, path, *words, **others): return Path(path).read_text(errors="ignore")

class Model:
    def token_count(self, text): return count(str(text))

asked = json.load(sys.stdin)
root = Path.cwd()
answers = []
for budget in asked["budgets"]:
    map_ = RepoMap(map_tokens=budget, root=str(root), main_model=Model(), io=Silent(), refresh="always")
    map_.max_map_tokens = budget
    files = [str(root / path) for path in asked["files"]]
    answers.append(map_.get_ranked_tags_map([], files, budget, set(asked["near"]), set(asked["names"])) or "")
json.dump(answers, sys.stdout)
"""


def answers(
    question: Question, peers: Path, budgets: Sequence[int]
) -> Iterator[tuple[str, int, str]]:
    """(name, budget, text) of each tool that is installed and has such a question."""
    found = {peer.name: place for peer in PEERS if (place := peer.find(peers)) is not None}
    if "aider-chat" in found:
        texts = _aider(question, found["aider-chat"].parent / "python", budgets)
        yield from (
            ("aider's map", budget, text) for budget, text in zip(budgets, texts, strict=True)
        )
    if "llm-tldr" in found and question.kind == SYMBOL:
        text = _first_that_finds(found["llm-tldr"], question)
        yield from (("llm-tldr context", budget, text) for budget in budgets)
    if "tldr-swinton" in found:
        yield from _swinton(question, found["tldr-swinton"], budgets)


def _aider(question: Question, python: Path, budgets: Sequence[int]) -> list[str]:
    listed = git(question.tree, "ls-files", "-z").decode("utf-8", "replace").split("\0")
    near = {SYMBOL: [question.symbol.path], SUBJECT: [], HALF: list(question.changed)}[
        question.kind
    ]
    names = [question.symbol.name] if question.kind == SYMBOL else keywords(question.subject)
    asked = {
        "budgets": list(budgets),
        "files": [path for path in listed if path],
        "near": near,
        "names": names,
    }
    said = _said([str(python), "-c", AIDER], question.tree, json.dumps(asked))
    return list(json.loads(said)) if said else [""] * len(budgets)


def _swinton(
    question: Question, program: Path, budgets: Sequence[int]
) -> Iterator[tuple[str, int, str]]:
    if question.kind == SUBJECT:
        most = str(CHARACTERS_A_TOKEN * max(budgets))
        words = [
            "packet",
            "--project",
            ".",
            "--max-chars",
            most,
            "--max-files",
            "20",
            "--min-confidence",
            "0",
        ]
        packet = _said([str(program), *words, question.subject], question.tree)
        yield from (("tldr-swinton packet", budget, packet) for budget in budgets)
    said: str | None = None
    for budget in sorted(budgets, reverse=True):
        if said is None or count(said) > budget:  # a smaller budget changes nothing that it allows
            said = _within(question, program, budget)
        if question.kind != SUBJECT:
            yield (
                f"tldr-swinton {'context' if question.kind == SYMBOL else 'diff-context'}",
                budget,
                said,
            )


def _within(question: Question, program: Path, budget: int) -> str:
    limit = ["--budget", str(budget)]
    if question.kind == SYMBOL:
        return _first_that_finds(program, question, *limit, "--include-body")
    if question.kind == HALF:
        words = ["diff-context", "--project", ".", "--base", "HEAD~1", "--head", "HEAD", *limit]
        return _said([str(program), *words], question.tree)
    return ""


def _first_that_finds(program: Path, question: Question, *options: str) -> str:
    """`context` of a symbol by the most exact of its names that the tool knows."""
    symbol, said = question.symbol, ""
    for name in dict.fromkeys((f"{symbol.path}:{symbol.qualname}", symbol.qualname, symbol.name)):
        words = ["context", name, "--project", ".", "--lang", symbol.language, *options]
        said = _said([str(program), *words], question.tree)
        if said and not any(mark in said for mark in NOT_FOUND):
            break
    return said


def _said(command: Sequence[str], tree: Path, given: str = "") -> str:
    """What a command prints; nothing if it fails or takes too long."""
    environment = {**os.environ, "HOME": str(tree.parent)}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, input=given, capture_output=True, text=True, check=False,
            timeout=MAX_PEER_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
