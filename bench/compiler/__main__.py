"""`python -m bench.compiler REPOSITORY INDEX`: our call edges beside those of a compiler's index in SCIP format."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import results
from bench.compiler.judge import Judge, Outcome, Verdict, figures
from bench.compiler.scip import CompilerIndex
from bench.results import Row, Table
from bench.scratch import copied
from tersely.code.engine import Engine

TABLE = Table(
    "Compilers",
    "python -m bench.compiler REPOSITORY INDEX --record",
    "repository|indexer|sites:,|precision:.3f|recall:.3f|with_names:.3f|set_aside:,",
    "Call sites at which the compiler names a function, method or class of the repository, and what we name there by "
    "value. An interface and what implements it are one. `with_names`: recall if what is found by name alone counts. "
    "Set aside: sites at which the compiler stops at the name of a variable.",
    names=2,
)


def main(arguments: list[str]) -> int:
    """Compare; 0 if there was anything to compare."""
    parser = argparse.ArgumentParser(prog="python -m bench.compiler", description=__doc__)
    parser.add_argument("repository", type=Path, help="the source, named owner+repository")
    parser.add_argument("index", type=Path, help="what scip-typescript, scip-python or another indexer wrote")
    parser.add_argument("--verbose", action="store_true", help="list each site that differs")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    compiler = CompilerIndex(options.index)
    with copied(options.repository) as root, Engine.open(root) as engine:
        engine.refresh()
        verdicts = list(Judge(engine, compiler).verdicts())
    if options.verbose:
        print(*differences(verdicts), sep="\n", flush=True)
    rows = [row(options.repository.resolve().name.replace("+", "/"), compiler.tool, verdicts)]
    every = TABLE.merged("compiler", rows) if options.record else rows
    results.report("compiler", [TABLE.filled(every)], options.record)
    return 0 if rows[0]["sites"] else 1


def row(repository: str, tool: str, verdicts: list[Verdict]) -> Row:
    """The figures of one repository."""
    found = figures(verdicts)
    with_names = (found.found + found.by_name) / found.expected if found.expected else 0.0
    return {
        "repository": repository,
        "indexer": tool,
        "sites": found.expected,
        "precision": round(found.precision, 4),
        "recall": round(found.recall, 4),
        "with_names": round(with_names, 4),
        "set_aside": found.aside,
    }


def differences(verdicts: list[Verdict]) -> Iterator[str]:
    """Every site that is not right, with what was expected (-) and what is too much (+)."""
    for verdict in verdicts:
        if verdict.outcome in (Outcome.WRONG, Outcome.MISSED, Outcome.BY_NAME):
            site = verdict.site
            yield f"{site.path}:{site.line} {site.name}: {verdict.outcome}"
            yield from (f"    - {one}" for one in verdict.expected if not verdict.is_found)
            yield from (f"    + {one}" for one in verdict.extra)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
