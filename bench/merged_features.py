"""`python -m bench.merged_features DATASET CLONES`: pairs of features that git merges without a word,
and which of those that then fail each other's tests `conflicts` names.

DATASET is the folder `dataset` of cooperbench/CooperBench: features of one commit as patches, each
with a patch of its tests. Two features are two worktrees. `--truth` merges each pair, runs the
tests of both on what comes out, and keeps in `merged_features.json` which tests fail there that
pass with their own feature alone. Without it the pairs that are kept are asked about.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.failing_tests.make import checked_out
from bench.results import Row, Table
from bench.scratch import clone_of, git

TRUTH = Path(__file__).with_suffix(".json")
TEST_SECONDS = 900
_FAILED = re.compile(
    r"^\s*(?:FAILED|ERROR|--- FAIL:|FAIL|●) +(\S.*?)(?: - .*| \(.*)?$", re.MULTILINE
)

TABLE = Table(
    "Features that git merges",
    "python -m bench.merged_features DATASET CLONES --record",
    "task|clean:,|failing:,|named:,|passing:,|false_alarms:,",
    "Pairs of features of CooperBench that git merges without a conflict: how many of them then"
    " fail each other's tests, how many of these `conflicts` names, and in how many of those that"
    " pass it names something as well.",
)


class Task(NamedTuple):
    """A repository, the folder of the task, the commit that its features begin at, and its tests."""

    repository: str
    folder: str
    command: str


_PYTEST = "python -m pytest -q -rfE -p no:cacheprovider"
_OPTIONS = (
    "tests/test_arguments.py tests/test_imports.py tests/test_info_dict.py tests/test_options.py"
)
_JEST = "jest --config ./scripts/jest/jest.config.js"
TASKS = (
    Task("pallets/click", "pallets_click_task/task2800",
         f"{_PYTEST} tests/test_shell_completion.py tests/test_context.py"),
    Task("pallets/click", "pallets_click_task/task2956", f"{_PYTEST} {_OPTIONS}"),
    Task("go-chi/chi", "go_chi_task/task56", "go test ./..."),
    Task("react-hook-form/react-hook-form", "react_hook_form_task/task85",
         f"{_JEST} src/__tests__/useForm.test.tsx"),
    Task("stanfordnlp/dspy", "dspy_task/task8394", f"{_PYTEST} tests/clients/test_cache.py"),
    Task("stanfordnlp/dspy", "dspy_task/task8563",
         f"{_PYTEST} tests/adapters/test_tool.py tests/adapters/test_chat_adapter.py"),
    Task("stanfordnlp/dspy", "dspy_task/task8587", f"{_PYTEST} tests/streaming/test_streaming.py"),
    Task("stanfordnlp/dspy", "dspy_task/task8635",
         f"{_PYTEST} tests/teleprompt/test_utils.py tests/propose/test_grounded_proposer.py"),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Make the truth of some tasks, or score all that is kept."""
    parser = argparse.ArgumentParser(prog="python -m bench.merged_features", description=__doc__)
    parser.add_argument("dataset", type=Path, help="the folder of the tasks")
    parser.add_argument("clones", type=Path, help="a folder of clones, with their history")
    parser.add_argument("--truth", action="store_true", help="run the tests of both features")
    parser.add_argument("--only", default="", help="of tasks with this in their folder")
    parser.add_argument("--path", action="append", default=[], help="a folder of programs; again")
    parser.add_argument("--modules", type=Path, help="the node_modules that the tests need")
    parser.add_argument("--verbose", action="store_true", help="say what is named")
    parser.add_argument("--record", action="store_true", help="keep the scores in RESULTS.md")
    options = parser.parse_args(arguments)
    known: dict[str, Any] = json.loads(TRUTH.read_text("utf-8")) if TRUTH.exists() else {}
    rows = []
    for task in TASKS:
        clone = clone_of(options.clones, task.repository)
        is_asked = options.truth or task.folder in known
        if clone is None or not is_asked or options.only not in task.folder:
            continue
        with checked_out(clone) as tree:
            features = Features(tree, options.dataset / task.folder)
            if options.truth:
                path = os.pathsep.join([*options.path, os.environ["PATH"]])
                known[task.folder] = _truth(task, features, path, options.modules)
                TRUTH.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
            else:
                rows.append(_row(task, features, known[task.folder]["pairs"], options.verbose))
    if not options.truth:
        results.report("merged_features", [TABLE.filled(rows)], options.record)
    return 0


class Features:
    """The features of a task, each a commit upon the one that they begin at."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree = tree
        said = (folder / "setup.sh").read_text("utf-8") + (folder / "Dockerfile").read_text("utf-8")
        (self.base, *_) = re.findall(r"\b[0-9a-f]{40}\b", said)
        self._folders = {
            int(place.name.removeprefix("feature")): place for place in folder.glob("feature*")
        }
        self.commits = {number: self._commit(number) for number in sorted(self._folders)}

    def _commit(self, number: int) -> str:
        self.check_out(self.base)
        self._apply(self._folders[number] / "feature.patch")
        git(self.tree, "add", "--all")
        git(self.tree, "commit", "--quiet", "--no-verify", "--message", f"feature {number}")
        return git(self.tree, "rev-parse", "HEAD").decode().strip()

    def check_out(self, commit: str) -> None:
        """Make the tree that of a commit, or of a tree that git wrote."""
        git(self.tree, "checkout", "--quiet", "--force", "--detach", commit)
        git(self.tree, "clean", "-fdq", "-e", "node_modules", "-e", ".tersely")

    def with_tests(self, number: int) -> None:
        """Put the tests of a feature into the tree."""
        self._apply(self._folders[number] / "tests.patch")

    def _apply(self, patch: Path) -> None:
        words = ["apply", "--ignore-whitespace", str(patch.resolve())]
        try:
            git(self.tree, *words)
        except subprocess.CalledProcessError:
            git(self.tree, "apply", "--3way", *words[1:])

    def clean(self) -> Iterator[tuple[int, int, str]]:
        """The pairs that git merges, with the commit of the merge."""
        for one, other in combinations(self.commits, 2):
            try:
                told = git(
                    self.tree, "merge-tree", "--write-tree", self.commits[one], self.commits[other]
                )
            except subprocess.CalledProcessError:
                continue
            parents = [word for number in (one, other) for word in ("-p", self.commits[number])]
            merge = git(
                self.tree, "commit-tree", told.decode().split()[0], *parents, "-m", "merged"
            )
            yield one, other, merge.decode().strip()


def _truth(task: Task, features: Features, path: str, modules: Path | None) -> dict[str, Any]:
    if modules is not None:
        (features.tree / "node_modules").symlink_to(modules)
    alone: dict[int, set[str] | None] = {}
    pairs = []
    for one, other, merge in features.clean():
        broken: set[str] = set()
        for number in (one, other):
            if number not in alone:
                alone[number] = _failing(task, features, features.commits[number], number, path)
            failing = _failing(task, features, merge, number, path)
            before = alone[number]
            if before is not None:
                broken |= {"the tests cannot be applied"} if failing is None else failing - before
        usable = alone[one] is not None and alone[other] is not None
        pairs.append({"features": [one, other], "fails": sorted(broken), "usable": usable})
        print(task.folder, one, other, usable, sorted(broken)[:3], flush=True)
    return {"base": features.base, "command": task.command, "pairs": pairs}


def _failing(
    task: Task, features: Features, commit: str, number: int, path: str
) -> set[str] | None:
    """The tests that fail at a commit with those of a feature; None where these cannot be applied."""
    features.check_out(commit)
    try:
        features.with_tests(number)
    except subprocess.CalledProcessError:
        return None
    tree = features.tree
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{tree / 'src'}:{tree}", "CI": "1"}
    done = subprocess.run(
        task.command, shell=True, cwd=tree, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=TEST_SECONDS,
    )  # fmt: skip
    failed = set(_FAILED.findall(done.stdout))
    return failed or ({done.stdout[-200:]} if done.returncode else set())


def _row(task: Task, features: Features, pairs: Sequence[Mapping[str, Any]], verbose: bool) -> Row:
    counts = {"clean": 0, "failing": 0, "named": 0, "passing": 0, "false_alarms": 0}
    other_tree = features.tree.with_name(f"{features.tree.name}-other")
    git(features.tree, "worktree", "add", "--quiet", "--detach", str(other_tree), features.base)
    for pair in pairs:
        if not pair["usable"]:
            continue
        one, other = pair["features"]
        features.check_out(features.commits[one])
        git(other_tree, "checkout", "--quiet", "--force", "--detach", features.commits[other])
        told = _conflicts(features.tree, other_tree)
        counts["clean"] += 1
        fails = bool(pair["fails"])
        counts["failing" if fails else "passing"] += 1
        counts["named" if fails else "false_alarms"] += bool(told)
        if verbose:
            print(task.folder, one, other, "fails" if fails else "passes", f"{len(told)} named")
            print(
                *(f"  {line}" for line in told),
                *(f"  ! {test}" for test in pair["fails"][:3]),
                sep="\n",
            )
    return {"task": task.folder, **counts}


def _conflicts(tree: Path, other: Path) -> list[str]:
    command = [sys.executable, "-m", "tersely", "conflicts", str(other), "--json"]
    environment = {**os.environ, "TERSELY_DAEMON": "off"}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)["result"]["conflicts"]["items"]
    return [
        f"{one['symbol']} {one['change']} {one['side']}: {one['other']} {one['grade']}"
        for one in found
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
