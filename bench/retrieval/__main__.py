"""`python -m bench.retrieval REPOSITORIES`: how well search finds, beside simpler ways of searching."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import results
from bench.machine import facts
from bench.retrieval import pace, public
from bench.retrieval.corpus import export, has_history, without_docs
from bench.retrieval.measures import Quality, quality
from bench.retrieval.methods import METHODS, Corpus, same_name
from bench.retrieval.queries import (
    WINDOW_COMMITS,
    Query,
    base_of_commits,
    commit_queries,
    docstring_queries,
)
from tersely.code.engine import Engine

LEAST_QUERIES = 20  # a repository with fewer says little and is left out


def main(arguments: list[str]) -> int:
    """Measure all that was named; 0 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("repositories", type=Path, help="folder of clones with history, each named owner+repository")
    parser.add_argument("--only", default="", metavar="WORD", help="only clones whose name has this")
    parser.add_argument("--cosqa", type=Path, help="`data/search` of a clone of Jun-jie-Huang/CoCLR")
    parser.add_argument("--semble", type=Path, help="`benchmarks` of a clone of MinishLab/semble")
    parser.add_argument("--pace", type=Path, help="source to measure speed on, of more than 30,000 symbols")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = {"machine": facts(), "sets": [], "public": {}, "semble": {}, "pace": None}
    clones = [path for path in sorted(options.repositories.iterdir()) if path.is_dir() and options.only in path.name]
    for clone in clones:
        for name, count, found in measured(clone):
            record["sets"].append({"repository": clone.name, "set": name, "queries": count, "methods": found})
            _print(f"{clone.name} {name} ({count})", found)
    if options.cosqa:
        record["public"]["CoSQA dev"] = public.cosqa(options.cosqa)
        _print("CoSQA dev (500)", record["public"]["CoSQA dev"])
    if options.semble:
        record["semble"] = public.semble(options.semble, options.repositories)
        for name, (count, gain) in record["semble"].items():
            print(f"semble {name:<35} {count:>4} questions  nDCG@10 {gain:.3f}")
    if options.pace:
        record["pace"] = pace.measure(options.pace)._asdict()
        print(record["pace"])
    for name in sorted({row["set"] for row in record["sets"]}):
        _print(f"mean of {name}", mean_of(record["sets"], name))
    if options.record:
        results.keep(
            "retrieval", {**results.kept("retrieval"), **{key: value for key, value in record.items() if value}}
        )
    return 0 if any(record[key] for key in ("sets", "public", "semble", "pace")) else 1


def measured(clone: Path) -> Iterator[tuple[str, int, dict[str, Quality]]]:
    """(set, questions, quality of each method) for the sets that a clone has enough questions for."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "now"
        export(clone, "HEAD", root)
        with Engine.open(root) as engine:
            engine.refresh()
            queries = docstring_queries(engine)
            without_docs(root, engine)
        if len(queries) >= LEAST_QUERIES:
            yield "docstrings", len(queries), compare(root, queries)
        if has_history(clone, WINDOW_COMMITS):
            before = Path(place) / "before"
            export(clone, base_of_commits(clone), before)
            with Engine.open(before) as engine:
                engine.refresh()
                known = frozenset(symbol.id for symbol in engine.store.symbols())
            queries = commit_queries(clone, known)
            if len(queries) >= LEAST_QUERIES:
                yield "commits", len(queries), compare(before, queries)


def compare(root: Path, queries: list[Query]) -> dict[str, Quality]:
    """Every method on the same questions."""
    with Engine.open(root) as engine:
        engine.refresh()
        corpus = Corpus(engine)
        answers = [frozenset(map(same_name, query.answers)) for query in queries]
        return {
            name: quality((rank(query.text), wanted) for query, wanted in zip(queries, answers, strict=True))
            for name, make in METHODS.items()
            for rank in [make(corpus)]
        }


def mean_of(sets: list[dict[str, Any]], name: str) -> dict[str, Quality]:
    """The mean over the repositories of a set."""
    rows = [row["methods"] for row in sets if row["set"] == name]
    return {
        method: Quality(*(sum(values) / len(rows) for values in zip(*(row[method] for row in rows), strict=True)))
        for method in METHODS
    }


def _print(title: str, found: dict[str, Quality]) -> None:
    figures = "  ".join(f"{name} {value[0]:.3f}/{value[1]:.3f}" for name, value in found.items())
    print(f"{title:<42} {figures}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
