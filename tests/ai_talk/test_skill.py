"""The folder as a skill: what its SKILL.md says is typed by two agents that have nothing but a copy
of it.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tersely import ai_talk
from tersely.foundation.text.tokens import count

SOURCE = Path(ai_talk.__file__).parent
MAX_SKILL_TOKENS = 500


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    place = tmp_path / "skills" / "ai-talk"
    shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def typed(folder: Path, line: str) -> dict[str, Any]:
    """What a line of the page prints."""
    python, where, *words = shlex.split(line)
    assert (python, where) == ("python", "FOLDER")
    command = [sys.executable, "-I", "-S", str(folder), *words]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_two_agents_talk_with_a_copy_of_the_folder_alone(folder: Path) -> None:
    page = (folder / "SKILL.md").read_text()
    start, ask, check, answer = re.findall(r"^   `(python FOLDER [^`]+)`$", page, re.MULTILINE)
    other_start, other_check = start.replace("ann", "ben"), check.replace("ben", "ann")
    stop = re.findall(r"`(python FOLDER listen stop [^`]+)`", page)[0]
    try:
        assert typed(folder, start)["status"] == "started"
        assert typed(folder, other_start)["status"] == "started"
        found = typed(folder, "python FOLDER discover")["listeners"]
        assert {one["name"] for one in found} == {"ann", "ben"}
        assert typed(folder, ask)["acknowledged"] is True
        [asked] = typed(folder, check)["messages"]
        assert (asked["from"], asked["message"]) == ("ann", "Which file do you change?")
        typed(folder, answer)
        [answered] = typed(folder, other_check)["messages"]
        assert (answered["from"], answered["message"]) == ("ben", "src/a.py")
    finally:
        for line in (stop, stop.replace("ann", "ben")):
            assert typed(folder, line)["status"] == "stopped"


def test_the_page_is_a_skill_and_short() -> None:
    page = (SOURCE / "SKILL.md").read_text()
    head = page.split("---\n")[1]
    assert head.startswith("name: ai-talk\ndescription: ")
    assert count(page) <= MAX_SKILL_TOKENS
