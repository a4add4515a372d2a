"""`python -m bench.packet CLONES… [--issues FILE --repositories DIR] [--record]`: how often packets are right.

How often they speak is told too.

Each clone is checked out as it was 600 commits ago, with the history up to there; the messages of later commits are the
tasks, and the source files that they changed the truth. Issues are lines of JSON with `repo`, `base_commit`,
`problem_statement` and `expected_spans`, asked in clones named `owner+repository`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench import results
from bench.machine import facts
from bench.packet.measure import Outcome, Task, checked_out, commit_tasks, first_of_window, outcome, summary
from tersely.workspace import Workspace


def main(arguments: list[str]) -> int:
    """Measure, print a line a set, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.packet", description=__doc__)
    parser.add_argument("clones", type=Path, nargs="*", help="repositories with their history")
    parser.add_argument("--issues", type=Path, help="issues whose fixes are known, a line each")
    parser.add_argument("--repositories", type=Path, help="where the repositories of the issues are")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    sets: list[dict[str, Any]] = []

    def measured(name: str, outcomes: list[Outcome]) -> None:
        sets.append(summary(name, outcomes))
        _print(sets[-1])
        if options.record:
            _keep(sets)

    with tempfile.TemporaryDirectory(prefix="tersely-packet-") as scratch:
        os.environ["TERSELY_HOME"] = scratch
        for clone in options.clones:
            measured(_name(clone), _commits(clone, Path(scratch) / _name(clone)))
        if options.issues:
            for name, issues in _by_repository(options.issues):
                place = Path(scratch) / "issues" / name
                measured(f"issues of {name}", _issues(issues, options.repositories / name, place))
    return 0


def _keep(sets: list[dict[str, Any]]) -> None:
    """Keep what was measured now, and of earlier runs what was not measured again."""
    again = {one["name"] for one in sets}
    before = [one for one in results.kept("packet").get("sets", []) if one["name"] not in again]
    results.keep("packet", {"machine": facts(), "sets": [*before, *sets]})


def _name(clone: Path) -> str:
    return clone.parent.name if clone.name == "repo" else clone.name


def _commits(clone: Path, place: Path) -> list[Outcome]:
    checked_out(clone, first_of_window(clone), place)
    with Workspace.open(place) as workspace:
        workspace.refresh()
        workspace.refreshes = False
        known = frozenset(file.path for file in workspace.engine.store.files())
        return [outcome(workspace, task) for task in commit_tasks(clone, known)]


def _by_repository(issues: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """The issues of each repository, those of few first: each is kept when it is done."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in issues.read_text("utf-8").splitlines():
        issue = json.loads(line)
        found[issue["repo"].replace("/", "+")].append(issue)
    return sorted(found.items(), key=lambda item: (len(item[1]), item[0]))


def _issues(issues: list[dict[str, Any]], clone: Path, place: Path) -> list[Outcome]:
    clone = clone / "repo" if (clone / "repo").exists() else clone
    found = []
    for issue in issues:
        checked_out(clone, issue["base_commit"], place)
        spans: dict[str, list[str]] = issue["expected_spans"]
        functions = frozenset(f"{path}:{span}" for path, names in spans.items() for span in names)
        with Workspace.open(place) as workspace:
            workspace.refresh()
            found.append(outcome(workspace, Task(issue["problem_statement"], frozenset(spans), functions)))
    return found


def _print(figures: dict[str, Any]) -> None:
    shown = {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}
    sys.stdout.write(f"{shown}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
