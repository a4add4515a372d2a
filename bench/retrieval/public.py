"""A public query set: CoSQA's questions to a web search engine."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from bench.retrieval.measures import Quality, quality
from bench.retrieval.methods import METHODS, Corpus
from tersely.code.engine import Engine

FILES_PER_DIRECTORY = 1_000


def cosqa(data: Path) -> tuple[int, dict[str, Quality]]:
    """How many questions there are in `data`, and the quality of each method; an answer is a
    snippet.
    """
    codes: dict[str, int] = json.loads((data / "code_idx_map.txt").read_text("utf-8"))
    asked = json.loads((data / "cosqa-retrieval-dev-500.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "snippets"
        for code, number in codes.items():
            path = root / _snippet_path(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code + "\n", "utf-8")
        with Engine.open(root) as engine:
            engine.refresh()
            corpus = Corpus(engine)
            found = {
                name: quality(
                    (_paths(rank(entry["doc"])), {_snippet_path(int(entry["retrieval_idx"]))})
                    for entry in asked
                )
                for name, make in METHODS.items()
                for rank in [make(corpus)]
            }
            return len(asked), found


def _snippet_path(number: int) -> str:
    return f"{number // FILES_PER_DIRECTORY}/{number}.py"


def _paths(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(symbol_id.partition(":")[0] for symbol_id in ids))
