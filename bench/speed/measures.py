"""What is measured, one function a table of results."""

from __future__ import annotations

import gc
import math
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import tersely
from bench.speed.child import Command, Run, median_of, run
from bench.speed.floors import ctags, parsing, python_start
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.daemon.processes.analysis import COLLECTED_OBJECTS
from tersely.workspace import Workspace

SEED = 20_250_101
SAMPLED_SYMBOLS = 200
MAX_SYMBOLS = 10_000_000
INDEX_FOLDER = ".tersely"
MILLISECONDS = 1000.0
PYTHON_SUFFIX = ".py"
CONTEXT_BUDGET = 2000  # tokens


@dataclass(frozen=True, slots=True)
class Row:
    """One command measured. `ratio` is its processor time to that of `beside`."""

    name: str
    command: str
    measured: Run | None = None
    beside: str = ""
    ratio: float | None = None
    note: str = ""

    def as_row(self) -> dict[str, object]:
        """As a row of a table."""
        figures = asdict(self.measured) if self.measured else {}
        return {"name": self.name, "command": f"`{self.command}`", **figures, "ratio": self.ratio,
                "beside": self.beside, "note": self.note}  # fmt: skip


class Latency(NamedTuple):
    """How long one kind of question takes in a process that holds the index open."""

    question: str
    asked: int
    median_ms: float
    p95_ms: float
    slowest_ms: float
    slowest_symbol: str
    failed: int


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how often to measure. `tree` is a copy of the code that may be written to."""

    tree: Path
    runs: int
    ctags: str = "ctags"

    @property
    def compiled(self) -> dict[str, str]:
        """An environment in which the product has its bytecode, as an installer leaves it, whatever
        ours says.
        """
        return {
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(self.tree.parent / "bytecode"),
        }

    def tersely(self, *words: str) -> Command:
        """One command of the product, in a process of its own."""
        return Command([sys.executable, "-m", "tersely", *words], self.tree, self.compiled)

    def compile(self) -> None:
        """Make the bytecode of the product."""
        package = str(Path(tersely.__file__).parent)
        run(Command([sys.executable, "-m", "compileall", "-q", package], self.tree, self.compiled))

    def forget(self) -> None:
        """Delete the index."""
        shutil.rmtree(self.tree / INDEX_FOLDER, ignore_errors=True)

    def measured(self, command: Command, before: Callable[[], object] = lambda: None) -> Run:
        """Medians of the runs."""
        return median_of(self.runs, command, before)


Floor = tuple[str, Run]


def row(
    name: str, command: Command, measured: Run, floor: Floor | None = None, note: str = ""
) -> Row:
    """One measured command as a row of results, beside a floor if there is one."""
    words = " ".join("python" if word == sys.executable else word for word in command.words)
    if floor is None:
        return Row(name, words, measured, note=note)
    beside, least = floor
    return Row(
        name, words, measured, beside, measured.cpu_seconds / max(least.cpu_seconds, 1e-6), note
    )


def cold(bench: Bench) -> Iterator[Row]:
    """A first index beside bare parsing and ctags."""
    parse = parsing(bench.tree)
    floor = ("tree-sitter parse", bench.measured(parse))
    yield row(
        "tree-sitter parse, one process", Command(["bench.speed.floors"], bench.tree), floor[1]
    )
    if shutil.which(bench.ctags):
        tags = ctags(bench.ctags, bench.tree)
        yield row("ctags -R, definitions only", tags, bench.measured(tags), floor)
    index = bench.tersely("index", "--quiet")
    yield row("tersely index", index, bench.measured(index, bench.forget), floor)


def refresh(bench: Bench) -> Iterator[Row]:
    """Whole processes on a warm index: nothing changed, then one file changed before each run."""
    pause = python_start(bench.tree)
    floor = ("python -c pass", bench.measured(pause))
    yield row("python -c pass", pause, floor[1])
    run(bench.tersely("index", "--quiet"))
    asked, changed = sampled(bench.tree)[:2]
    question = bench.tersely("symbol", "callers", asked.id, "--json")
    yield row("callers, nothing changed", question, bench.measured(question), floor)
    edit = edited(bench.tree / changed.path)
    yield row("callers, one file changed", question, bench.measured(question, edit), floor)
    index = bench.tersely("index", "--quiet")
    yield row("index, one file changed", index, bench.measured(index, edit), floor)


def edited(path: Path) -> Callable[[], None]:
    """What appends another function to a file each time it is called."""
    serials = iter(range(MAX_SYMBOLS))

    def change() -> None:
        with path.open("a", encoding="utf-8") as out:
            out.write(f"\n\ndef bench_added_{next(serials)}():\n    return len([])\n")

    return change


def startup(bench: Bench) -> Iterator[Row]:
    """Commands that touch no repository."""
    pause = python_start(bench.tree)
    floor = ("python -c pass", bench.measured(pause))
    yield row("python -c pass", pause, floor[1])
    for option in ("--version", "--help"):
        command = bench.tersely(option)
        yield row(f"tersely {option}", command, bench.measured(command), floor)


def sampled(tree: Path, count: int = SAMPLED_SYMBOLS) -> list[Symbol]:
    """Python functions and methods to ask about, the same for the same tree."""
    with Workspace.open(tree) as workspace:
        workspace.check_freshness()
        every = [
            symbol for symbol in workspace.engine.store.symbols() if symbol.kind in CALLABLE_KINDS
        ]
    asked = [symbol for symbol in every if symbol.path.endswith(PYTHON_SUFFIX)] or every
    return random.Random(SEED).sample(asked, min(count, len(asked)))


QUESTIONS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("symbol", "code.symbol.get", {}),
    ("callees", "code.calls", {"direction": "callees"}),
    ("callers", "code.calls", {"direction": "callers"}),
    ("impact, depth 3", "code.impact", {"depth": 3}),
    ("context, 2000 tokens", "code.context", {"budget": CONTEXT_BUDGET}),
)


def subject(capability_name: str, symbol: Symbol) -> dict[str, object]:
    """The parameter by which a capability is told what symbol it is asked about."""
    return {"symbols": [symbol.id]} if capability_name == "code.context" else {"symbol": symbol.id}


def warm(bench: Bench) -> Iterator[Latency]:
    """Questions about sampled symbols through the one pipeline of all doors, without its check for
    changed files.

    Garbage is looked for between the questions, as the processes of the daemon do.
    """
    run(bench.tersely("index", "--quiet"))
    symbols = sampled(bench.tree)
    gc.disable()
    with Workspace.open(bench.tree, refresh=False) as workspace:
        for name, capability_name, arguments in QUESTIONS:
            capability = load(capability_name)

            def ask(symbol: Symbol) -> bool:
                told = {**subject(capability_name, symbol), **arguments}  # noqa: B023 - called before the next turn
                return invoke(capability, workspace, told).failure is None  # noqa: B023

            ask(symbols[0])
            yield _latency(name, ask, symbols)
    gc.enable()


def _latency(name: str, ask: Callable[[Symbol], bool], symbols: Sequence[Symbol]) -> Latency:
    taken: list[tuple[float, str]] = []
    failed = 0
    for symbol in symbols:
        started = time.perf_counter()
        failed += not ask(symbol)
        taken.append(((time.perf_counter() - started) * MILLISECONDS, symbol.id))
        if gc.get_count()[0] > COLLECTED_OBJECTS:
            gc.collect()
            gc.freeze()
    times = sorted(took for took, _ in taken)
    p95 = times[math.ceil(len(times) * 0.95) - 1]
    return Latency(name, len(times), statistics.median(times), p95, *max(taken), failed)
