"""Agents start no more programs in their thread than may be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.relay_home import Home
from tests.own_terminal import IS_TOLD_APART, at_terminal
from tests.wrap.conftest import PATIENCE_SECONDS
from tests.wrap.screens import needs_tmux

from tersely.client import Client
from tersely.foundation.process.ancestry import NAME_VARIABLE

pytestmark = needs_tmux

PROGRAM = "true"
STARTER = f"""
print("->relay:spawn one {PROGRAM}", flush=True)
print("->relay:spawn two {PROGRAM}", flush=True)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(tmp_path_factory.mktemp("home") / "relay", tmp_path_factory.mktemp("root"))
    made.home.mkdir(mode=0o700)
    (made.home / "config.toml").write_text("thread_programs = 1\n")
    made.up()
    yield made
    made.run("down")


@pytest.fixture
def thread(home: Home) -> str:
    with Client.local("tess", home.home) as relay:
        return str(relay.ask("thread.new").thread_id)


def run(home: Home, thread: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable, "-m", "tersely", "run", "--no-start", "--no-brief", "--trust-screen", "--thread", thread,
        *words,
    ]  # fmt: skip
    environment = {**os.environ, **home.environment, **more}
    return subprocess.run(
        command, cwd=home.root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip


def spent(home: Home, thread: str) -> Any:
    with Client.local("tess", home.home) as relay:
        return relay.ask("thread.get", thread=thread).spent


def test_the_next_program_is_refused_and_told_why(home: Home, thread: str) -> None:
    done = run(home, thread, "--spawn", PROGRAM, "--", sys.executable, "-c", STARTER)
    assert (
        "[relay error] the agents of this thread have started 1 of 1 programs today" in done.stderr
    )
    assert spent(home, thread).programs == 1


def test_what_an_agent_runs_in_a_shell_counts_and_a_person_is_not_bound(
    home: Home, thread: str
) -> None:
    agent = {NAME_VARIABLE: "ann"}
    assert run(home, thread, "--", PROGRAM, **agent).returncode == 0
    refused = run(home, thread, "--", PROGRAM, **agent)
    assert refused.returncode == 1
    assert "spending_limit" in refused.stderr
    assert run(home, thread, "--", PROGRAM).returncode == 0
    assert spent(home, thread).programs == 1


def test_the_person_alone_gives_a_thread_bounds_of_its_own(home: Home) -> None:
    words = [sys.executable, "-m", "tersely", "relay", "thread", "new", "--programs", "5"]
    agent = {**os.environ, **home.environment, NAME_VARIABLE: "ann"}
    refused = subprocess.run(words, env=agent, capture_output=True, text=True, check=False)
    assert (refused.returncode != 0, "not_permitted" in refused.stderr) == (True, True)
    if not IS_TOLD_APART:
        pytest.skip("persons cannot be told from agents here")
    made = at_terminal(*words, **home.environment)
    assert spent(home, made).most_programs == 5
