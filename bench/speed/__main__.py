"""`python -m bench.speed CODE`: how fast and how big, on a copy of a source tree."""

from __future__ import annotations

import argparse
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench import results
from bench.results import Table
from bench.scratch import copied
from bench.speed import large, measures, peers
from bench.speed.measures import Bench, Row

TABLES = ("start", "cold", "refresh", "warm", "large", "peers")
ASKED_FOR = ("large", "peers")  # measured when they are asked for
ONCE = ("warm", *ASKED_FOR)
COMMANDS = "name|command|cpu_seconds:.3f|wall_seconds:.3f|peak_mb:,.0f|ratio:.2f|beside|note"
QUESTIONS = "question|asked:,|median_ms:.2f|p95_ms:.2f|slowest_ms:,.0f|failed:,"
DEFAULT_RUNS = 5
MAX_RUNS = 20


def main(arguments: list[str]) -> int:
    """Measure the chosen tables."""
    options = _options(arguments)
    with copied(options.code) as tree:
        bench = Bench(tree, min(options.runs, MAX_RUNS), options.ctags)
        bench.compile()
        chosen = options.table or [name for name in TABLES if name not in ASKED_FOR]
        for name in chosen:
            columns = QUESTIONS if name == "warm" else COMMANDS
            command = f"python -m bench.speed CODE --table {name} --record"
            runs = "one run" if name in ONCE else f"medians of {bench.runs} runs"
            rows = list(_table(name, bench, tree.parent, options))
            table = Table(
                f"Speed and memory: {name}", command, columns, f"`{options.code.name}`, {runs}."
            )
            results.report("speed", [table.filled(rows)], options.record)
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    standard = Path(sysconfig.get_path("stdlib"))
    parser.add_argument(
        "code",
        type=Path,
        nargs="?",
        default=standard,
        help="source tree, copied (default: the standard library)",
    )
    parser.add_argument(
        "--table", action="append", choices=TABLES, help="only this table; may be repeated"
    )
    parser.add_argument(
        "--runs", type=int, default=DEFAULT_RUNS, help=f"runs a command, at most {MAX_RUNS}"
    )
    parser.add_argument("--ctags", default="ctags", help="Universal Ctags")
    parser.add_argument("--peers", type=Path, help="folder of the installed peers")
    parser.add_argument(
        "--record", action="store_true", help="keep chosen tables in RESULTS.md too"
    )
    return parser.parse_args(arguments)


def _table(
    name: str, bench: Bench, scratch: Path, options: argparse.Namespace
) -> Iterable[dict[str, Any]]:
    rows: dict[str, Callable[[], Iterable[Any]]] = {
        "start": lambda: measures.startup(bench),
        "cold": lambda: measures.cold(bench),
        "refresh": lambda: measures.refresh(bench),
        "warm": lambda: measures.warm(bench),
        "large": lambda: large.large(bench, scratch),
        "peers": lambda: peers.measure(bench, options.peers),
    }
    for row in rows[name]():
        print(row, flush=True)
        yield row.as_row() if isinstance(row, Row) else row._asdict()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
