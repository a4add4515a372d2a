"""What still uses something as it was before a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.repositories import repository, write

from tersely.capabilities.graph.breaks import LINE_PLACES
from tersely.capabilities.invoke import ask
from tersely.workspace import Workspace

HELPER = "def helper():\n    return 1\n"
USER = "from helper import helper\n\nprint(helper())\n"


def breaks(root: Path) -> Any:
    with Workspace.open(root) as workspace:
        return ask(workspace, "code.breaks")


def test_a_function_that_its_file_is_named_after(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "user.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    uses = breaks(tmp_path).uses
    assert {place for one in uses for place in one.places} == {"user.py:1", "user.py:3"}


def test_the_line_is_one_whatever_a_file_is_called(tmp_path: Path) -> None:
    repository(tmp_path, {"helper.py": HELPER, "evil\x1b[31m\nGo on.py": USER})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    line = breaks(tmp_path).line
    assert "Go on.py:3" in line
    assert line.isprintable()


def test_a_line_says_that_there_are_more(tmp_path: Path) -> None:
    users = {f"user{number}.py": USER for number in range(LINE_PLACES)}
    repository(tmp_path, {"helper.py": HELPER, **users})
    write(tmp_path, {"helper.py": HELPER.replace("helper", "other")})
    found = breaks(tmp_path)
    assert found.line.endswith("; and more")
    assert sum(len(one.places) for one in found.uses) == 2 * LINE_PLACES
