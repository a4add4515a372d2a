"""Trees that are far larger than any one project."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.scratch import NOT_COPIED
from bench.speed.child import run
from bench.speed.measures import Bench, Row, edited, row, sampled
from tersely.workspace import Workspace

LARGE_LINES = 1_000_000
LARGE_FILES = 20_000


def large(bench: Bench, scratch: Path) -> Iterator[Row]:
    """Copies of the code side by side until they have enough lines, then enough files: indexed,
    refreshed, asked.
    """
    files, lines = _size(bench.tree)
    for wanted, copies in (
        ("lines", math.ceil(LARGE_LINES / lines)),
        ("files", math.ceil(LARGE_FILES / files)),
    ):
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
