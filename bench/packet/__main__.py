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
from bench.packet.measure import Outcome, Task, checked_out, commit_tasks, first_of_window, outcome, summary
from bench.results import Row, Table
from tersely.workspace import Workspace

TABLE = Table(
    "Packets",
    "python -m bench.packet CLONES… --issues FILE --repositories DIR --record",
    "tasks|files:,|asked:,|spoken:,|recall:.3f|any:.3f|recall_of_all:.3f|file@1:.3f|file@5:.3f"
    "|function@5:.3f|function@10:.3f",
    "Of the tasks with a packet: which share of the changed files it found, and whether any of them. Then of all.",
)


def main(arguments: list[str]) -> int:
    """Measure, print a line a set, and keep the figures if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m bench.packet", description=__doc__)
    parser.add_argument("clones", type=Path, nargs="*", help="repositories with their history")
    parser.add_argument("--issues", type=Path, help="issues whose fixes are known, a line each")
    parser.add_argument("--repositories", type=Path, help="where the repositories of the issues are")
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results/")
    options = parser.parse_args(arguments)
    outcomes: dict[str, dict[str, list[Outcome]]] = {"commits": {}, "issues": {}}
    with tempfile.TemporaryDirectory(prefix="tersely-packet-") as scratch:
        os.environ["TERSELY_HOME"] = scratch
        for clone in options.clones:
            outcomes["commits"][_name(clone)] = _commits(clone, Path(scratch) / _name(clone))
            _report(outcomes, options.record)
        if options.issues:
            for name, issues in _by_repository(options.issues):
                place = Path(scratch) / "issues" / name
                outcomes["issues"][name] = _issues(issues, options.repositories / name, place)
                _report(outcomes, options.record)
    return 0


def _report(outcomes: dict[str, dict[str, list[Outcome]]], keep: bool) -> None:
    """What is measured so far, a row a repository, and one of all tasks of a kind."""
    rows: list[Row] = []
    for kind, sets in outcomes.items():
        found = {**sets, "all": [one for listed in sets.values() for one in listed]} if sets else {}
        rows += [{"tasks": f"{kind} of {name}", **summary(listed, kind == "issues")} for name, listed in found.items()]
    results.report("packet", [TABLE.filled(TABLE.merged("packet", rows) if keep else rows)], keep)


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


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
