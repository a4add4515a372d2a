"""What a question costs: files whose facts it opens and equations that it needs, each counted once,
asked of an index that is fresh, by a process that knows nothing yet of the repository. How often an
equation is computed again depends on the order of sets, and so on the machine.

The symbols are in `symbols.txt`; each begins with the package that it is asked of.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tersely.capabilities.catalogue import load
from tersely.capabilities.invoke import Outcome, invoke
from tersely.code.graph.pointsto.fixpoint import Solver
from tersely.code.index.storage.store import Store
from tersely.code.symbols import Symbol
from tersely.workspace import Workspace
from tools.budgets.inputs import copied

SYMBOLS = Path(__file__).with_name("symbols.txt")
SHARE = 0.95


class Question(NamedTuple):
    """A capability, and what it is asked of a symbol whose file has some lines."""

    capability: str
    arguments: Callable[[Symbol, Sequence[str]], Mapping[str, object]]


class Cost(NamedTuple):
    """What one answer has cost."""

    files: int
    equations: int
    has_note: bool


class _Counted:
    """What is counted while a question is answered."""

    files = 0
    equations = 0


def _patch(symbol: Symbol, lines: Sequence[str]) -> str:
    """A patch that writes the last line of a symbol a second time."""
    at = symbol.end_line
    line = lines[at - 1]
    return f"--- a/{symbol.path}\n+++ b/{symbol.path}\n@@ -{at},1 +{at},2 @@\n {line}\n+{line}\n"


QUESTIONS = {
    "callers": Question("code.calls", lambda it, _: {"symbol": it.id, "direction": "callers"}),
    "impact": Question("code.impact", lambda it, _: {"symbol": it.id, "depth": 2}),
    "context": Question("code.context", lambda it, _: {"symbols": [it.id]}),
    "plan": Question("code.plan", lambda it, _: {"task": [f"fix {it.name} in {it.path}"]}),
    "packet": Question("code.packet", lambda it, _: {"task": f"{it.name} gives a wrong answer"}),
    "diff-context": Question("code.diff_context", lambda it, lines: {"patch": _patch(it, lines)}),
}


def figures() -> dict[str, float]:
    """Median and 95th percentile of files and equations by question, and the share of answers with
    a note, in percent.
    """
    names = SYMBOLS.read_text(encoding="utf-8").split()
    with tempfile.TemporaryDirectory() as folder:
        roots = {name: _indexed(name, Path(folder)) for name in _packages(names)}
        costs = {
            question: [cost(asked, roots[name.partition("/")[0]], name) for name in names]
            for question, asked in QUESTIONS.items()
        }
    found: dict[str, float] = {}
    for question, each in costs.items():
        for what in ("files", "equations"):
            counts = sorted(getattr(one, what) for one in each)
            found[f"questions.{question}.{what}_median"] = counts[len(counts) // 2]
            found[f"questions.{question}.{what}_p95"] = counts[math.ceil(SHARE * len(counts)) - 1]
    every = [one for each in costs.values() for one in each]
    found["questions.notes_percent"] = round(
        100 * sum(one.has_note for one in every) / len(every), 1
    )
    return found


def cost(question: Question, root: Path, symbol_id: str) -> Cost:
    """What a question about a symbol of an indexed repository costs; `RuntimeError` where it has
    no answer.
    """
    with _counting() as counted, Workspace.open(root, refresh=False) as workspace:
        symbol = workspace.engine.symbol(symbol_id)
        lines = workspace.source(symbol.path).decode().split("\n")
        outcome = _answered(question, workspace, question.arguments(symbol, lines))
    return Cost(counted.files, counted.equations, bool(outcome.notes))


def _answered(question: Question, workspace: Workspace, arguments: Mapping[str, object]) -> Outcome:
    outcome = invoke(load(question.capability), workspace, arguments)
    if outcome.failure is not None:
        raise RuntimeError(f"{question.capability} of {arguments}: {outcome.failure.message}")
    return outcome


@contextmanager
def _counting() -> Iterator[_Counted]:
    """Counts what is opened and computed inside."""
    counted, facts, compute = _Counted(), Store.facts, Solver._compute

    def opened(store: Store, file_id: int) -> Any:
        counted.files += 1
        return facts(store, file_id)

    def computed(solver: Solver, unknown: Any) -> None:
        is_first = not unknown.computations
        compute(solver, unknown)
        counted.equations += is_first and unknown.computations > 0

    with (
        patch.dict(os.environ, TERSELY_KEPT_ANSWERS="off"),
        patch.object(Store, "facts", opened),
        patch.object(Solver, "_compute", computed),
    ):
        yield counted


def _packages(names: Sequence[str]) -> list[str]:
    return sorted({name.partition("/")[0] for name in names})


def _indexed(package: str, folder: Path) -> Path:
    root = copied(package, folder)
    with Workspace.open(root) as workspace:
        workspace.refresh()
    return root
