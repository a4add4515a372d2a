"""What a program says while its relay is away is sent later or reported, and what is not run leaves
nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.relay_home import Home, home_of
from tests.wrap.conftest import PATIENCE_SECONDS, wait_for
from tests.wrap.screens import needs_tmux

from tersely.client.outbox import MAX_DAMAGED_FILES, MAX_UNSENT_MESSAGES, Outbox
from tersely.wrap.inline.commands import OutgoingMessage, read_message
from tersely.wrap.wanted import warning

pytestmark = needs_tmux

SPEAKER = """
import pathlib, sys, time
go, end = map(pathlib.Path, sys.argv[1:])
while not go.exists(): time.sleep(0.02)
for number in range(3):
    print(f"->relay:cli message {number}", flush=True)
while not end.exists(): time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("relay")
    with home_of(folder / "home", folder) as made:
        made.up()
        made.ok("send", "tess", "hello", "--queue")
        yield made


@pytest.fixture
def home(shared: Home) -> Home:
    """A relay that a test may stop: it runs when the next one begins."""
    shared.up()
    return shared


@pytest.fixture
def start(home: Home, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def starting(*words: str) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "tersely",
            "run",
            "--no-start",
            "--no-brief",
            "--trust-screen",
            *words,
        ]
        running.append(
            subprocess.Popen(
                command, cwd=tmp_path, env={**os.environ, **home.environment}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
        return running[-1]

    yield starting
    for one in running:
        one.kill()
        one.communicate()


def heard(home: Home, name: str) -> list[str]:
    """What somebody has sent."""
    messages = home.ask("inbox", "cli")["messages"]
    return [one["body"] for one in messages if one["sender"] == name]


def names_of_agents(home: Home) -> list[str]:
    return sorted(one["name"] for one in home.ask("agents")["agents"])


def is_there(home: Home, name: str) -> bool:
    return any(one["name"] == name and one["connected"] for one in home.ask("agents")["agents"])


def unsent(home: Home, name: str) -> list[str]:
    return [one.message.body for one in Outbox(home.home, name, read_message)]


def test_it_is_sent_when_the_relay_is_back(
    home: Home, start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    go, end = tmp_path / "go", tmp_path / "end"
    process = start("--name", "ann", "--", sys.executable, "-c", SPEAKER, str(go), str(end))
    wait_for(lambda: is_there(home, "ann"), "ann")
    assert "ann go on and connect again when a relay runs" in home.ok("down")
    go.touch()
    wait_for(lambda: len(unsent(home, "ann")) == 3, "the messages on the disk")
    home.up()
    wait_for(lambda: heard(home, "ann") == ["message 0", "message 1", "message 2"], "the messages")
    wait_for(lambda: not unsent(home, "ann"), "the empty outbox")
    end.touch()
    assert process.wait(PATIENCE_SECONDS) == 0


def test_it_is_reported_and_sent_by_the_next_run(
    home: Home, start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    go, end = tmp_path / "go", tmp_path / "end"
    process = start("--name", "ben", "--", sys.executable, "-c", SPEAKER, str(go), str(end))
    wait_for(lambda: is_there(home, "ben"), "ben")
    home.ok("down")
    go.touch()
    end.touch()
    assert process.wait(PATIENCE_SECONDS) == 0
    assert process.stderr is not None
    assert (
        "3 of its messages not sent yet; the next `tersely run --name ben` sends them"
        in process.stderr.read()
    )
    home.up()
    assert start("--name", "ben", "--", "true").wait(PATIENCE_SECONDS) == 0
    assert heard(home, "ben") == ["message 0", "message 1", "message 2"]
    assert unsent(home, "ben") == []


def test_what_the_relay_refuses_is_reported(
    home: Home, start: Callable[..., subprocess.Popen[str]]
) -> None:
    said = "print('->relay:nobody hello', flush=True)"
    process = start("--name", "cat", "--", sys.executable, "-c", said)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert "note: [relay error] no agent is called 'nobody'" in errors
    assert unsent(home, "cat") == []


def test_a_program_that_is_not_there_leaves_no_name(
    home: Home, start: Callable[..., subprocess.Popen[str]]
) -> None:
    before = names_of_agents(home)
    process = start("--", "nosuchprogram")
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode != 0
    assert "there is no program 'nosuchprogram'" in errors
    assert names_of_agents(home) == before


@pytest.mark.slow
def test_an_agent_that_runs_no_hook_is_said(
    home: Home, start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    _, errors = start("--", str(program)).communicate(timeout=PATIENCE_SECONDS)
    assert (
        "note: no hook of codex has called: it may not trust them yet, see /hooks there" in errors
    )
    _, errors = start("--", "true").communicate(timeout=PATIENCE_SECONDS)
    assert "hook" not in errors


@pytest.mark.parametrize(
    ("words", "warns"),
    [("nice -n 5 env -i sh -i", True), ("env A=1 sh -c exit", False)],
)
def test_a_bare_shell_is_warned_of(
    start: Callable[..., subprocess.Popen[str]], words: str, warns: bool
) -> None:
    process = start("--", *words.split())
    assert process.stderr is not None
    assert ("warning: sh executes what is typed in" in process.stderr.readline()) == warns


@pytest.mark.parametrize(
    ("words", "shell"),
    [
        ("sh", "sh"),
        ("sh -i", "sh"),
        ("sh -c exit", ""),
        ("env A=1 sh", "sh"),
        ("nice -n 5 true", ""),
        ("bash --norc", "bash"),
        ("bash -lc true", ""),
        ("sudo -u ann -i", "sudo"),
        ("sudo -u ann fish", "fish"),
        ("sudo apt update", ""),
        ("ssh host", "ssh"),
        ("ssh -p 22 host", "ssh"),
        ("ssh host sh -c true", ""),
        ("docker exec -it box zsh", "zsh"),
        ("docker run box", ""),
        ("claude --shell bash", ""),
    ],
)
def test_a_shell_behind_others_is_found(words: str, shell: str) -> None:
    assert warning(words.split()).partition(" ")[0] == shell


def test_damaged_messages_are_kept_aside_and_said(
    home: Home, start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    outbox = Outbox(home.home, "dot", read_message)
    for number in range(MAX_DAMAGED_FILES + 5):
        outbox.put(OutgoingMessage("cli", f"message {number}")).path.write_text("{")
    process = start("--name", "dot", "--", "true")
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors.count("a message that an earlier run left cannot be read: ") == MAX_DAMAGED_FILES
    names = sorted(path.name for path in home.home.glob("unsent/*/*"))
    assert names == [f"{number:09}.damaged" for number in range(6, MAX_DAMAGED_FILES + 6)]


@pytest.mark.slow
def test_an_outbox_keeps_order_and_has_a_bound(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, "ann", read_message)
    kept = [outbox.put(OutgoingMessage("ben", f"message {number}")) for number in range(20)]
    outbox.remove(kept[3])
    kept[5].path.write_text("{")
    again = Outbox(tmp_path, "ann", read_message)
    assert [one.id for one in again] == [one.id for one in kept if one not in (kept[3], kept[5])]
    assert next(one.message for one in again) == OutgoingMessage("ben", "message 0")
    [kept_aside] = again.damaged
    assert kept_aside.read_text() == "{"
    assert len(Outbox(tmp_path, "ben", read_message)) == 0
    for number in range(MAX_UNSENT_MESSAGES - len(again)):
        again.put(OutgoingMessage("ben", f"more {number}"))
    with pytest.raises(Exception, match="wait for the relay"):
        again.put(OutgoingMessage("ben", "too much"))
