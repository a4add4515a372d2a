"""What models are fitted on is not what they are judged by."""

from __future__ import annotations

from pathlib import Path

from bench.repositories import FIT, MEASURE, measured_clones


def test_the_two_lists_have_nothing_in_common() -> None:
    assert FIT
    assert MEASURE
    assert set() == FIT & MEASURE


def test_only_clones_to_measure_are_taken(tmp_path: Path) -> None:
    for name in ("pallets+click", "pallets+flask", "nobody+nothing", "notes.txt"):
        (tmp_path / name).mkdir()
    assert [path.name for path in measured_clones(tmp_path)] == ["pallets+flask"]
