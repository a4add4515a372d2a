"""Public query sets: CoSQA's questions to a web search engine, and semble's questions about repositories."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from bench.retrieval.corpus import export
from bench.retrieval.measures import Quality, ndcg, quality
from bench.retrieval.methods import KEPT, METHODS, Corpus
from tersely.code.engine import Engine

FILES_PER_DIRECTORY = 1_000


def cosqa(data: Path) -> dict[str, Quality]:
    """Of each method, on `cosqa-retrieval-dev-500.json` and `code_idx_map.txt` in `data`; an answer is a snippet."""
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
            return {
                name: quality(
                    (_paths(rank(entry["doc"])), {_snippet_path(int(entry["retrieval_idx"]))}) for entry in asked
                )
                for name, make in METHODS.items()
                for rank in [make(corpus)]
            }


def _snippet_path(number: int) -> str:
    return f"{number // FILES_PER_DIRECTORY}/{number}.py"


def _paths(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(symbol_id.partition(":")[0] for symbol_id in ids))


def semble(data: Path, repositories: Path) -> dict[str, tuple[int, float]]:
    """(questions, nDCG@10) of each repository whose annotations are in `data` and whose clone is at hand."""
    found: dict[str, tuple[int, float]] = {}
    for spec in json.loads((data / "repos.json").read_text("utf-8")):
        annotations = data / "annotations" / f"{spec['name']}.json"
        owner, name = spec["url"].removesuffix(".git").split("/")[-2:]
        clone = repositories / f"{owner}+{name}"
        if annotations.is_file() and clone.is_dir():
            tasks = json.loads(annotations.read_text("utf-8"))
            found[spec["name"]] = (len(tasks), _semble_of(spec, tasks, clone))
    return found


def _semble_of(spec: dict[str, Any], tasks: list[dict[str, Any]], clone: Path) -> float:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "repository"
        export(clone, spec["revision"], root)
        below = root / (spec.get("benchmark_root") or "")
        with Engine.open(below) as engine:
            engine.refresh()
            prefix = f"{spec['benchmark_root']}/" if spec.get("benchmark_root") else ""
            gains = []
            for task in tasks:
                hits = engine.search.find(task["query"], limit=KEPT).hits
                answers = [
                    target for target in [*task["relevant"], *task.get("secondary", [])] if (root / target).exists()
                ]
                gains.append(ndcg([prefix + hit.symbol.path for hit in hits], answers, KEPT))
            return sum(gains) / len(gains)
