"""Who is a person at a terminal, and who is run by an agent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.own_terminal import IS_TOLD_APART, at_terminal

from tersely.agent.tools.running import sandbox_supervisor

SOURCE = "import os; from tersely.foundation.process.ancestry import is_of_person; print(is_of_person(os.getpid()))"


pytestmark = pytest.mark.skipif(
    not IS_TOLD_APART, reason="an agent runs the tests, or there is no /proc"
)


def test_who_types_at_a_terminal_is_a_person() -> None:
    assert at_terminal(sys.executable, "-c", SOURCE) == "True"


def test_what_has_no_terminal_is_no_person() -> None:
    assert at_terminal(sys.executable, "-c", SOURCE, has_one=False) == "False"


def test_what_an_agent_runs_is_no_person(tmp_path: Path) -> None:
    agent = tmp_path / "claude"
    agent.write_text("import subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n")
    assert at_terminal(sys.executable, str(agent), sys.executable, "-c", SOURCE) == "False"


def test_what_an_agent_runs_is_seen_to_be_of_an_agent(tmp_path: Path) -> None:
    agent = tmp_path / "codex"
    agent.write_text("import subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n")
    source = SOURCE.replace("is_of_person", "is_of_agent")
    for has_terminal in (True, False):
        words = (sys.executable, str(agent), sys.executable, "-c", source)
        assert at_terminal(*words, has_one=has_terminal) == "True"
        assert at_terminal(*words[2:], has_one=has_terminal) == "False"


def test_what_run_has_started_is_no_person_even_where_it_takes_its_name_away() -> None:
    inner = ["env", "-u", "TERSELY_AGENT", sys.executable, "-c", SOURCE]
    words = ["/bin/sh", "-c", '"$@"; true', "sh", *inner]
    assert at_terminal(*words, TERSELY_AGENT="ann") == "False"


def test_what_our_own_agent_runs_is_no_person(tmp_path: Path) -> None:
    supervisor = tmp_path / Path(sandbox_supervisor.__file__).name
    supervisor.write_text("import subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n")
    assert at_terminal(sys.executable, str(supervisor), sys.executable, "-c", SOURCE) == "False"
