"""Syntax nodes of rooms."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.sizes import main

ONE_LINE = "a = 1\n"  # Module, Assign, Name, Store, Constant


def test_rooms_are_packages_and_modules_and_some_are_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = (
        "code/graph/a.py",
        "code/graph/deep/b.py",
        "code/engine.py",
        "relay/a.py",
        "cli/sub/a.py",
        "cli/b.py",
    )
    for name in (
        *(f"src/tersely/{file}" for file in files),
        "src/tersely/top.py",
        "bench/a.py",
        "tests/b/c.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ONE_LINE)
    (tmp_path / "src/tersely/data").mkdir()
    main([str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["cli", "10"],
        ["code", "15"],
        ["graph", "10"],
        ["engine.py", "5"],
        ["relay", "5"],
        ["a.py", "5"],
        ["top.py", "5"],
        ["src/tersely", "35"],
        ["bench", "5"],
        ["tests", "5"],
        ["total", "45"],
    ]
    assert [line.startswith("  ") for line in lines] == [
        False,
        False,
        True,
        True,
        False,
        True,
        *[False] * 5,
    ]
