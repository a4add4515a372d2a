"""`python -m bench.speed.questions TREE…`: the processor time of questions, each asked by a process of its own.

The index is there; no daemon is asked, and no answer is kept. Asked about are functions and methods
of the language that most files of a tree are written in, drawn at random, the same for the same
tree.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import results
from bench.results import Row, Table
from bench.scratch import copied
from bench.speed.child import run
from bench.speed.floors import python_start
from bench.speed.measures import SEED, Bench
from tersely.code.languages.registry import family_of
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.foundation.errors import EXIT_NEGATIVE, EXIT_OK
from tersely.workspace import Workspace

DEFAULT_SYMBOLS = 200
FLOOR_RUNS = 20
MAX_QUESTION_SECONDS = 60.0  # of the clock, after which a question counts as one without an end
ALONE = {"TERSELY_DAEMON": "off"}
TABLE = Table(
    "Questions, each in a process of its own",
    "python -m bench.speed.questions TREE… --record",
    "repository|question|asked:,|median:.2f|p95:.2f|slowest:.2f|median_ratio:.1f|p95_ratio:.1f|without_end:,|slowest_about",
    "Processor seconds of the whole process, its index up to date, no daemon and nothing kept; and how many times that"
    " of `python -c pass` in the same run.",
    names=2,
)
QUESTIONS: dict[str, Callable[[Symbol], Sequence[str]]] = {
    "callers": lambda symbol: ("symbol", "callers", symbol.id),
    "impact, depth 2": lambda symbol: ("impact", symbol.id, "--depth", "2"),
    "context, 1000 tokens": lambda symbol: ("context", symbol.id, "--budget", "1000"),
    "plan": lambda symbol: ("plan", f"{symbol.name} in {symbol.path} gives a wrong answer"),
    "packet": lambda symbol: ("packet", f"{symbol.name} gives a wrong answer"),
}


def measure(tree: Path, number: int) -> Iterator[Row]:
    """A row for each question about so many symbols of a tree that may be written to."""
    bench = Bench(tree, FLOOR_RUNS)
    bench.compile()
    run(bench.tersely("index", "--quiet"))
    floor = bench.measured(python_start(tree)).cpu_seconds
    symbols = drawn(tree, number)
    for question, words in QUESTIONS.items():
        taken = [(_seconds(bench, words(symbol)), symbol.id) for symbol in symbols]
        times = sorted(seconds for seconds, _ in taken if seconds is not None)
        if not times:
            continue
        median, p95 = statistics.median(times), times[-1 - len(times) // 20]
        yield {
            "repository": tree.name,
            "question": question,
            "asked": len(taken),
            "median": median,
            "p95": p95,
            "slowest": times[-1],
            "median_ratio": median / floor,
            "p95_ratio": p95 / floor,
            "without_end": len(taken) - len(times),
            "slowest_about": max(taken, key=lambda one: one[0] or MAX_QUESTION_SECONDS)[1],
        }


def drawn(tree: Path, number: int) -> list[Symbol]:
    """At most so many functions and methods of the languages that most are written in."""
    with Workspace.open(tree) as workspace:
        workspace.check_freshness()
        every = [
            symbol
            for symbol in workspace.engine.store.symbols()
            if symbol.kind in CALLABLE_KINDS and symbol.name
        ]
    ((family, _),) = Counter(family_of(symbol.language) for symbol in every).most_common(1)
    own = [symbol for symbol in every if family_of(symbol.language) == family]
    return random.Random(SEED).sample(own, min(number, len(own)))


def _seconds(bench: Bench, words: Sequence[str]) -> float | None:
    """The processor seconds of a command, None for one that had no end."""
    command = replace(
        bench.tersely(*words, "--quiet"),
        environment={**bench.compiled, **ALONE},
        seconds=MAX_QUESTION_SECONDS,
        statuses=(EXIT_OK, EXIT_NEGATIVE),
    )
    try:
        return run(command).cpu_seconds
    except TimeoutError:
        return None


def main(arguments: list[str]) -> int:
    """Measure and print; `--record` keeps the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.questions", description=__doc__)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE", help="source tree, copied")
    parser.add_argument("--symbols", type=int, default=DEFAULT_SYMBOLS, help="asked about a tree")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for code in options.trees:
        with copied(code) as tree:
            for row in measure(tree, options.symbols):
                print(row, flush=True)
                rows.append(row)
    kept = TABLE.merged("speed", rows) if options.record else rows
    results.report("speed", [TABLE.filled(kept)], options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
