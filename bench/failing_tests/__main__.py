"""`python -m bench.failing_tests CLONES`: how many files of failing tests `change-impact` names.

The code of each commit in `cases/` is put back and committed, and put forward again in the working
tree: the tests are those of the commit on both sides, so nothing but the code tells. Of the files
that `change-impact` then names, likeliest first, as many count as a tenth of the suite's, or twice
those that fail where that is more. Files that the suite does not run, as those for a browser, have
no truth: they count neither way.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.failing_tests.make import CASES, checked_out, put_back
from bench.failing_tests.suites import SUITES, listed
from bench.results import Row, Table
from bench.scratch import clone_of, git

SHARE = 10  # of the files of a suite one in so many is named
TIMES = 2  # the files that fail
LISTED = 200  # files that are asked for

TABLE = Table(
    "Files of failing tests",
    "python -m bench.failing_tests CLONES --record",
    "repository|commits:,|files_failing:,|named_of_them:.3f|first_of_them:.3f|cpu_s_median:.2f|cpu_s_most:.2f",
    "Commits are taken back in the code alone; the truth is which files of tests then fail. Named:"
    " among as many as a tenth of the files that the suite runs, or twice the failing ones; other"
    " files of tests, as those for a browser, count neither way. First: the share of"
    " failing files when no more are named than fail. CPU seconds of a process that asks, its index"
    " being fresh. Commands and versions of the suites stand in `bench/failing_tests/cases`.",
)


class Found(NamedTuple):
    """What one question gave: the files likeliest first, and what it took."""

    files: list[str]
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Ask about each commit of each repository that has a clone."""
    parser = argparse.ArgumentParser(prog="python -m bench.failing_tests", description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones, with their history")
    parser.add_argument("--only", default="", help="of one repository")
    parser.add_argument("--verbose", action="store_true", help="say what is missed")
    parser.add_argument("--record", action="store_true", help="keep the scores in RESULTS.md")
    options = parser.parse_args(arguments)
    rows = []
    for path in sorted(CASES.glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        clone = clone_of(options.clones, record["repository"])
        if clone is not None and options.only in record["repository"]:
            rows.append(_row(record, clone, options.verbose))
    results.report("failing_tests", [TABLE.filled(rows)], options.record)
    return 0


def _row(record: dict[str, Any], clone: Path, verbose: bool) -> Row:
    failing = named = first = 0
    seconds = []
    for case, found in _asked(record, clone):
        truth = set(case["failing"])
        most = max(case["files"] // SHARE, TIMES * len(truth))
        missed = truth - set(found.files[:most])
        failing += len(truth)
        named += len(truth) - len(missed)
        first += len(truth & set(found.files[: len(truth)]))
        seconds.append(found.seconds)
        if verbose:
            print(case["commit"][:10], f"{len(missed)} of {len(truth)}", *sorted(missed))
    ordered = sorted(seconds)
    return {
        "repository": record["repository"],
        "commits": len(seconds),
        "files_failing": failing,
        "named_of_them": named / failing,
        "first_of_them": first / failing,
        "cpu_s_median": ordered[len(ordered) // 2],
        "cpu_s_most": ordered[-1],
    }


def _asked(record: dict[str, Any], clone: Path) -> Iterator[tuple[dict[str, Any], Found]]:
    with checked_out(clone) as tree:
        for case in record["commits"]:
            set_up(tree, case["commit"])
            _told(tree, "index")
            before = _cpu()
            answer = _told(tree, "change-impact", "--limit", str(LISTED), "--json")
            seconds = _cpu() - before
            run = set(listed(tree, SUITES[record["repository"]].files))
            named = (one["file"] for one in json.loads(answer)["result"]["files"]["items"])
            yield case, Found([path for path in named if path in run], seconds)


def set_up(tree: Path, commit: str) -> None:
    """A tree whose last commit has the code of before and the tests of after, and which has the
    code of after.
    """
    put_back(tree, commit)
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--no-verify", "--message", "before")
    git(tree, "checkout", "--quiet", "--force", commit, "--", ".")
    removed = git(tree, "diff", "--no-renames", "--diff-filter=D", "--name-only", "HEAD", commit)
    for path in removed.decode().splitlines():
        (tree / path).unlink(missing_ok=True)


def _told(tree: Path, *words: str) -> str:
    command = [sys.executable, "-m", "tersely", *words]
    environment = {"TERSELY_DAEMON": "off", "PATH": "/usr/bin:/bin", "HOME": str(tree.parent)}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
