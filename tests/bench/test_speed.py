from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bench.speed import large, questions
from bench.speed.child import Command, median_of, run
from bench.speed.measures import Bench
from bench.speed.peers import STAGES, measure


def test_a_run_counts_time_and_memory_of_what_it_starts(tmp_path: Path) -> None:
    work = "b = bytearray(60_000_000); sum(range(3_000_000))"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}], check=True)"
    measured = run(Command([sys.executable, "-c", parent], tmp_path))
    assert measured.cpu_seconds > 0.02
    assert measured.peak_mb > 50


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        run(Command([sys.executable, "-c", "raise SystemExit(3)"], tmp_path))


def test_a_command_that_takes_too_long_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    child = "import time; print(flush=True); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(TimeoutError, match=r"more than 0 s"):
        # its child holds the pipe that is read to the end
        run(Command([sys.executable, "-c", parent], tmp_path, seconds=0.3))


def test_peers_are_measured_beside_ourselves_and_say_why_not(tmp_path: Path) -> None:
    tree, program = tmp_path / "tree", tmp_path / "peers" / "codegraph" / "bin" / "codegraph"
    tree.mkdir()
    (tree / "a.py").write_text("def called(): ...\n\n\ndef calling(): called()\n")
    program.parent.mkdir(parents=True)
    answers = "--version) echo tool 7;; sync) echo no >&2; exit 3;; *) mkdir .codegraph"
    program.write_text(f"#!/bin/sh\ncase $1 in {answers}; esac\n")
    program.chmod(0o755)
    rows = list(measure(Bench(tree, 1), tmp_path / "peers"))
    assert [row.name.rpartition(", ")[2] for row in rows[:3]] == list(STAGES)
    assert rows[2].note == "mean of 1 functions; the answers name 1 of 1 callers"
    (cold, refreshed) = [row for row in rows if row.name.startswith("codegraph")]
    assert (cold.name, cold.beside) == ("codegraph 7, cold", "tersely, cold")
    assert refreshed.note == "skipped: it ended with 3: no"
    assert {row.note for row in rows if row.name.startswith("llm-tldr")} == {
        "skipped: not installed"
    }
    assert sorted(path.name for path in tree.iterdir()) == ["a.py"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "a.py").write_text("def called(): ...\n\n\ndef calling(): called()\n")
    (folder / "gone.py").symlink_to("nowhere")
    return folder


@pytest.mark.slow
def test_large_trees_are_copies_until_they_have_enough(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE_LINES", 10)
    monkeypatch.setattr(large, "LARGE_FILES", 2)
    rows = list(large.large(Bench(tree, 1), tmp_path))
    assert [row.note for row in rows if row.note] == [
        "3 copies, 3 files, 12 lines",
        "2 copies, 2 files, 8 lines",
    ]
    assert [row.name for row in rows[:3]] == [
        f"many lines, {stage}" for stage in (*STAGES[:2], "callers of one function")
    ]
    assert all(row.measured is not None and row.measured.cpu_seconds > 0 for row in rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytecode", "code"]


def test_the_stage_is_set_before_each_run(tmp_path: Path) -> None:
    made = []
    median_of(3, Command([sys.executable, "-c", "pass"], tmp_path), lambda: made.append(1))
    assert len(made) == 3


@pytest.mark.slow
def test_questions_are_asked_about_the_language_of_most_functions(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "FLOOR_RUNS", 1)
    (tree / "page.js").write_text("function shown() {}\n")
    rows = list(questions.measure(tree, 9))
    assert [row["question"] for row in rows] == [*questions.QUESTIONS]
    assert {(row["asked"], row["without_end"]) for row in rows} == {(2, 0)}
    assert all(0 < row["median"] <= row["p95"] <= row["slowest"] for row in rows)
