"""Whether packs keep to their bounds and slices hold what they have to, over random symbols of real
repositories.

For each drawn function: a pack is never larger than its budget, nor than the whole files that it
shows something of; `symbol slice` gives no caller a place while a dependency has none; and what
`definition` says of the names in the function, which resolves them another way than `symbol deps`
does, is among its dependencies. Last, how long looking up a symbol takes, as a whole command (by
itself unless a daemon runs) and in a process that has been asked before.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.results import Row, Table, report
from tersely.capabilities.invoke import ask
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.context.lenses.candidate import BY_NAME, CALLER, TEST
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

BUDGETS = (300, 1_000, 4_000)
TABLE = Table(
    "Packs and slices of random functions",
    "python -m bench.slices REPOSITORY… --record",
    "repository|functions:,|packs:,|over_budget:,|over_files:,|callers_first:,|names:,|held:,|cold_ms:,|warm_ms:.2f",
    "Packs and slices of 300, 1,000 and 4,000 tokens: how many were larger than their budget, than the whole files "
    "they show something of, or had a caller before a dependency; of the names in the functions that are defined "
    "here, how many `symbol deps` holds; looking up a symbol, in milliseconds.",
)
MIN_LINES = 5  # of a drawn function
_NAME = re.compile(r"[^\W\d]\w*")
_WAITING = {CALLER, TEST, CALLER + BY_NAME, TEST + BY_NAME}


def measure(repository: Path, number: int, seed: int) -> Row:
    """The figures of one repository."""
    counts: Counter[str] = Counter()
    with Workspace.open(repository) as workspace:
        workspace.check_freshness()
        drawn = _drawn(workspace, number, seed)
        for symbol in drawn:
            _check_packs(workspace, symbol, counts)
            _check_closure(workspace, symbol, counts)
        warm = [_seconds(workspace, symbol) for symbol in drawn]
    cold = [_cold_seconds(repository, symbol) for symbol in drawn[:5]]
    times = {
        "cold_ms": round(1e3 * statistics.median(cold)),
        "warm_ms": round(1e3 * statistics.median(warm), 2),
    }
    return {"repository": repository.name, "functions": len(drawn), **counts, **times}


def _drawn(workspace: Workspace, number: int, seed: int) -> list[Symbol]:
    usable = [
        symbol
        for symbol in workspace.engine.store.symbols()
        if symbol.kind in CALLABLE_KINDS and symbol.end_line - symbol.start_line >= MIN_LINES
    ]
    return random.Random(seed).sample(usable, min(number, len(usable)))


def _check_packs(workspace: Workspace, symbol: Symbol, counts: Counter[str]) -> None:
    for budget in BUDGETS:
        try:
            pack = ask(workspace, "code.context", symbols=(symbol.id,), budget=budget)
            sliced = ask(workspace, "code.symbol.slice", symbols=(symbol.id,), budget=budget)
        except TerselyError as error:
            counts["refused"] += error.code == "budget_too_small"
            continue
        counts["packs"] += 2
        count = workspace.tokenizer.count
        for one in (pack, sliced):
            counts["over_budget"] += count(one.text) > budget
            counts["over_files"] += count(one.text) > _plain_tokens(workspace, one)
        shown = {item.reason for item in sliced.items}
        counts["callers_first"] += bool(shown & _WAITING) and not set(sliced.omitted) <= _WAITING


def _plain_tokens(workspace: Workspace, pack: Any) -> int:
    """The files that a pack shows something of, whole under their headings, and its line of what
    had no room.
    """
    paths = dict.fromkeys([*(item.id.partition(":")[0] for item in pack.items), *pack.whole_files])
    texts = [
        f"=== {path} whole\n{workspace.source(path).decode('utf-8', 'replace')}" for path in paths
    ]
    last = pack.text.splitlines()[-1] if pack.omitted else ""
    return sum(map(workspace.tokenizer.count, [*texts, last]))


def _check_closure(workspace: Workspace, symbol: Symbol, counts: Counter[str]) -> None:
    """Compare what names mean by `definition` with the dependencies."""
    found = ask(workspace, "code.symbol.deps", symbol=symbol.id, limit=1_000)
    held = {need.id for need in found.needs.items} | {symbol.id, symbol.parent}
    lines = workspace.engine.source(symbol.path).decode("utf-8", "replace").split("\n")
    code = workspace.texts().body(symbol)
    for line in code:
        for name in _NAME.finditer(lines[line.number - 1]):
            for place in workspace.engine.definition(symbol.path, line.number, name.start()):
                defined = workspace.engine.store.symbol(place.symbol) if place.symbol else None
                if defined is None or _is_inside(defined, symbol) or defined.name != name[0]:
                    continue
                counts["names"] += 1
                counts["held"] += defined.id in held or defined.parent in held


def _is_inside(defined: Symbol, symbol: Symbol) -> bool:
    within = symbol.start_byte <= defined.start_byte and defined.end_byte <= symbol.end_byte
    return defined.path == symbol.path and within


def _seconds(workspace: Workspace, symbol: Symbol) -> float:
    started = time.perf_counter()
    ask(workspace, "code.symbol.find", queries=(symbol.id,))
    return time.perf_counter() - started


def _cold_seconds(repository: Path, symbol: Symbol) -> float:
    """A process of its own."""
    command = [sys.executable, "-m", "tersely", "symbol", "get", symbol.id]
    started = time.perf_counter()
    subprocess.run(command, cwd=repository, capture_output=True, check=True)
    return time.perf_counter() - started


def main() -> int:
    """Measure some repositories."""
    parser = argparse.ArgumentParser(prog="python -m bench.slices", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--symbols", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/RESULTS.md"
    )
    arguments = parser.parse_args()
    rows = [
        measure(one.resolve(), arguments.symbols, arguments.seed) for one in arguments.repositories
    ]
    report("slices", [TABLE.filled(rows)], arguments.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
