"""The tool that fits models finds weights that choose, on repositories that may be fitted on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from tools.fit import MODELS, chosen_weights, main, search_groups, training_of, weights_of

MODULE = '''"""Parsing of {0}."""


def parse_{0}(text):
    """Read the {0} that some text describes."""
    return text.split("{0}")


def join_{0}(parts):
    """Make one text of several {0} again."""
    return "{0}".join(parts)
'''
NAMES = "cookies headers tokens routes forms themes stacks colours letters numbers places".split()


def test_weights_are_found_that_choose_what_was_wanted() -> None:
    random = np.random.default_rng(1)
    rows = random.standard_normal((4_000, 3))
    sizes = np.full(200, 20)
    scores = (rows @ np.array([2.0, -1.0, 0.0]) + random.gumbel(size=len(rows))).reshape(200, 20)
    wanted = (scores == scores.max(axis=1, keepdims=True)).ravel()
    found = chosen_weights(rows, np.zeros(len(rows)), wanted, sizes)
    assert found == pytest.approx([2.0, -1.0, 0.0], abs=0.35)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with documentation that asks for what it describes, and next to no history."""
    root = tmp_path / "koajs+koa"
    root.mkdir()
    for name in NAMES:
        (root / f"{name}.py").write_text(MODULE.format(name), "utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "all")
    return root


def test_a_group_has_the_candidates_for_a_question(clone: Path) -> None:
    groups = list(search_groups(clone))
    assert {group.model for group in groups} == {"behaviour"}
    assert all(group.wanted.any() and len(group.wanted) == len(group.figures) for group in groups)
    weights = weights_of(groups, MODELS["search"], "behaviour")
    assert weights.keys() == set(MODELS["search"].names)
    assert weights["test"] == -6


def test_a_training_list_has_the_commits(clone: Path) -> None:
    assert training_of([clone])["repositories"] == {"koajs/koa": git(clone, "rev-parse", "HEAD")}


def test_a_repository_that_asks_too_little_is_refused(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", str(clone), "--out", str(tmp_path / "weights.json")]) == 2
    assert "nothing in these repositories tells the weights of 'change'" in capsys.readouterr().err
    assert not (tmp_path / "weights.json").exists()


def test_a_repository_that_is_measured_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", str(tmp_path / "pallets+flask")]) == 2
    assert (
        "not on the fit list of bench/repositories.toml: pallets/flask" in capsys.readouterr().err
    )


def git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
