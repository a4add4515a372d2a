"""What a wrapped program is handed at its start, and what is left of it in its thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.relay_home import Home
from tests.wrap.conftest import PATIENCE_SECONDS, PROGRAMS, Friend, wait_for
from tests.wrap.screens import needs_tmux

pytestmark = needs_tmux

TALKER = (sys.executable, str(PROGRAMS / "talker.py"))
CODE = "def boil(water):\n    return heat(water)\n\n\ndef heat(water):\n    return water\n"
WRITER = """
import os, pathlib, subprocess, sys
pathlib.Path("made.py").write_text("x = 1\\n")
pathlib.Path("kept.py").write_text("y = 2\\n")
subprocess.run(["git", "add", "kept.py"], check=True)
subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qm", "m"], check=True)
print("->relay:tester I am done", flush=True)
sys.exit(3)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "kettle.py").write_text(CODE)
    (root / "dirty.py").write_text("before = 1\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "kettle.py"], [*who, "commit", "-qm", "m"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(relay: Home, repository: Path, tmp_path: Path) -> Iterator[Started]:
    """Run a program wrapped, without a terminal; its output goes to a file of its name."""
    running: list[subprocess.Popen[str]] = []

    def starting(
        name: str, *words: str, options: tuple[str, ...] = (), **more: str
    ) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "tersely",
            "run",
            "--no-start",
            "--name",
            name,
            *options,
            "--",
            *words,
        ]
        environment = {**os.environ, **relay.environment, **more}
        with (tmp_path / name).open("w") as out:
            running.append(
                subprocess.Popen(
                    command, cwd=repository, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                    stderr=subprocess.STDOUT, text=True,
                )
            )  # fmt: skip
        return running[-1]

    yield starting
    for one in running:
        one.kill()
        one.wait()


def there(repository: Path, relay: Home) -> Any:
    """The state of the repository's thread, as the next session is told it."""
    home = Home(relay.home, repository)
    thread = home.ask("brief")["thread"]
    return thread, home.ask("relay", "state", "get", "--thread", thread), home


@pytest.mark.slow
def test_a_program_is_handed_its_brief_and_leaves_a_summary(
    start: Started, relay: Home, repository: Path, tmp_path: Path, friend: Callable[..., Friend]
) -> None:
    relay.ok("send", "pat", "please heat the water", "--queue", "--thread", "tea")
    process = start("pat", *TALKER, options=("--task", "boil some water"))
    output = tmp_path / "pat"
    shown = wait_for(
        lambda: (text := output.read_text()).count("came please heat") == 1 and text, "the message"
    )
    opening = shown.index("heard: [relay]: boil some water")
    assert opening < shown.index("from cli came please heat the water")
    for expected in (
        "## Unread messages",
        "cli [thread:tea]: please heat the water",
        "def boil(water)",
    ):
        assert expected in shown
    tester = friend("tester")
    tester.send("pat", "say @tester hello back")
    assert tester.gets("hello back").sender == "pat"
    (repository / "kettle.py").write_text(CODE + "\n\ndef cool(water):\n    return water\n")
    tester.send("pat", "quit")
    assert process.wait(PATIENCE_SECONDS) == 7
    thread, state, home = there(repository, relay)
    [action] = state["last_actions"]
    assert action["description"].startswith("pat ran")
    assert (
        "boil some water (exit status 7, 1 file changed, 1 sent, 3 received)"
        in action["description"]
    )
    summary = home.ok("relay", "artifact", "get", action["result_ref"], "--thread", thread)
    for expected in (
        "- exit status: 7",
        "- kettle.py",
        "- to tester: hello back",
        "from cli [thread:tea]: please heat",
    ):
        assert expected in summary
    assert "dirty.py" not in summary
    events = home.ask("relay", "tail", thread, "--no-follow")["events"]
    [event] = [one for one in events if one["type"] == "session.ended"]
    assert event["payload"]["artifact_ref"] == action["result_ref"]
    assert "done: " in home.ask("brief")["text"]
    assert "pat ran" in home.ask("brief")["text"]


def test_files_that_were_committed_are_told_and_the_exit_status_stays(
    start: Started, relay: Home, repository: Path, friend: Callable[..., Friend]
) -> None:
    tester = friend("tester")
    process = start("wes", sys.executable, "-c", WRITER, options=("--no-brief", "--trust-screen"))
    assert process.wait(PATIENCE_SECONDS) == 3
    assert tester.gets("I am done").sender == "wes"
    thread, state, home = there(repository, relay)
    summary = home.ok(
        "relay", "artifact", "get", state["last_actions"][0]["result_ref"], "--thread", thread
    )
    assert "- kept.py\n- made.py\n" in summary


@pytest.mark.slow
def test_sessions_of_a_thread_that_is_named_go_there(
    start: Started, relay: Home, repository: Path
) -> None:
    thread = relay.ok("relay", "thread", "new", "--name", "named").strip()
    shell = '"$PYTHON" -m tersely brief --json > told'
    process = start(
        "xan",
        "bash",
        "-c",
        shell,
        options=("--thread", thread, "--no-brief"),
        PYTHON=sys.executable,
    )
    assert process.wait(PATIENCE_SECONDS) == 0
    told = json.loads((repository / "told").read_text())["result"]
    assert (told["thread"], told["agent"]) == (thread, "xan")
    assert "xan ran bash" in relay.ok("relay", "state", "get", "--thread", thread)
    assert start("yan", "true", options=("--thread", "nowhere")).wait(PATIENCE_SECONDS) != 0


def test_the_program_runs_on_without_its_relay(
    start: Started, relay: Home, repository: Path, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other", repository)
    other.up()
    go = tmp_path / "go"
    waiter = (
        f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.02)\n"
        "print('over')"
    )
    process = start(
        "zoe", sys.executable, "-c", waiter, TERSELY_HOME=str(other.home), options=("--no-brief",)
    )
    wait_for(lambda: [one for one in other.ask("agents")["agents"] if one["connected"]], "zoe")
    other.ok("down")
    go.touch()
    assert process.wait(PATIENCE_SECONDS) == 0
    shown = (tmp_path / "zoe").read_text()
    assert "over" in shown
    assert "note: the summary of this session is not kept: daemon_not_running" in shown


def test_the_thread_remembers_so_many_actions(relay: Home) -> None:
    from tersely.client import Client, ask
    from tersely.relay.threads.sessions import MAX_LAST_ACTIONS

    thread = relay.ok("relay", "thread", "new").strip()
    with Client.local("ann", relay.home) as client:
        for number in range(MAX_LAST_ACTIONS + 3):
            told = client(
                ask(
                    "session_end",
                    thread=thread,
                    program="cat",
                    description=f"session {number}",
                    summary=f"# {number}\n",
                    key=f"k{number}",
                )
            )
        again = client(
            ask(
                "session_end",
                thread=thread,
                program="cat",
                description=f"session {number}",
                summary=f"# {number}\n",
                key=f"k{number}",
            )
        )
        actions = client.ask("state.get", thread=thread).last_actions
    assert again == told
    assert [one["description"] for one in actions] == [
        f"session {number}" for number in range(3, MAX_LAST_ACTIONS + 3)
    ]
