"""What a session saves over the work of somebody who makes the commits of a repository, one after
the other.

A task is one commit, the oldest first. Who makes it asks for a map, for the context of the
functions that the commit changes and of one caller of each; makes the change; asks for these
functions and callers again, and for the context of the change. All tasks are one session. Each
question is put without it, with it (the same packs, in as few tokens as the reader needs), and in a
second session that fills what it saves. Beside that stands what it would take to read, each time,
the whole file in which the function is, or the files of code that the commit changes.

How much a session can save is bounded by what is asked: lines that no answer had before have to be
sent. `new` counts their tokens in the answers without a session, headings of files and of symbols
included if only their line numbers are not new. An answer that says the same with fewer lines can
stay below it, so it is a bound for sending whole lines.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.results import Row, Table, report
from bench.scratch import git
from tersely.capabilities.invoke import ask
from tersely.code.index.history.patch import read_patch
from tersely.code.languages.registry import language_of_path
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

MAX_ASKED = 2  # functions of one commit
MAX_FILES = 12  # of a commit: larger ones are no single task
MAP_TOKENS = 1_000
COUNTED = ("asked", "files", "without", "new", "no_fill", "filled", "worth")
TABLE = Table(
    "Sessions",
    "python -m bench.sessions REPOSITORY… --record",
    "repository|question|asked:,|files:,|without:,|new:,|at_most:.1f|no_fill:,|times_fewer:.1f|filled:,|worth:,"
    "|times_more:.1f",
    "If the whole files were read each time; without a session; the same answers in one session; "
    "packs that fill what the session saves, and what these would take without one. *new* are the tokens of lines that "
    "no answer before had, and *at most* how many times fewer tokens there would be if nothing else were sent.",
    names=2,
)
_LINE_NUMBERS = re.compile(r"@\d+(-\d+)?( of \d+(-\d+)?)?")


class Question(NamedTuple):
    """What is asked, as what it counts in the table."""

    kind: str
    capability: str
    arguments: dict[str, object]


class Task(NamedTuple):
    """A commit with what it changes, by id as of its parent."""

    commit: str
    changed: tuple[str, ...]


def measure(repository: Path, number: int, budget: int) -> dict[str, Counter[str]]:
    """The tokens of all answers by kind of question: without a session, shorter, filled, and what
    that is worth.
    """
    totals: dict[str, Counter[str]] = {name: Counter() for name in COUNTED}
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "copy"
        _git(repository, "clone", "--quiet", str(repository), str(copy))
        for task in tasks(copy, number):
            for question in _questions(copy, task, budget):
                _ask(copy, question, totals, seen)
    return totals


def tasks(copy: Path, number: int) -> Iterator[Task]:
    """The last commits that change functions, the oldest first; each with its parent checked out."""
    log = _git(
        copy, "log", "--min-parents=1", "--max-parents=1", "--format=%H", f"-{number * 8}"
    ).split()
    usable = [commit for commit in log if _is_small(copy, commit)][: number * 2]
    done = 0
    for commit in reversed(usable):
        _git(copy, "checkout", "--quiet", "--force", f"{commit}~1")
        with Workspace.open(copy) as workspace:
            workspace.check_freshness()
            changed = tuple(symbol.id for symbol in _changed(copy, commit, workspace))
        if changed and done < number:
            done += 1
            yield Task(commit, changed)


def _is_small(copy: Path, commit: str) -> bool:
    paths = _git(copy, "show", "--format=", "--name-only", commit).split("\n")
    code = [path for path in paths if path and language_of_path(path)]
    return bool(code) and len(paths) <= MAX_FILES


def _changed(copy: Path, commit: str, workspace: Workspace) -> list[Symbol]:
    """The functions whose lines the commit takes out or replaces, as they are before; tests last."""
    diff = _git(copy, "diff", "--unified=0", f"{commit}~1", commit).encode(
        "utf-8", "surrogateescape"
    )
    found: dict[str, Symbol] = {}
    for file in read_patch(diff):
        lines = {
            at
            for hunk in file.hunks
            for at in range(hunk.old_first, hunk.old_first + max(1, len(hunk.removed)))
        }
        for symbol in workspace.engine.store.symbols_of(file.old_path):
            if symbol.kind in CALLABLE_KINDS and any(
                symbol.start_line <= at <= symbol.end_line for at in lines
            ):
                found[symbol.id] = symbol
    return sorted(found.values(), key=lambda one: ("test" in one.path, one.id))[:MAX_ASKED]


def _questions(copy: Path, task: Task, budget: int) -> Iterator[Question]:
    """The questions of one task, the commit checked out in the middle of them."""
    yield Question("map", "code.map", {"budget": MAP_TOKENS})
    around = [(symbol, "context") for symbol in task.changed]
    around += [(caller, "callers") for caller in _callers(copy, task.changed)]
    for symbol, kind in around:
        yield Question(kind, "code.context", {"symbols": (symbol,), "budget": budget})
    _git(copy, "checkout", "--quiet", "--force", task.commit)
    for symbol, kind in around:
        yield Question(f"{kind} again", "code.context", {"symbols": (symbol,), "budget": budget})
    yield Question(
        "diff-context", "code.diff_context", {"base": "HEAD~1", "head": "HEAD", "budget": budget}
    )


def _callers(copy: Path, symbols: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    with Workspace.open(copy) as workspace:
        for symbol in symbols:
            callers = ask(
                workspace, "code.calls", symbol=symbol, direction="callers", limit=1
            ).callers.items
            found += [call.caller for call in callers if call.caller not in {*symbols, *found}]
    return found


def _new_lines(text: str, seen: set[str]) -> str:
    """The lines of an answer that none before had, wherever in their files they stood; `seen` then
    has them.
    """
    new = [
        line for line in text.splitlines(keepends=True) if _LINE_NUMBERS.sub("", line) not in seen
    ]
    seen.update(_LINE_NUMBERS.sub("", line) for line in new)
    return "".join(new)


def _ask(copy: Path, question: Question, totals: dict[str, Counter[str]], seen: set[str]) -> None:
    kind, capability, arguments = question
    is_map = capability == "code.map"
    with Workspace.open(copy) as workspace:
        try:
            without = ask(workspace, capability, **arguments)
            filling = {} if is_map else {"fill": True}
            shorter = ask(workspace, capability, **arguments, session="shorter")
            filled = ask(workspace, capability, **arguments, session="filled", **filling)
        except TerselyError as error:
            if error.code not in {"symbol_not_found", "ambiguous_symbol", "budget_too_small"}:
                raise
            return
        paths = (
            [without.targets[0].partition(":")[0]]
            if kind.startswith(("context", "callers"))
            else []
        )
        paths = (
            [
                one.partition(":")[0]
                for one in without.changed
                if language_of_path(one.partition(":")[0])
            ]
            if kind == "diff-context"
            else paths
        )
        count = workspace.tokenizer.count
        texts = [workspace.source(path).decode("utf-8", "replace") for path in dict.fromkeys(paths)]
    totals["asked"][kind] += 1
    totals["files"][kind] += sum(map(count, texts)) if texts else without.used
    totals["without"][kind] += without.used
    totals["new"][kind] += count(_new_lines(without.text, seen))
    totals["no_fill"][kind] += shorter.used
    totals["filled"][kind] += filled.used
    totals["worth"][kind] += filled.used + filled.session.saved


def _git(directory: Path, *words: str) -> str:
    return git(directory, *words).decode("utf-8", "surrogateescape")


def main() -> int:
    """Measure some repositories."""
    parser = argparse.ArgumentParser(prog="python -m bench.sessions", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument(
        "--record", action="store_true", help="keep the figures in bench/RESULTS.md"
    )
    arguments = parser.parse_args()
    rows: list[Row] = []
    for repository in arguments.repositories:
        totals = measure(repository.resolve(), arguments.tasks, arguments.budget)
        for kind in [*totals["asked"], "all"]:
            sums = {
                name: total.total() if kind == "all" else total[kind]
                for name, total in totals.items()
            }
            rows.append({"repository": repository.name, "question": kind, **sums, **_ratios(sums)})
    about = (
        "Tokens of the answers that one commit after the other takes (maps of 1,000 tokens, packs of at most "
        f"{arguments.budget:,})."
    )
    report("sessions", [TABLE.filled(rows, about)], arguments.record)
    return 0


def _ratios(sums: dict[str, int]) -> dict[str, float]:
    return {
        "at_most": sums["without"] / max(1, sums["new"]),
        "times_fewer": sums["without"] / max(1, sums["no_fill"]),
        "times_more": sums["worth"] / max(1, sums["filled"]),
    }


if __name__ == "__main__":
    sys.exit(main())
