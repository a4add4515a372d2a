"""What a session saves over the turns of somebody who follows the history of a repository.

One turn is one commit, the oldest first: its files are checked out, and the functions that it changed are asked about
with `context`, and again those that the `--again` turns before it changed: who works on something looks at it again.
Each question is put without a session, with one that fills what it saves, and with one that does not.
With `--again 0` nothing is asked about twice but what is changed twice.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import machine
from bench.results import keep
from laconic.capabilities.invoke import ask
from laconic.code.symbols import CALLABLE_KINDS, Symbol
from laconic.foundation.errors import LaconicError
from laconic.workspace import Workspace

MAX_ASKED = 3  # functions of one commit


class Turn(NamedTuple):
    """The tokens of one turn."""

    without: int  # a session
    shorter: int  # the same packs with a session that does not fill
    filled: int  # packs that fill what the session saves
    worth: int  # what those packs take without a session


def turns(repository: Path, number: int, budget: int, again: int) -> Iterator[Turn]:
    """Go through the last commits that change functions."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "copy"
        _git(repository, "clone", "--quiet", "--shared", str(repository), str(copy))
        log = _git(copy, "log", "--no-merges", "--format=%H", f"-{number * 6}", "--", "*.py").split()
        before: list[list[str]] = []
        done = 0
        for commit in reversed(log):
            _git(copy, "checkout", "--quiet", "--force", commit)
            with Workspace.open(copy) as workspace:
                workspace.check_freshness()
                changed = [symbol.id for symbol in _changed(copy, workspace)]
                asked = dict.fromkeys([*changed, *(one for turn in before for one in turn)])
                if changed:
                    yield _turn(workspace, [one for one in asked if workspace.engine.store.symbol(one)], budget)
                    before, done = [changed, *before][:again], done + 1
            if done == number:
                return


def _changed(copy: Path, workspace: Workspace) -> list[Symbol]:
    """The functions that the commit which is checked out has put lines into, tests last."""
    found: dict[str, Symbol] = {}
    path = ""
    for line in _git(copy, "diff", "--unified=0", "HEAD~1", "HEAD", "--", "*.py").splitlines():
        if line.startswith("+++ b/"):
            path = line[6:]
        elif line.startswith("@@ "):
            first, _, size = line.split("+")[1].split(" ")[0].partition(",")
            lines = range(int(first), int(first) + int(size or 1))
            inner = [one for one in workspace.engine.store.symbols_of(path) if one.kind in CALLABLE_KINDS
                     and any(one.start_line <= at <= one.end_line for at in lines)]  # fmt: skip
            found |= {one.id: one for one in inner}
    return sorted(found.values(), key=lambda one: ("test" in one.path, one.id))[:MAX_ASKED]


def _turn(workspace: Workspace, symbols: list[str], budget: int) -> Turn:
    without = shorter = filled = worth = 0
    for symbol in symbols:
        question = {"symbols": (symbol,), "budget": budget}
        try:
            without += ask(workspace, "code.context", **question).used
            shorter += ask(workspace, "code.context", session="shorter", fill=False, **question).used
            packed = ask(workspace, "code.context", session="filled", **question)
        except LaconicError:
            continue
        filled += packed.used
        worth += packed.used + packed.session.saved
    return Turn(without, shorter, filled, worth)


def _git(directory: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    """Measure some repositories."""
    parser = argparse.ArgumentParser(prog="python -m bench.sessions", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--again", type=int, nargs="+", default=[0, 2, 5])
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/RESULTS.md")
    arguments = parser.parse_args()
    rows = []
    for repository, again in itertools.product(arguments.repositories, arguments.again):
        found = list(turns(repository.resolve(), arguments.turns, arguments.budget, again))
        total = Turn(*(sum(column) for column in zip(*found, strict=True)))
        rows.append({"repository": repository.name, "again": again, "turns": len(found), **total._asdict()})
        print(rows[-1], flush=True)
    if arguments.record:
        keep("sessions", {"machine": machine.facts(), "budget": arguments.budget, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
