"""How long the search files take, and a question, at a given number of units."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from bench.retrieval.queries import docstring_queries
from tersely.code.engine import Engine
from tersely.code.search.units import units_of

UNITS = 30_000
QUESTIONS = 150


class Pace(NamedTuple):
    """Processor seconds of building and updating; processor milliseconds of a question in a process that goes on."""

    units: int
    build_seconds: float
    update_seconds: float  # after one changed file
    median_ms: float
    p95_ms: float


def measure(code: Path) -> Pace:
    """On a copy of the first files below `code` (by path) that have `UNITS` units together."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "code"
        shutil.copytree(code, root, ignore=shutil.ignore_patterns(".git", ".tersely"))
        with Engine.open(root) as engine:
            engine.refresh()
            _keep_first(engine, root)
            engine.refresh()
            asked = [query.text for query in docstring_queries(engine) if '"' not in query.text][
                :QUESTIONS
            ]  # words only
            started = time.process_time()
            units = engine.search.prepare()
            built = time.process_time() - started
            milliseconds = _ask(engine, asked)
            updated = _update(engine, root)
    _, *_, p95 = quantiles(milliseconds, n=20)
    return Pace(units, built, updated, quantiles(milliseconds, n=2)[0], p95)


def _keep_first(engine: Engine, root: Path) -> None:
    units = 0
    for file in engine.store.files():
        if units > UNITS:
            (root / file.path).unlink()
        units += len(units_of(engine.store.symbols_of(file.path)))


def _ask(engine: Engine, questions: Sequence[str]) -> list[float]:
    for question in questions[:10]:
        engine.search.find(question)
    milliseconds = []
    for question in questions:
        started = time.thread_time()
        engine.search.find(question)
        milliseconds.append((time.thread_time() - started) * 1_000)
    return milliseconds


def _update(engine: Engine, root: Path) -> float:
    path = root / engine.store.files()[0].path
    path.write_bytes(path.read_bytes() + b"\n")
    engine.refresh()
    started = time.process_time()
    engine.search.prepare()
    return time.process_time() - started
