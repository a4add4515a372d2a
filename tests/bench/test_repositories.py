"""What models are fitted on is not what they are judged by."""

from __future__ import annotations

import json
from pathlib import Path

from bench.repositories import FIT, IN_WORD_TABLE, MEASURE, measured_clones

SOURCES = Path(__file__).parents[2] / "src" / "tersely"


def test_the_two_lists_have_nothing_in_common() -> None:
    assert FIT
    assert MEASURE
    assert set() == FIT & MEASURE


def test_search_is_fitted_on_nothing_that_is_measured() -> None:
    assert trained_on("code/search/weights.json") <= FIT


def test_trees_are_grown_from_nothing_that_is_measured() -> None:
    assert trained_on("context/lenses/diff/needed.training.json") <= FIT


def test_what_the_word_table_knows_of_the_measured_is_listed() -> None:
    packages = json.loads(
        (SOURCES / "code/search/embedding/words.training.json").read_text("utf-8")
    )["training"]
    assert set(packages["packages"].values()) & MEASURE == IN_WORD_TABLE


def trained_on(model: str) -> set[str]:
    """The repositories in a training list."""
    return set(json.loads((SOURCES / model).read_text("utf-8"))["training"]["repositories"])


def test_only_clones_to_measure_are_taken(tmp_path: Path) -> None:
    for name in ("pallets+click", "pallets+flask", "nobody+nothing", "notes.txt"):
        (tmp_path / name).mkdir()
    assert [path.name for path in measured_clones(tmp_path)] == ["pallets+flask"]
