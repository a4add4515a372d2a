"""Figures beside their limits: what fails, what may change a limit, and our own figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tools.budgets import modules, raising, suite
from tools.budgets.limits import ROOT, Verdict, judged, lowered, moved, own, raised, read
from tools.budgets.measure import QUICK, SLOW, is_exact, measured
from tools.budgets.walk import calls

from tersely.code.languages.registry import LANGUAGES

LIMITS = """# Why.
[nodes]
whole = 1_000

[nodes.rooms]
cli = 600
"code/graph" = 400

[walk]
python = 100.0

[questions]
callers = { files_median = 10, equations_median = 0 }

[suite.first]
git_runs = 100
"""
KEPT = {
    "nodes.whole": 1_000,
    "nodes.rooms.cli": 600,
    "nodes.rooms.code/graph": 400,
    "walk.python": 98.1,
    "questions.callers.files_median": 10,
    "questions.callers.equations_median": 0,
    "suite.first.git_runs": 86,
}
GROUPS = ("nodes", "walk", "questions", "suite")


def verdicts(**changed: float | None) -> dict[str, Verdict]:
    """What is said of figures, of which some are others, by name; None for one that is gone."""
    figures = {**KEPT, **{name.replace("__", "."): figure for name, figure in changed.items()}}
    there = {name: figure for name, figure in figures.items() if figure is not None}
    lines = judged(there, read(LIMITS), GROUPS)
    return {line.name: line.verdict for line in lines if line.verdict}


def test_what_is_at_its_limit_or_little_below_is_kept() -> None:
    assert verdicts() == {}


@pytest.mark.parametrize(
    ("name", "figure", "verdict"),
    [
        ("nodes.whole", 1_001, Verdict.WORSE),
        ("nodes.rooms.code/graph", 401, Verdict.WORSE),
        ("walk.python", 100.1, Verdict.WORSE),
        ("walk.python", 97.9, Verdict.BETTER),
        ("questions.callers.files_median", 11, Verdict.WORSE),
        ("questions.callers.files_median", 9, Verdict.BETTER),
        ("questions.callers.equations_median", 1, Verdict.WORSE),
        ("questions.callers.files_p95", 1, Verdict.NEW),
        ("walk.python", None, Verdict.GONE),
        ("suite.first.git_runs", 101, Verdict.WORSE),
        ("suite.first.git_runs", 84, Verdict.BETTER),
    ],
)
def test_a_figure_fails_on_either_side(name: str, figure: float | None, verdict: Verdict) -> None:
    assert verdicts(**{name: figure}) == {name: verdict}


def test_limits_are_lowered_and_never_raised() -> None:
    figures = {
        "nodes.whole": 900, "nodes.rooms.cli": 601, "nodes.rooms.code/graph": 299, "walk.python": 80.5,
        "questions.callers.files_median": 3, "suite.first.git_runs": 50, "nodes.rooms.lsp": 5,
        "walk.go": 7.0, "suite.second.refreshes": 100,
    }  # fmt: skip
    text = lowered(LIMITS, figures)
    assert read(text) == {
        "nodes.whole": 900, "nodes.rooms.cli": 600, "nodes.rooms.code/graph": 299, "walk.python": 80.5,
        "questions.callers.files_median": 3, "questions.callers.equations_median": 0,
        "suite.first.git_runs": 52, "walk.go": 7.0, "suite.second.refreshes": 105,
    }  # fmt: skip
    assert text.startswith("# Why.\n")


def test_what_is_no_number_is_no_limit() -> None:
    for endless in ("nan", "inf"):
        with pytest.raises(ValueError, match="no limits: nodes"):
            read(f"[nodes]\nwhole = {endless}\n")


def test_counts_of_the_suite_keep_some_room() -> None:
    assert read(lowered(LIMITS, {"suite.first.git_runs": 90})) == read(LIMITS)


def test_rooms_move_within_their_sum() -> None:
    after = {"nodes.rooms.cli": 500, "nodes.rooms.code/flow": 480}
    found = read(moved(LIMITS, {**after, "walk.python": 120.0}))
    assert {name: limit for name, limit in found.items() if ".rooms." in name} == after
    assert found["walk.python"] == 100
    with pytest.raises(ValueError, match="held to the sum"):
        moved(LIMITS, {**after, "nodes.rooms.cli": 521})


def test_what_raises_a_limit() -> None:
    before = read(LIMITS)
    assert raised(before, {**before, "walk.python": 99, "walk.go": 5_000}) == []
    assert raised(before, {**before, "walk.python": 101}) == ["walk.python"]
    assert raised(before, {k: v for k, v in before.items() if k != "walk.python"}) == [
        "walk.python"
    ]
    assert raised(before, {**before, "nodes.rooms.cli": 650, "nodes.rooms.code/graph": 350}) == []
    assert raised(before, {**before, "nodes.rooms.cli": 601}) == ["nodes.rooms.cli"]


def commit(root: Path, text: str, subject: str) -> str:
    """The commit that writes limits."""
    (root / "budgets.toml").write_text(text)
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", subject], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_who_raises_a_limit_says_so(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    commit(tmp_path, LIMITS, "tests: budgets")
    higher = LIMITS.replace("whole = 1_000", "whole = 1_500")
    said = commit(tmp_path, higher, "budget: all for a new language")
    commit(tmp_path, higher.replace("600", "500"), "cli: less")
    assert raising.in_silence(tmp_path) == []
    silent = commit(tmp_path, higher.replace("100.0", "101.0"), "walk: more")
    names = "nodes.rooms.cli, walk.python"
    assert raising.in_silence(tmp_path) == [f"{silent[:10]} (walk: more) raises {names}"]
    assert len(raising.in_silence(tmp_path, said)) == 1
    assert raising.in_silence(tmp_path, silent) == []
    other = f"{higher}\n[tokens]\nten_turns = 5\n"
    commit(
        tmp_path, other, "budget: walk.python pays for texts with holes, nodes.rooms.cli for help"
    )
    assert raising.in_silence(tmp_path) == []


@pytest.mark.parametrize(
    ("limit", "names"), [("90.0", []), ("95.0", ["walk.python"]), ("100.0", ["walk.python"])]
)
def test_a_merge_raises_what_neither_side_has(tmp_path: Path, limit: str, names: list[str]) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "init", "-qb", "main", tmp_path], check=True)
    commit(tmp_path, LIMITS, "tests: budgets")
    subprocess.run([*git, "checkout", "-qb", "side"], check=True)
    commit(tmp_path, LIMITS.replace("600", "700"), "budget: nodes.rooms.cli for help")
    subprocess.run([*git, "checkout", "-q", "main"], check=True)
    commit(tmp_path, LIMITS.replace("100.0", "90.0"), "walk: less")
    subprocess.run([*git, "merge", "-q", "--no-commit", "-s", "ours", "side"], check=True)
    merge = commit(tmp_path, LIMITS.replace("600", "700").replace("100.0", limit), "merge")
    expected = [f"{merge[:10]} (merge) raises {name}" for name in names]
    assert raising.in_silence(tmp_path) == expected


def test_a_command_that_fails_has_not_loaded_what_it_needs(tmp_path: Path) -> None:
    program = "import json; raise SystemExit('no index')"
    assert "json" in modules.loaded(program, "", tmp_path, 1)
    with pytest.raises(RuntimeError, match="ends with 1: no index"):
        modules.loaded(program, "", tmp_path)


COUNTED = {
    "pytest.ini": "[pytest]\ntestpaths = tests\nmarkers = slow\n",
    "conftest.py": "from pathlib import Path\nfrom tools.budgets.suite import Counting\n\n\n"
    "def pytest_configure(config):\n"
    "    config.pluginmanager.register(Counting(config, Path('counts.json'), lambda: LIMITS))\n",
    **{
        f"tests/test_{name}.py": "import subprocess, sys\n\n\ndef test_git():\n"
        "    subprocess.run(['git', '--version'], check=True)\n"
        "    subprocess.run([sys.executable, '-c', ''], check=True)\n"
        for name in "ab"
    },
}


def counted_project(folder: Path, limits: dict[str, int]) -> None:
    """Tests that start git twice and Python twice, under some limits."""
    conftest = f"LIMITS = {limits}\n{COUNTED['conftest.py']}"
    for name, text in {**COUNTED, "conftest.py": conftest}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(("most", "status"), [(2, 0), (1, 1)])
def test_the_processes_of_a_whole_run_are_added_up_and_judged(
    tmp_path: Path, most: int, status: int
) -> None:
    counted_project(tmp_path, {"suite.first.git_runs": most})
    words = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-n", "2"]
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    assert ("git_runs is 2, over its limit of 1" in done.stdout) is bool(status)
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert counts["suite.first.git_runs"] == 2
    assert counts["suite.first.process_starts"] >= 4


class Run:
    """A run of pytest as it was asked for."""

    def __init__(self, **option: object) -> None:
        self.args: object = option.pop("args", ["tests"])
        self.option = SimpleNamespace(
            **{"markexpr": "not slow", "keyword": "", "collectonly": False, **option}
        )

    def getini(self, name: str) -> list[str]:
        return ["tests"]


@pytest.mark.parametrize(
    ("run", "tier"),
    [
        (Run(), "first"),
        (Run(markexpr="slow or hypothesis"), "second"),
        (Run(markexpr=""), ""),
        (Run(keyword="git"), ""),
        (Run(collectonly=True), ""),
        (Run(args=["tests/cli"]), ""),
    ],
)
def test_a_tier_is_judged_where_it_has_run_whole(run: Run, tier: str) -> None:
    assert suite.tier_of(run) == tier  # type: ignore[arg-type]


def test_counts_of_one_tier_stand_beside_those_of_the_other(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "counts.json"
    suite.keep(place, suite.named("first", {"git_runs": 3}))
    suite.keep(place, suite.named("second", {"git_runs": 5}))
    kept = suite.latest(place)
    assert (kept["suite.first.git_runs"], kept["suite.second.git_runs"]) == (3, 5)


def test_calls_of_a_walk_grow_with_the_source() -> None:
    python = LANGUAGES["python"]
    short, long = (calls(b"def f(): ...\n" * times, python) for times in (1, 50))
    assert short < long / 10
    assert calls(b"def f(): ...\n" * 50, python) == long


@pytest.mark.parametrize(
    "group", [*QUICK, *(pytest.param(group, marks=pytest.mark.slow) for group in SLOW)]
)
def test_our_own_figures_keep_their_limits(group: str) -> None:
    figures = {name: each for name, each in measured(group).items() if is_exact(name)}
    limits = {name: limit for name, limit in own().items() if is_exact(name)}
    wrong = [line for line in judged(figures, limits, [group]) if line.verdict]
    assert wrong == [], "make budgets shows all; LOWER=1 lowers limits"
