from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bench.speed.child import Command, median_of, run

from bench import results


def test_a_run_counts_time_and_memory_of_what_it_starts(tmp_path: Path) -> None:
    work = "b = bytearray(60_000_000); sum(range(3_000_000))"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}], check=True)"
    measured = run(Command([sys.executable, "-c", parent], tmp_path))
    assert measured.cpu_seconds > 0.02
    assert measured.peak_mb > 50


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        run(Command([sys.executable, "-c", "raise SystemExit(3)"], tmp_path))


def test_the_stage_is_set_before_each_run(tmp_path: Path) -> None:
    made = []
    median_of(3, Command([sys.executable, "-c", "pass"], tmp_path), lambda: made.append(1))
    assert len(made) == 3


def test_the_page_is_made_of_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "HERE", tmp_path)
    monkeypatch.setattr(results, "MEASURED", tmp_path / "results")
    machine = dict.fromkeys(("date", "revision", "cores", "processor", "system", "python", "load"), "x")
    rates = {"precision": 1.0, "recall": 0.5, "f1": 0.667, "complete": 2, "sound": 1, "cases": 2, "edges": 4}
    suite = {"suite": "S", "language": "go", "skipped": "", "figures": {"any": 0.5}, "differing": ["one"], **rates}
    results.keep("groundtruth", {"machine": machine, "suites": [suite]})
    page = (tmp_path / "RESULTS.md").read_text()
    assert "| S | go | 2 | 4 | 1.000 | 0.500 | 0.667 | 2 | 1 | any 0.500 |" in page
    assert results.kept("groundtruth")["suites"] == [suite]
    assert results.kept("speed") == {}
