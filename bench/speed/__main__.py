"""`python -m bench.speed CODE`: how fast and how big, on a copy of a source tree."""

from __future__ import annotations

import argparse
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import results
from bench.machine import facts
from bench.speed import large, measures, peers
from bench.speed.measures import Bench, Row

TABLES = ("start", "cold", "refresh", "warm", "steady", "growth", "large", "peers")
BIG = ("growth", "large")  # many copies of the code: measured when they are asked for
ONCE = ("steady", "peers", *BIG)
DEFAULT_RUNS = 5
MAX_RUNS = 20


def main(arguments: list[str]) -> int:
    """Measure the chosen tables."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="tersely-speed-") as scratch:
        tree = Path(scratch) / options.code.name
        shutil.copytree(options.code, tree, ignore=shutil.ignore_patterns(*measures.NOT_COPIED), symlinks=True)
        bench = Bench(tree, min(options.runs, MAX_RUNS), options.ctags)
        bench.compile()
        left_out = BIG if options.peers else (*BIG, "peers")
        chosen = options.table or [name for name in TABLES if name not in left_out]
        tables = {name: list(_table(name, bench, Path(scratch), options)) for name in chosen}
    if options.record or not options.table:
        about = {"machine": facts(), "code": options.code.name}
        new = {
            name: {**about, "runs": 1 if name in ONCE else bench.runs, "rows": rows} for name, rows in tables.items()
        }
        kept = results.kept("speed") | new
        results.keep("speed", {name: kept[name] for name in TABLES if name in kept})
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    standard = Path(sysconfig.get_path("stdlib"))
    parser.add_argument(
        "code", type=Path, nargs="?", default=standard, help="source tree, copied (default: the standard library)"
    )
    parser.add_argument("--table", action="append", choices=TABLES, help="only this table; may be repeated")
    parser.add_argument("--runs", type=int, default=DEFAULT_RUNS, help=f"runs a command, at most {MAX_RUNS}")
    parser.add_argument("--ctags", default="ctags", help="Universal Ctags")
    parser.add_argument("--peers", type=Path, help="folder of the installed peers")
    parser.add_argument("--record", action="store_true", help="keep chosen tables in RESULTS.md too")
    return parser.parse_args(arguments)


def _table(name: str, bench: Bench, scratch: Path, options: argparse.Namespace) -> Iterable[dict[str, Any]]:
    rows: dict[str, Callable[[], Iterable[Any]]] = {
        "start": lambda: measures.startup(bench),
        "cold": lambda: measures.cold(bench),
        "refresh": lambda: measures.refresh(bench),
        "warm": lambda: measures.warm(bench),
        "steady": lambda: large.steady(bench, scratch),
        "growth": lambda: measures.growth(bench, scratch),
        "large": lambda: large.large(bench, scratch),
        "peers": lambda: peers.measure(bench, options.peers),
    }
    for row in rows[name]():
        print(_line(row), flush=True)
        yield asdict(row)


def _line(row: Any) -> str:
    if isinstance(row, Row):
        ratio = f"  {row.ratio:6.2f} x {row.beside}" if row.beside else ""
        return (
            f"{row.table:<8} {row.name:<32} {row.cpu_seconds:8.3f} CPU s {row.wall_seconds:8.3f} s "
            f"{row.peak_mb:7.0f} MB{ratio}  {row.note}"
        )
    return (
        f"{'warm':<8} {row.question:<32} median {row.median:8.2f} ms  p95 {row.p95:8.2f} ms  "
        f"slowest {row.slowest:.0f} ms {row.slowest_symbol}{f'  FAILED {row.failed}' if row.failed else ''}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
