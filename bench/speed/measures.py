"""What is measured, one function a table of results."""

from __future__ import annotations

import math
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.speed.child import Command, Run, median_of
from bench.speed.floors import ctags, parsing, python_start
from laconic.code.symbols import CALLABLE_KINDS, Symbol
from laconic.workspace import Workspace

SEED = 20_250_101
SAMPLED_SYMBOLS = 200
GROWTH = (1, 4, 16)  # copies of the code
INDEX_FOLDER = ".laconic"
MILLISECONDS = 1000.0


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `ratio` is to the floor or peer named by `beside`; 0 where there is none."""

    table: str
    name: str
    command: str
    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    beside: str = ""
    ratio: float = 0.0  # of processor seconds
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how often to measure. `tree` is a copy of the code that may be written to."""

    tree: Path
    runs: int
    ctags: str = "ctags"

    def laconic(self, *words: str) -> Command:
        """One command of the product, in a process of its own."""
        return Command([sys.executable, "-m", "laconic", *words], self.tree)

    def forget(self) -> None:
        """Delete the index."""
        shutil.rmtree(self.tree / INDEX_FOLDER, ignore_errors=True)


def _row(table: str, name: str, command: Command, measured: Run, floor: tuple[str, Run] | None = None) -> Row:
    words = " ".join(Path(word).name if word == sys.executable else word for word in command.words)
    ratio = measured.cpu_seconds / floor[1].cpu_seconds if floor and floor[1].cpu_seconds else 0.0
    return Row(
        table,
        name,
        words,
        measured.wall_seconds,
        measured.cpu_seconds,
        measured.peak_mb,
        floor[0] if floor else "",
        ratio,
    )


def cold(bench: Bench) -> Iterator[Row]:
    """A first index beside bare parsing and ctags."""
    parse = parsing(bench.tree)
    floor = median_of(bench.runs, parse)
    yield Row("cold", "tree-sitter parse, one process", "python -m bench.speed.floors TREE", *_figures(floor))
    if shutil.which(bench.ctags):
        tags = ctags(bench.ctags, bench.tree)
        yield _row("cold", "ctags", tags, median_of(bench.runs, tags), ("parse", floor))
    index = bench.laconic("index", "--quiet")
    yield _row("cold", "laconic index", index, median_of(bench.runs, index, bench.forget), ("parse", floor))


def _figures(run: Run) -> tuple[float, float, float]:
    return run.wall_seconds, run.cpu_seconds, run.peak_mb


def refresh(bench: Bench) -> Iterator[Row]:
    """Whole processes on a warm index: nothing changed, then one file changed before each run."""
    floor = ("python -c pass", median_of(bench.runs, python_start(bench.tree)))
    subprocess.run(bench.laconic("index", "--quiet").words, cwd=bench.tree, check=True)
    symbols = _sample(bench.tree)
    question = bench.laconic("symbol", "callers", symbols[0].id, "--json")
    yield _row("refresh", "callers, nothing changed", question, median_of(bench.runs, question), floor)
    victim = bench.tree / symbols[1].path
    yield _row("refresh", "callers, one file changed", question, median_of(bench.runs, question, _edit(victim)), floor)
    index = bench.laconic("index", "--quiet")
    yield _row("refresh", "index, one file changed", index, median_of(bench.runs, index, _edit(victim)), floor)


def _edit(path: Path) -> Callable[[], None]:
    serial = iter(range(1_000_000))

    def change() -> None:
        with path.open("a", encoding="utf-8") as out:
            out.write(f"\n\ndef bench_added_{next(serial)}():\n    return len([])\n")

    return change


def _sample(tree: Path) -> list[Symbol]:
    """Functions and methods to ask about, the same for the same tree."""
    with Workspace.open(tree) as workspace:
        every = [symbol for symbol in workspace.engine.lookup("*", limit=1_000_000) if symbol.kind in CALLABLE_KINDS]
    chosen = random.Random(SEED).sample(every, min(SAMPLED_SYMBOLS, len(every)))
    return sorted(chosen, key=lambda symbol: (not symbol.path.endswith(".py"), symbol.id))


def startup(bench: Bench) -> Iterator[Row]:
    """Commands that touch no repository."""
    floor = ("python -c pass", median_of(bench.runs, python_start(bench.tree)))
    yield _row("start", "python -c pass", python_start(bench.tree), floor[1])
    for words in (("--version",), ("--help",)):
        command = bench.laconic(*words)
        yield _row("start", f"laconic {' '.join(words)}", command, median_of(bench.runs, command), floor)


@dataclass(frozen=True, slots=True)
class Latency:
    """How long one kind of question takes in a process that holds the index open."""

    question: str
    asked: int
    median_ms: float
    p95_ms: float
    slowest_ms: float
    slowest: str  # the symbol


def warm(bench: Bench) -> Iterator[Latency]:
    """Questions about sampled symbols, each asked once after one question that opens everything."""
    symbols = _sample(bench.tree)
    with Workspace.open(bench.tree) as workspace:
        engine = workspace.engine
        questions: Sequence[tuple[str, Callable[[Symbol], object]]] = (
            ("symbol by id", lambda symbol: engine.lookup(symbol.id)),
            ("symbol by name", lambda symbol: engine.lookup(symbol.name)),
            ("callees", lambda symbol: engine.graph.callees(symbol.id)),
            ("callers", lambda symbol: engine.graph.callers(symbol.id)),
        )
        for name, ask in questions:
            ask(symbols[0])
            yield _latency(name, ask, symbols)


def _latency(name: str, ask: Callable[[Symbol], object], symbols: Sequence[Symbol]) -> Latency:
    taken: list[tuple[float, str]] = []
    for symbol in symbols:
        started = time.perf_counter()
        ask(symbol)
        taken.append(((time.perf_counter() - started) * MILLISECONDS, symbol.id))
    times = sorted(time for time, _ in taken)
    slowest = max(taken)
    p95 = times[math.ceil(len(times) * 0.95) - 1]
    return Latency(name, len(times), statistics.median(times), p95, *slowest)


def growth(bench: Bench, scratch: Path) -> Iterator[Row]:
    """A first index of 1, 4 and 16 copies of the code, each copy a package of its own."""
    first: Run | None = None
    for copies in GROWTH:
        tree = scratch / f"copies-{copies}"
        for number in range(copies):
            shutil.copytree(bench.tree, tree / f"copy{number}", ignore=shutil.ignore_patterns(INDEX_FOLDER, ".git"))
        larger = Bench(tree, bench.runs, bench.ctags)
        index = larger.laconic("index", "--quiet")
        measured = median_of(min(bench.runs, 2), index, larger.forget)
        shutil.rmtree(tree)
        first = first or measured
        exponent = math.log(measured.cpu_seconds / first.cpu_seconds, copies) if copies > 1 else 1.0
        row = _row("growth", f"{copies}x", index, measured, ("1x", first))
        yield Row(**{**{name: getattr(row, name) for name in row.__slots__}, "note": f"n^{exponent:.2f}"})
