"""QuixBugs: small programs, each with one fault in one line, and tests of which some fail.

The tests of each program are run by `coverage-context --run` in a copy of its own. A fact is that the pack of at most
`BUDGET_TOKENS` shows the faulty statement. Where the fault ranks among the lines that ran, by Ochiai's coefficient, is
told by the figures: of lines that are equally suspicious the middle one counts, so a tie over a whole function is no
success. A fault that is a missing line is at the line before or after it.

The tests need an interpreter with pytest, pytest-timeout and coverage: the one that runs this, or the one that the
environment variable names. They run programs of the data folder.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean

from bench.groundtruth.score import CaseResult, SuiteResult, compare
from tersely.capabilities.coverage.reports import ReportOptions, measured_by
from tersely.capabilities.invoke import ask
from tersely.code.coverage.spectrum import spectrum
from tersely.workspace import Workspace

PYTHON_VARIABLE = "TERSELY_BENCH_PYTHON"
BUDGET_TOKENS = 1_000
TEST_SECONDS = 1
PROGRAMS, CORRECT, TESTS, INPUTS = "python_programs", "correct_python_programs", "python_testcases", "json_testcases"
RANK = " ranks "


def python() -> str:
    """The interpreter that runs the tests."""
    return os.environ.get(PYTHON_VARIABLE, sys.executable)


def unable(_: Path) -> str:
    """Why the tests cannot be run."""
    done = subprocess.run([python(), "-c", "import coverage, pytest, pytest_timeout"], capture_output=True, check=False)
    return "" if done.returncode == 0 else f"{PYTHON_VARIABLE} names no Python with coverage, pytest, pytest-timeout"


def run(folder: Path, _: Path) -> Iterator[CaseResult]:
    """Every program that has tests and a correct version."""
    for test in sorted((folder / TESTS).glob("test_*.py")):
        name = test.stem.removeprefix("test_")
        if (folder / CORRECT / f"{name}.py").is_file():
            with tempfile.TemporaryDirectory(prefix="tersely-quixbugs-") as scratch:
                yield _case(folder, name, Path(scratch).resolve())


def _case(folder: Path, name: str, root: Path) -> CaseResult:
    path = f"{PROGRAMS}/{name}.py"
    _copy(folder, name, root)
    text = (root / path).read_text("utf-8").splitlines()
    faulty = faulty_lines(text, (folder / CORRECT / f"{name}.py").read_text("utf-8").splitlines())
    command = f"{shlex.quote(python())} -m pytest -q --tb short -p no:cacheprovider --timeout {TEST_SECONDS} {TESTS}"
    with Workspace.open(root) as workspace:
        found = ask(workspace, "code.coverage.context", run=command, failures_only=True, budget=BUDGET_TOKENS)
        measured, _ = measured_by(workspace, ReportOptions())
    file = measured.files[path]
    suspicion = spectrum(file, measured.failing, measured.passing).of_lines().tolist()
    ranked = {line: suspicion[line] if line < len(suspicion) else 0.0 for line in file.covered}
    rank = min((middle_rank(ranked, line) for line in faulty), default=float(len(ranked)))
    shown = {row.strip() for row in found.text.splitlines()}
    fact = f"shows line {min(faulty)}"
    is_shown = any(text[line - 1].strip() in shown for line in faulty)
    function = next((one.id for one in found.items if one.reason in {"suspect", "failure"}), "")
    facts = {fact} if is_shown else set()
    result = compare(f"{name}{RANK}{rank:g} of {len(ranked)}", {fact}, facts)
    return result if function.startswith(path) else compare(f"{result.name}, not first", {fact}, facts)


def _copy(folder: Path, name: str, root: Path) -> None:
    """The program with its tests and inputs, and what all of them share."""
    for path in (f"{PROGRAMS}/{name}.py", f"{TESTS}/test_{name}.py", f"{INPUTS}/{name}.json", "conftest.py",
                 f"{PROGRAMS}/node.py", f"{TESTS}/node.py", f"{TESTS}/load_testdata.py"):  # fmt: skip
        if (folder / path).is_file():
            (root / path).parent.mkdir(exist_ok=True)
            shutil.copyfile(folder / path, root / path)


def faulty_lines(buggy: list[str], correct: list[str]) -> set[int]:
    """The lines, from 1, in which the programs differ, up to the text that describes the program."""
    old, new = _code(buggy), _code(correct)
    found: set[int] = set()
    pairs = SequenceMatcher(None, [text for _, text in old], [text for _, text in new], autojunk=False)
    for kind, first, last, *_ in pairs.get_opcodes():
        if kind == "insert":
            found |= {old[at][0] for at in (first - 1, first) if 0 <= at < len(old)}
        elif kind != "equal":
            found |= {number for number, _ in old[first:last]}
    return found


def _code(lines: list[str]) -> list[tuple[int, str]]:
    end = next((at for at, text in enumerate(lines) if text.startswith('"""')), len(lines))
    return [(number, text.rstrip()) for number, text in enumerate(lines[:end], 1) if text.strip()]


def middle_rank(suspicion: dict[int, float], line: int) -> float:
    """The rank of a line, from 1; the middle of the ranks of all lines that are as suspicious."""
    own = suspicion.get(line)
    if own is None:
        return float(len(suspicion) + 1)
    before = sum(value > own for value in suspicion.values())
    return before + (sum(value == own for value in suspicion.values()) + 1) / 2


def figures(result: SuiteResult) -> dict[str, float]:
    """How often the fault is among the first lines, its mean rank, and how often its function comes first."""
    ranks = [float(case.name.partition(RANK)[2].split()[0]) for case in result.cases]
    if not ranks:
        return {}
    tops = {f"line@{most}": mean(rank <= most for rank in ranks) for most in (1, 3, 5)}
    first = mean(not case.name.endswith("not first") for case in result.cases)
    return {**tops, "mean_rank": mean(ranks), "function@1": first}
