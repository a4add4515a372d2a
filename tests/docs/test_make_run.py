"""`make run`: what it shows of this repository to somebody who is new to it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.test_house import ROOT, tracked_files

from tersely.cli.main import main

pytestmark = pytest.mark.slow

PROGRAM = ".venv/bin/tersely "


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone of this repository has."""
    copy = tmp_path_factory.mktemp("clone")
    for path in tracked_files():
        place = copy / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return copy


def test_no_file_of_our_own_is_left_out(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--report", "--json", "--root", str(copy)]) == 0
    report = json.loads(capsys.readouterr().out)["result"]
    assert report["skipped"]["items"] == []
    assert report["problems"]["items"] == []


def test_what_is_shown_needs_no_note(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = subprocess.run(
        ["make", "--dry-run", "run"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    commands = [line for line in told.stdout.splitlines() if line.startswith(PROGRAM)]
    assert len(commands) == 3
    monkeypatch.chdir(copy)
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0
        shown = capsys.readouterr()
        assert shown.out
        assert "note:" not in shown.out + shown.err
        assert "left out" not in shown.out + shown.err
