"""`python -m bench.retrieval REPOSITORIES`: how well search finds, beside simpler ways of
searching.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from bench import results
from bench.repositories import measured_clones
from bench.results import Row, Table
from bench.retrieval import public
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

COMMAND = "python -m bench.retrieval REPOSITORIES --cosqa DIR --record"
TABLE = Table(
    "Retrieval",
    COMMAND,
    f"repository|set|questions:,|{'|'.join(f'{name}:.3f' for name in METHODS)}",
    "Mean reciprocal rank, recall, both of the first ten hits.",
    names=2,
)
MEAN = "mean"
LEAST_QUERIES = 20  # a repository with fewer says little and is left out


def main(arguments: list[str]) -> int:
    """Measure all that was named; 0 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument(
        "repositories", type=Path, help="folder of clones with history, each named owner+repository"
    )
    parser.add_argument(
        "--only", default="", metavar="WORD", help="only clones whose name has this"
    )
    parser.add_argument(
        "--cosqa", type=Path, help="`data/search` of a clone of Jun-jie-Huang/CoCLR"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for clone in (
        path for path in measured_clones(options.repositories) if options.only in path.name
    ):
        for name, count, found in figures(clone):
            rows.append({"repository": clone.name, "set": name, "questions": count, **found})
            print(rows[-1], flush=True)
    if options.cosqa:
        count, found = public.cosqa(options.cosqa)
        rows.append({"repository": "CoSQA", "set": "dev", "questions": count, **found})
    if options.record:
        rows = TABLE.merged("retrieval", rows)
    tables = (
        [TABLE.filled([*(row for row in rows if row["repository"] != MEAN), *means(rows)])]
        if rows
        else []
    )
    results.report("retrieval", tables, options.record)
    return 0 if tables else 1


def figures(clone: Path) -> Iterator[tuple[str, int, dict[str, Quality]]]:
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
            name: quality(
                (rank(query.text), wanted) for query, wanted in zip(queries, answers, strict=True)
            )
            for name, make in METHODS.items()
            for rank in [make(corpus)]
        }


def means(rows: Sequence[Row]) -> Iterator[Row]:
    """The means over the repositories of each set."""
    for name in ("docstrings", "commits"):
        of_set = [row for row in rows if row["set"] == name and row["repository"] != MEAN]
        if of_set:
            found = {method: _mean(row[method] for row in of_set) for method in METHODS}
            yield {
                "repository": MEAN,
                "set": name,
                "questions": sum(row["questions"] for row in of_set),
                **found,
            }


def _mean(qualities: Iterable[Sequence[float]]) -> Quality:
    ranks, recalls = zip(*qualities, strict=True)
    return Quality(fmean(ranks), fmean(recalls))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
