"""What docs/let-agents-talk.md says is so: its five commands run in two terminals, its lines are
answered as shown.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.relay_home import Home, home_of
from tests.repositories import initialized
from tests.wrap.conftest import PATIENCE_SECONDS, wait_for
from tests.wrap.screens import needs_tmux

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "let-agents-talk.md").read_text("utf-8")
PROGRAMS = Path(__file__).parent / "programs"
# (what it is, text)
FENCED = re.findall(r"^```([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = [(about.removeprefix("ts "), text) for about, text in FENCED if about.startswith("ts ")]
FIRST, SECOND, *_ = [text for about, text in FENCED if about == "console"]
BLOCKS = [text for about, text in FENCED if not about]
SEED_LINES = next(
    block for block in BLOCKS if "semantic" in block and "impact" in block
).splitlines()
CHANGING = re.compile(
    r"\d{4}-\d\d-\d\dT\S+Z|\b\d\d:\d\d\b|\b[0-9a-f]{8}-\d+\b|http://\S+|process \d+|\(\d+%\)|(?<=relay-)[0-9a-f]{8}"
)


def steps(session: str) -> list[tuple[list[str], str]]:
    """The words of each command of a session, and what it prints."""
    parts = re.split(r"^\$ tersely ", session, flags=re.MULTILINE)[1:]
    return [
        (shlex.split(command), shown)
        for command, _, shown in (part.partition("\n") for part in parts)
    ]


def same(printed: str) -> str:
    """A text without what is another every time."""
    lines = CHANGING.sub("…", printed).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


class Terminals:
    """A relay in a repository with the page's files, and the agent in its terminal."""

    def __init__(self, home: Home, output: Path) -> None:
        self.home = home
        self.output = output

    def shown(self) -> str:
        """What stands in the first terminal."""
        return self.output.read_text()


@pytest.fixture(scope="module")
def terminals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminals]:
    root, output = (
        tmp_path_factory.mktemp("root") / "shop",
        tmp_path_factory.mktemp("out") / "terminal",
    )
    for path, content in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    initialized(root)
    with home_of(tmp_path_factory.mktemp("home") / "relay", root) as home:
        # which tests are kept from doing by themselves
        assert home.run_apart("daemon", "start").status == 0
        (up, told), (run, _) = steps(FIRST)
        # the port of the page may be somebody's
        assert same(home.ok(*up, "--port", "0")) == same(told)
        search = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, **home.environment, "PATH": search}
        with output.open("w") as terminal:
            agent = subprocess.Popen(
                [sys.executable, "-m", "tersely", *run], cwd=root, env=environment, stdin=subprocess.DEVNULL,
                stdout=terminal, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            made = Terminals(home, output)
            wait_for(lambda: "heard: [relay]: " in made.shown(), "the brief")
            wait_for(lambda: made.shown().endswith("❯ "), "the end of its work")
            wait_for(lambda: "  idle  " in home.ok("agents"), "its state")
            yield made
        finally:
            agent.terminate()
            agent.wait(PATIENCE_SECONDS)
            home.run_apart("daemon", "stop")


@needs_tmux
def test_five_commands_in_two_terminals(terminals: Terminals) -> None:
    commands = [words for session in (FIRST, SECOND) for words, _ in steps(session)]
    assert [words[0] for words in commands] == ["up", "run", "agents", "send", "inbox"]
    home = terminals.home
    (agents, known), (send, sent), (inbox, came) = steps(SECOND)
    assert same(home.ok(*agents)) == same(known)
    assert same(home.ok(*send)) == same(sent)
    shown_first: list[str] = []  # the second time, it has been seen

    def has_come() -> bool:
        shown_first[:] = [home.ok(*inbox)]
        return " ann " in shown_first[0]

    wait_for(has_come, "the answer")
    assert same(shown_first[0]) == same(came)
    assert "ann (seen)" in home.ok(*inbox)
    shown = same(terminals.shown())
    for block in BLOCKS:
        if "processPayment?" in block or ":you checkout" in block:
            assert [line for line in same(block).splitlines() if line not in shown] == []
    home.ok("send", "shop:ann", "as one of the shop", "--agent", "you")
    wait_for(
        lambda: "as one of the shop" in terminals.shown(), "what was sent to the project's agent"
    )
    assert "no agent is called" in home.run("send", "elsewhere:ann", "as one of another").err
    assert "you (injected)" in home.ok("inbox", "ann")
    assert (
        "export function validateToken" in terminals.shown().partition("Relay message from")[0]
    )  # the outline of the brief


def test_the_readme_shows_the_same_session() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    begins_at = SECOND.index("$ tersely send")
    assert f"```text\n{SECOND[begins_at:]}```" in readme


@needs_tmux
def test_the_lines_that_the_service_was_designed_by_are_answered(terminals: Terminals) -> None:
    assert [line.split()[1] for line in SEED_LINES] == ["semantic", "context", "impact", "calls"]
    for number, line in enumerate(SEED_LINES, 1):
        terminals.home.ok(
            "send",
            "ann",
            f"write {line.replace('->relay-4f2a9c01:', '(relay)')}",
            "--agent",
            f"tester{number}",
        )
        method, expected = line.split()[1], "checkout"
        heard = re.compile(rf"heard: \[tldr {method}\]: .*{expected}")
        wait_for(lambda heard=heard: heard.search(terminals.shown()), line)
    shown = terminals.shown()
    assert "tldr error" not in shown
    (answer,) = [block for block in BLOCKS if block.startswith("[tldr semantic]")]
    for line in answer.splitlines():
        assert same(line.removeprefix("| ")) in same(shown), line


@pytest.mark.slow
@needs_tmux
def test_what_goes_wrong_is_said_as_shown(terminals: Terminals) -> None:
    line = "write (relay)tldr calls processPayment --depth many"
    terminals.home.ok("send", "ann", line, "--agent", "tester")
    (told,) = [block.strip() for block in BLOCKS if block.startswith("[tldr error]")]
    wait_for(lambda: told in terminals.shown(), told)
