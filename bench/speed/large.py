"""Trees that are far larger than any one project, and a process that answers for long."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from bench.process import memory_mb
from bench.scratch import NOT_COPIED
from bench.speed.child import Command, run
from bench.speed.measures import QUESTIONS, Bench, Row, edited, row, sampled, subject
from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import invoke
from tersely.workspace import Workspace

LARGE_LINES = 1_000_000
LARGE_FILES = 20_000
LONG_QUESTIONS = 2000
TOLD_AFTER = (0, 100, 500, 1000, LONG_QUESTIONS)  # questions


def large(bench: Bench, scratch: Path) -> Iterator[Row]:
    """Copies of the code side by side until they have enough lines, then enough files: indexed, refreshed, asked."""
    files, lines = _size(bench.tree)
    for wanted, copies in (("lines", math.ceil(LARGE_LINES / lines)), ("files", math.ceil(LARGE_FILES / files))):
        tree = scratch / f"large-{wanted}"
        left_out = shutil.ignore_patterns(*NOT_COPIED)
        for number in range(copies):
            shutil.copytree(bench.tree, tree / f"copy{number}", ignore=left_out, symlinks=True)
        size = f"{copies} copies, {copies * files:,} files, {copies * lines:,} lines"
        yield from _asked_once(Bench(tree, 1), wanted, size)
        shutil.rmtree(tree)


def _asked_once(bench: Bench, wanted: str, size: str) -> Iterator[Row]:
    index = bench.tersely("index", "--quiet")
    yield row(f"many {wanted}, cold", index, run(index), note=size)
    asked = sampled(bench.tree)[0]
    edited(bench.tree / asked.path)()
    yield row(f"many {wanted}, one file changed", index, run(index))
    question = bench.tersely("symbol", "callers", asked.id, "--json")
    yield row(f"many {wanted}, callers of one function", question, run(question))


def _size(tree: Path) -> tuple[int, int]:
    """Indexed files and their lines."""
    with Workspace.open(tree) as workspace:
        workspace.check_freshness()
        files = workspace.engine.store.files()
        return len(files), sum(workspace.engine.source(file.path).count(b"\n") for file in files)


def steady(bench: Bench, scratch: Path) -> Iterator[Row]:
    """Resident memory of one process while it answers questions of every kind about ever more symbols."""
    run(bench.tersely("index", "--quiet"))
    told = scratch / "resident.json"
    command = Command(
        [sys.executable, "-m", "bench.speed.large", str(bench.tree), str(told)], Path(__file__).parents[2]
    )
    taken = run(command)
    for questions, megabytes in json.loads(told.read_text(encoding="utf-8")):
        yield Row(f"resident after {questions:,} questions", "", note=f"{megabytes:.0f} MB")
    yield row(f"all {LONG_QUESTIONS:,} questions", Command(["bench.speed.large"], bench.tree), taken)


def _answer(tree: Path) -> Iterator[tuple[int, float]]:
    """Ask; how many questions have been answered, and the resident memory then, in MB."""
    symbols = sampled(tree, LONG_QUESTIONS // len(QUESTIONS))
    asked = ((name, symbol, arguments) for symbol in symbols for _, name, arguments in QUESTIONS)
    with Workspace.open(tree, refresh=False) as workspace:
        for number, (name, symbol, arguments) in enumerate(islice(cycle(asked), LONG_QUESTIONS)):
            if number in TOLD_AFTER:
                yield number, memory_mb("self")
            outcome = invoke(load(name), workspace, {**subject(name, symbol), **arguments})
            assert outcome.failure is None, outcome.failure
        yield LONG_QUESTIONS, memory_mb("self")


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(list(_answer(Path(sys.argv[1])))), encoding="utf-8")
