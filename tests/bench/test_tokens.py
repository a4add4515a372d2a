"""The harness of `bench.tokens`, on a small repository with history, and how it judges."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.scratch import git
from bench.tokens import ours, plain
from bench.tokens.__main__ import BUDGETS, mean_rows, measured
from bench.tokens.cases import Case, called, cases, with_given_half
from bench.tokens.covered import Marks, Text, marks
from bench.tokens.questions import HALF, SUBJECT, SYMBOL, questions

from tersely.foundation.text.tokens import count
from tersely.workspace import Workspace

# More than a pack needs beside what it shows: of files of a few lines it may take more than these
# do.
OTHERS = "".join(
    f"\n\ndef other_{at}(value):\n    known = list(value)\n    return known[{at}:]\n"
    for at in range(12)
)
BEFORE = {
    "shop/prices.py": "def rounded(cents):\n    return int(cents + 0.5)\n\n\ndef shown(cents):\n    text = str(cents)\n"
    "    return text + ' ct'\n" + OTHERS,
    "shop/orders.py": "from shop.prices import shown\n\n\nclass Order:\n    def total(self, items):\n"
    "        amount = sum(items)\n        return shown(amount)\n"
    + OTHERS.replace("other", "order"),
    "tests/test_shop.py": "def test_shown():\n    assert True\n",
}
AFTER = {
    **BEFORE,
    "shop/prices.py": BEFORE["shop/prices.py"].replace(
        "text = str(cents)", "text = str(cents).rjust(8)"
    ),
    "shop/orders.py": BEFORE["shop/orders.py"].replace(
        "return shown(amount)", "return shown(rounded(amount))"
    ),
    "tests/test_shop.py": "def test_shown():\n    assert 1\n",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    root = tmp_path / "clones" / "some+shop"
    root.mkdir(parents=True)
    git(root, "init", "--quiet")
    for files, subject in (
        (BEFORE, "Begin the shop"),
        (AFTER, "Align and round the totals of orders"),
    ):
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, "utf-8")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", subject)
    return root


@pytest.fixture
def case(clone: Path) -> Case:
    (found,) = cases(clone, 5)
    return found


@pytest.fixture
def workspace(clone: Path, case: Case) -> Iterator[Workspace]:
    git(clone, "checkout", "--quiet", "--detach", case.parent)
    with Workspace.open(clone) as opened:
        opened.check_freshness()
        yield opened


def test_a_case_is_what_a_commit_touches_outside_of_tests(case: Case) -> None:
    assert case.subject == "Align and round the totals of orders"
    assert [one.id for one in case.touched] == [
        "shop/orders.py:Order.total",
        "shop/prices.py:shown",
    ]


def test_what_new_lines_call_is_needed_too(case: Case, workspace: Workspace) -> None:
    assert [one.id for one in called(case, workspace.engine.store)] == ["shop/prices.py:rounded"]


def test_half_of_a_change_is_every_other_symbol(case: Case) -> None:
    assert with_given_half(case) == {"shop/orders.py": AFTER["shop/orders.py"].encode()}


def test_each_question_hides_what_it_does_not_give(
    case: Case, clone: Path, workspace: Workspace
) -> None:
    hidden = {
        one.kind: [mark.symbol.name for mark in (*one.touched, *one.called)]
        for one in questions(case, clone, workspace)
    }
    assert hidden == {
        SYMBOL: ["shown", "rounded"],
        SUBJECT: ["total", "shown", "rounded"],
        HALF: ["shown"],
    }


@pytest.mark.slow
def test_every_way_is_measured_at_every_budget(clone: Path) -> None:
    checked = ours.Checked()
    rows = measured(clone, 1, ["tersely", "plain"], None, checked)
    assert checked.packs > 0
    # Where the budget is larger than all files together, a pack that tells of a change may be, too.
    assert [one for one in checked.violations if f" {min(BUDGETS)}: " in one] == []
    assert [
        one for one in checked.violations if one.startswith(("context", "symbol slice", "map"))
    ] == []
    assert {budget for row in rows for budget in row["figures"]} == {*map(str, BUDGETS), "whole"}
    figures = [
        (budget, answer)
        for row in rows
        for budget, answer in row["figures"].items()
        if budget != "whole"
    ]
    assert all(answer.tokens <= int(budget) for budget, answer in figures)
    most = {
        row["given"]: row["figures"][str(max(BUDGETS))].touched
        for row in rows
        if row["way"] == "plan"
    }
    assert most == {SYMBOL: 1.0, SUBJECT: 1.0, HALF: 1.0}  # all of so small a repository


def test_plain_ways_print_what_is_there(case: Case, clone: Path, workspace: Workspace) -> None:
    (question, *_) = questions(case, clone, workspace)
    texts = dict(plain.answers(question))
    assert BEFORE["shop/orders.py"] in texts["full files"]
    assert "5:    def total(self, items):" in texts["ripgrep windows"]


def mark(workspace: Workspace, name: str) -> Marks:
    symbol = workspace.engine.symbol(name)
    return marks(symbol, workspace.engine.source(symbol.path))


@pytest.mark.parametrize(
    ("text", "is_covered", "is_shown"),
    [
        ("def shown(cents):\n    text = str(cents)\n    return text + ' ct'\n", True, True),
        ("@5-7 callee: def shown(cents)\n", True, False),
        ("  def   shown( cents ) -> str", True, False),
        ("│def shown(cents):", True, False),
        ("6-    text = str(cents)\n7-    return text + ' ct'\n", True, True),
        ("shop/prices.py-6-    text = str(cents)\n", True, True),
        ("calls: shown, rounded\n", False, False),
        ("print(shown(amount))\n", False, False),
        ("", False, False),
    ],
)
def test_a_symbol_is_covered_by_its_signature_or_its_body(
    workspace: Workspace, text: str, is_covered: bool, is_shown: bool
) -> None:
    shown, seen = mark(workspace, "shown"), Text.of(text)
    assert (shown.is_covered(seen), shown.is_shown(seen)) == (is_covered, is_shown)


@pytest.mark.parametrize(("used", "budget", "problems"), [(3, 10, 0), (4, 10, 1), (3, 2, 1)])
def test_a_pack_that_is_larger_than_it_may_be_is_told(
    case: Case, clone: Path, workspace: Workspace, used: int, budget: int, problems: int
) -> None:
    text = "one two three"
    assert count(text) == 3
    checked, (question, *_) = ours.Checked(), list(questions(case, clone, workspace))
    checked.check("made up", question, budget, SimpleNamespace(text=text, used=used, items=()))
    assert len(checked.violations) == problems


def test_a_pack_that_is_larger_than_its_files_is_told(
    case: Case, clone: Path, workspace: Workspace
) -> None:
    checked, (question, *_) = ours.Checked(), list(questions(case, clone, workspace))
    text = BEFORE["shop/prices.py"] * 2
    items = [SimpleNamespace(id="shop/prices.py:shown")]
    checked.check(
        "made up", question, 10_000, SimpleNamespace(text=text, used=count(text), items=items)
    )
    assert len(checked.violations) == 1


def test_the_command_says_when_there_is_nothing_to_measure(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.tokens", str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def test_means_are_of_the_ways_that_every_repository_was_asked_in() -> None:
    shared = {"given": SYMBOL, "asked": 2}
    rows = [
        {**shared, "repository": "a", "way": "plain", "figures": {"500": [9, 0.5, None, 0.0]}},
        {**shared, "repository": "b", "way": "plain", "figures": {"500": [7, 1.0, None, 0.5]}},
        {**shared, "repository": "a", "way": "rare", "figures": {"500": [9, 1.0, 1.0, 1.0]}},
    ]
    (row,) = mean_rows(rows)
    assert row == {
        "given": SYMBOL,
        "way": "plain",
        "asked": 4,
        "500": "75% / –, 25%",
        "figures": {"500": (8, 0.75, None, 0.25)},
    }
