"""`python -m bench.groundtruth.diff_context CASES CLONES`: what a pack of half a commit shows of
the other half.

CASES is a file with a case a line: a commit of a repository, half of the symbols that it changes as
a diff, and the other half, which is hidden. CLONES holds the repositories with their history, named
`owner+repository` or `repository`; nothing is written there. In a work tree at the parent commit,
with the given half applied, `diff-context --worktree` is asked.

- *covered*: hidden symbols outside of tests of which every changed line is in the printed text;
- *mentioned*: those of which it shows a signature or the name at least;
- beside it the tokens of the pack, and those of all files that the given half touches.

Lines count as the parent commit has them, since cases number those that they hide so. A line counts
as shown if it lies in what the pack says that it shows, and its text is printed: documentation that
a pack leaves out is not shown. Blank lines next to what is shown count as well, since there is
nothing to print of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from statistics import mean
from subprocess import CalledProcessError
from time import process_time
from typing import Any, NamedTuple

from bench import results
from bench.groundtruth.score import ratio
from bench.results import Row, Table
from bench.scratch import clone_of, git
from tersely.capabilities.invoke import ask
from tersely.code.index.history.patch import Hunk, read_patch
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible_line
from tersely.workspace import Workspace

BUDGETS = (2_000, 4_000, 8_000)  # tokens

TABLE = Table(
    "Packs of changes",
    "python -m bench.groundtruth.diff_context CASES CLONES --record",
    "repository|budget:,|cases:,|hidden:,|covered:.3f|same_file:.3f|other_files:.3f|named:.3f|tokens:,.0f"
    "|whole_files:,.0f|fewer:.0%|median_s:.2f|p95_s:.2f",
    "Half of the symbols that a commit changes are given as a diff. Of the others, outside of tests: those whose "
    "changed lines the pack shows all (in files that were given, and in others), and those that it names. Tokens "
    "beside those of all files that the given half touches; processor seconds of one question.",
    names=2,
)

Case = Mapping[str, Any]


class Outcome(NamedTuple):
    """One case at one budget. Of each hidden symbol whether it is covered, mentioned, and in a file
    that was given.
    """

    hidden: list[tuple[bool, bool, bool]]
    used: int  # tokens
    whole: int  # tokens of the given files
    cpu_seconds: float


def main(arguments: list[str]) -> int:
    """Ask about every case that has a clone, at every budget."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.groundtruth.diff_context", description=__doc__
    )
    parser.add_argument("cases", type=Path, help="a file with a case a line")
    parser.add_argument("clones", type=Path, help="folder of repositories with their history")
    parser.add_argument(
        "--budget", type=int, action="append", help="tokens; may be given several times"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="list the hidden symbols that are not covered"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    budgets = options.budget or BUDGETS
    cases = sorted(
        read_cases(options.cases), key=lambda case: (case["repo"], case["date"], case["commit"])
    )
    found: dict[str, dict[int, list[Outcome]]] = {}
    for name, listed in groupby(cases, key=lambda case: case["repo"]):
        clone = clone_of(options.clones, name)
        found[name] = _outcomes(clone, list(listed), budgets, options.verbose) if clone else {}
    rows: list[Row] = []
    for budget in budgets:
        of_budget = {name: outcomes[budget] for name, outcomes in found.items() if outcomes}
        rows += [row(name, budget, outcomes) for name, outcomes in of_budget.items()]
        if of_budget:
            rows.append(row("all", budget, list(chain(*of_budget.values()))))
    is_measured = bool(rows)
    rows += [
        {"repository": f"{name}: no clone"} for name, outcomes in found.items() if not outcomes
    ]
    results.report("diff_context", [TABLE.filled(rows)], options.record and is_measured)
    return 0 if is_measured else 1


def _outcomes(
    clone: Path, cases: Sequence[Case], budgets: Sequence[int], verbose: bool
) -> dict[int, list[Outcome]]:
    """The outcomes of one repository at each budget."""
    outcomes: dict[int, list[Outcome]] = {budget: [] for budget in budgets}
    for case, budget, outcome in asked(clone, cases, budgets):
        outcomes[budget].append(outcome)
        if verbose:
            print(*_uncovered(case, budget, outcome), sep="\n", flush=True)
    return outcomes


def read_cases(place: Path) -> list[Case]:
    """The cases of a file."""
    return [json.loads(text) for text in place.read_text("utf-8").splitlines()]


def asked(
    clone: Path, cases: Sequence[Case], budgets: Sequence[int]
) -> Iterator[tuple[Case, int, Outcome]]:
    """Every case of one repository at every budget, in one work tree whose index follows from case
    to case.
    """
    with tempfile.TemporaryDirectory(prefix="tersely-cases-") as scratch:
        root = Path(scratch) / "tree"
        git(clone, "clone", "-q", "-n", str(clone.resolve()), str(root))
        for case in cases:
            git(root, "reset", "-q", "--hard")
            git(root, "clean", "-q", "-f", "-d", "-e", ".tersely")
            git(root, "checkout", "-q", "-f", "--detach", case["parent"])
            git(
                root,
                "apply",
                "--unidiff-zero",
                "--whitespace=nowarn",
                "-",
                given=_bytes(case["given_diff"]),
            )
            for budget in budgets:
                yield case, budget, outcome_of(root, case, budget)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def outcome_of(root: Path, case: Case, budget: int) -> Outcome:
    """Ask about the change in a work tree; an answer that is refused covers nothing, and standard
    error says why.
    """
    hunks = {diff.path: diff.hunks for diff in read_patch(_bytes(case["given_diff"]))}
    with Workspace.open(root) as workspace:
        workspace.check_freshness()
        workspace.engine.search.prepare()
        start = process_time()
        try:
            pack = ask(workspace, "code.diff_context", worktree=True, budget=budget)
        except TerselyError as error:
            print(
                f"{case['repo']} {case['commit'][:10]} at {budget}: refused: {error}",
                file=sys.stderr,
            )
            pack = None
        seconds = process_time() - start
    hidden = [one for one in case["hidden"] if not one["test"]]
    if pack is None:
        return Outcome(
            [(False, False, one["same_file"]) for one in hidden],
            0,
            case["tokens_given_files"],
            seconds,
        )
    shown = _shown(root, pack, hunks)
    named = {item.id for item in pack.items}
    found: list[tuple[bool, bool, bool]] = []
    for one in hidden:
        path = one["file"]
        covered = path in shown and is_covered(
            one["changed"], _before(root, case, path), shown[path], pack.text
        )
        found.append((covered, covered or f"{path}:{one['symbol']}" in named, one["same_file"]))
    return Outcome(found, pack.used, case["tokens_given_files"], seconds)


def _before(root: Path, case: Case, path: str) -> list[str]:
    """The lines of a file at the parent commit; none if it was not there."""
    try:
        return git(root, "show", f"{case['parent']}:{path}").decode("utf-8", "replace").split("\n")
    except CalledProcessError:
        return []


def is_covered(
    changed: Sequence[int], before: Sequence[str], shown: Iterable[tuple[int, int]], printed: str
) -> bool:
    """Whether one run of shown lines holds all changed lines of a file, and each of them is in the
    printed text.
    """
    first, last = min(changed), max(changed)
    if not any(start <= first and last <= end for start, end in shown):
        return False
    return all(visible_line(before[line - 1].strip()) in printed for line in changed)


def _shown(
    root: Path, pack: Any, hunks: Mapping[str, Sequence[Hunk]]
) -> dict[str, list[tuple[int, int]]]:
    """By path the runs of lines that a pack shows, as the parent commit numbers them."""
    ranges: dict[str, list[tuple[int, int]]] = {
        path: [(1, sys.maxsize)] for path in pack.whole_files
    }
    for item in pack.items:
        if item.detail == "body" and item.reason != "deleted":
            parts = [
                (first, min(last, item.end_line))
                for first, last in item.shown
                if first <= item.end_line
            ]
            ranges.setdefault(item.id.partition(":")[0], []).extend(
                parts or [(item.line, item.end_line)]
            )
    found = {}
    for path, listed in ranges.items():
        lines = (
            (root / path).read_text("utf-8", "replace").split("\n")
            if (root / path).is_file()
            else []
        )
        of_file = hunks.get(path, ())
        found[path] = [
            (in_parent(first, of_file), in_parent(last, of_file))
            for first, last in runs(listed, lines)
        ]
    return found


def in_parent(line: int, hunks: Sequence[Hunk]) -> int:
    """The line of the parent commit that a line of the work tree stands for."""
    shift = 0
    for hunk in hunks:
        if line < hunk.new_first:
            break
        if line < hunk.new_first + len(hunk.added):
            return hunk.old_first + min(line - hunk.new_first, max(0, len(hunk.removed) - 1))
        shift = hunk.old_first + len(hunk.removed) - hunk.new_first - len(hunk.added)
    return line + shift


def runs(ranges: Iterable[tuple[int, int]], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of lines with the blank ones around them, those that meet made one."""
    shown = {line for first, last in ranges for line in range(first, min(last, len(lines)) + 1)}
    blank = {number for number, text in enumerate(lines, 1) if not text.strip()}
    start = 0
    is_shown = False
    for number in range(1, len(lines) + 2):
        if number in shown or (number in blank and number <= len(lines)):
            start = start or number
            is_shown |= number in shown
            continue
        if is_shown:
            yield start, number - 1
        start, is_shown = 0, False


def row(name: str, budget: int, outcomes: Sequence[Outcome]) -> Row:
    """The figures of some cases."""
    hidden = [one for outcome in outcomes for one in outcome.hidden]
    count = Counter((same, covered) for covered, _, same in hidden)
    seconds = sorted(outcome.cpu_seconds for outcome in outcomes)
    tokens, whole_files = mean(one.used for one in outcomes), mean(one.whole for one in outcomes)
    return {
        "repository": name,
        "budget": budget,
        "cases": len(outcomes),
        "hidden": len(hidden),
        "covered": ratio(count[True, True] + count[False, True], len(hidden)),
        "same_file": ratio(count[True, True], count[True, True] + count[True, False]),
        "other_files": ratio(count[False, True], count[False, True] + count[False, False]),
        "named": ratio(sum(mentioned for _, mentioned, _ in hidden), len(hidden)),
        "tokens": tokens,
        "whole_files": whole_files,
        "fewer": 1 - tokens / whole_files,
        "median_s": seconds[len(seconds) // 2],
        "p95_s": seconds[int(0.95 * (len(seconds) - 1))],
    }


def _uncovered(case: Case, budget: int, outcome: Outcome) -> Iterator[str]:
    yield f"{case['repo']} {case['commit'][:10]} at {budget}: {outcome.used} tokens"
    hidden = [one for one in case["hidden"] if not one["test"]]
    for one, (covered, mentioned, _) in zip(hidden, outcome.hidden, strict=True):
        if not covered:
            yield f"  {'~' if mentioned else '-'} {one['file']}:{one['symbol']}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
