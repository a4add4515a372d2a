"""The person answers the dialog of an agent from elsewhere, and only the dialog that was shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.relay_home import Home
from tests.own_terminal import IS_TOLD_APART
from tests.wrap.conftest import PROGRAMS, Tmux, sent_lines, wait_for

from tersely.client import Client
from tersely.foundation.process.ancestry import NAME_VARIABLE
from tersely.integrations.wrapped import CODEX, GEMINI, QWEN, Dialog
from tersely.wrap.delivery.dialogs import AskedPermission, asked
from tersely.wrap.delivery.prompts import PromptPattern

TITLE = "  Would you like to run the following command?"
NO_PROMPT = PromptPattern()
CODEX_CHOICES = """\
› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `touch` (p)
  3. No, and tell Codex what to do differently (esc)
  Press enter to confirm or esc to cancel"""
GEMINI_SHOWN = """\
╭──────────────────────────────────────╮
│ ? Shell  touch made-it               │
│ ╭──────────────────────────────────╮ │
│ │ touch made-it                    │ │
│ ╰──────────────────────────────────╯ │
│ Allow execution of [Shell]?          │
│                                      │
│ ● 1. Allow once                      │
│   2. Allow for this session          │
│   3. No, suggest changes (esc)       │
╰──────────────────────────────────────╯"""
QWEN_SHOWN = """\
  > please run it
  ? Shell touch made-it ←
     touch made-it
   Allow execution of: 'touch'?
   › 1. Yes, allow once
     2. Always allow run 'touch *' commands in this project
     3. Always allow run 'touch *' commands for this user
     4. No, suggest changes (esc)
  ⠏ Waiting for user confirmation..."""


CODEX_EDITS = """\
  Would you like to make the following edits?
  Description: Apply proposed file edits
  Destination: /shop/file.txt
› 1. Yes, proceed (y)
  2. Yes, and don't ask again for these files (a)
  3. No, and tell Codex what to do differently (esc)
  Press enter to confirm or esc to cancel"""
CODEX_NETWORK = """\
  Do you want to approve network access to "example.com"?
  Environment: local
› 1. Yes, just this once (y)
  2. Yes, and allow this host for this conversation (a)
  3. Yes, and allow this host in the future (p)
  4. No, and tell Codex what to do differently (esc)
  Press enter to confirm or esc to cancel"""
CODEX_TOOL = """\
  Field 1/1
  Allow the tiny MCP server to run tool "weather"?
  city: Oslo
  › 1. Allow                   Run the tool and continue
    2. Allow for this session  Run the tool and remember this choice for this
                               session
    3. Always allow            Run the tool and remember this choice for
                               future tool calls
    4. Cancel                  Cancel this tool call
  enter to submit | esc to cancel"""
QWEN_EDIT = """\
  ? WriteFile Writing to new.txt ←
   1 ? Shell one
   2 1. two
   Apply this change?
   › 1. Yes, allow once
     2. Yes, allow always
     3. No, suggest changes (esc)
  ⠏ Waiting for user confirmation..."""


def codex(*command: str, above: str = "") -> str:
    wanted = "\n".join(f"  {line}" for line in command)
    return f"{above}{TITLE}\n\n  Reason: May I?\n\n{wanted}\n\n{CODEX_CHOICES}"


def read(dialogs: Sequence[Dialog], shown: str) -> AskedPermission | None:
    return asked(dialogs, NO_PROMPT, shown.split("\n"))


@pytest.mark.parametrize(
    ("dialogs", "shown", "what", "deny"),
    [
        (CODEX.dialogs, codex("$ touch made-it"), "Reason: May I? ⏎ $ touch made-it", b"3"),
        (
            CODEX.dialogs,
            CODEX_EDITS,
            "Description: Apply proposed file edits ⏎ Destination: /shop/file.txt",
            b"3",
        ),
        (CODEX.dialogs, CODEX_NETWORK, "Environment: local", b"4"),
        (CODEX.dialogs, CODEX_TOOL, "city: Oslo", b"4"),
        (GEMINI.dialogs, GEMINI_SHOWN, "touch made-it ⏎ Allow execution of [Shell]?", b"3"),
        (QWEN.dialogs, QWEN_SHOWN, "touch made-it ⏎ Allow execution of: 'touch'?", b"4"),
        (QWEN.dialogs, QWEN_EDIT, "1 ? Shell one ⏎ 2 1. two ⏎ Apply this change?", b"3"),
    ],
)
def test_a_dialog_is_read_with_the_keys_that_it_offers(
    dialogs: Sequence[Dialog], shown: str, what: str, deny: bytes
) -> None:
    found = read(dialogs, shown)
    assert found is not None
    assert (found.what, found.allow, found.deny) == (what, b"1", deny)


ROWS = st.one_of(
    st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20),
    st.sampled_from([*codex("$ ls").split("\n"), *GEMINI_SHOWN.split("\n")]),
)


@given(st.lists(ROWS, max_size=12), st.lists(ROWS, max_size=12))
def test_no_part_of_a_dialog_passes_for_all_of_it(command: list[str], above: list[str]) -> None:
    history = "".join(f"{row}\n" for row in above)
    found = read(CODEX.dialogs, codex(*command, above=history))
    if found is not None:
        assert (found.title, found.allow, found.deny) == (TITLE.strip(), b"1", b"3")
        whole = codex(*command).split("\n")[:-1]
        assert found.rows == tuple(row.rstrip() for row in whole if row.strip())


@pytest.mark.parametrize(
    "shown",
    [
        codex("$ touch made-it", TITLE.strip(), "$ ls"),  # the command has a title of its own
        codex("$ touch made-it", "[… 71 lines] ^a view all"),
        codex(*["$ " + "x" * 300] * 10),
        codex("$ ls") + "\n› Ask Codex to do anything",  # a text with a prompt below
        codex("$ ls") + "\nand\nmore\nthan\nfits",
        codex("$ ls").replace("3. No, and", "3. Yes, and"),
        CODEX_TOOL.replace("Oslo", "Oslo and then..."),
        CODEX_TOOL.replace("Oslo", "Oslo\n  day: 1\n  unit: km"),
        CODEX_TOOL.replace("Oslo", 'Oslo\n  Allow the tiny MCP server to run tool "clock"?'),
        codex("$ ls").replace("  3. No", "  4. No"),
        codex("$ ls").replace("  2. Yes, and", "› 2. Yes, proceed (y)\n  3. Yes, and"),
    ],
)
def test_what_is_not_wholly_understood_is_no_dialog(shown: str) -> None:
    prompt = PromptPattern(re.compile(CODEX.prompt))
    assert asked(CODEX.dialogs, prompt, shown.split("\n")) is None


def waiting(relay: Home, name: str) -> list[Any]:
    with Client.local("tess", relay.home) as client:
        return [one for one in client.ask("agent.list").permissions if one.agent == name]


def question(relay: Home, name: str, text: str) -> Any:
    """The question of an agent that has a text."""
    return wait_for(
        lambda: next((one for one in waiting(relay, name) if text in one.what), None), text
    )


def answer(tmux: Tmux, told: Path, *answers: tuple[str, str]) -> list[str]:
    """What persons are told who answer at once, each at a terminal of their own."""
    outs = [told.with_suffix(f".{number}") for number in range(len(answers))]
    for out, (verb, which) in zip(outs, answers, strict=True):
        words = f"{sys.executable} -m tersely agents {verb} {which} > {out}.part 2>&1; mv {out}.part {out}"
        tmux.ask("new-session", "-d", "-s", out.name.replace(".", "-"), words)
    return [
        wait_for(lambda out=out: out.exists() and out.read_text(), "the answer") for out in outs
    ]


def asked_by_an_agent(relay: Home, *words: str) -> str:
    """What an agent is told that it may not ask."""
    command = [sys.executable, "-m", "tersely", *words]
    environment = {**os.environ, **relay.environment, NAME_VARIABLE: "mallory"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def begun(tmux: Tmux, folder: Path, name: str, shown: str) -> tuple[Path, Path]:
    """Run a program that is called as an agent, and shows what a file says; the file, and its log."""
    program, screen, log = folder / "codex", folder / "screen", folder / "log"
    program.write_text(f"#!{sys.executable}\n" + (PROGRAMS / "asking.py").read_text())
    program.chmod(0o755)
    screen.write_text(shown)
    tmux.run(name, str(program), str(screen), str(log), options=())
    return screen, log


def test_of_two_answers_at_once_one_presses_one_key(
    tmux: Tmux, relay: Home, tmp_path: Path
) -> None:
    _, log = begun(tmux, tmp_path, "una", codex("$ touch \x1b[8mmade-it\u202e"))
    one = question(relay, "una", "made-it")
    assert "not_permitted" in asked_by_an_agent(relay, "agents", "approve", one.id)
    told = answer(tmux, tmp_path / "told", ("approve", one.id), ("deny", one.id))
    assert sum("answered already" in text for text in told) == 1
    assert not any("\u202e" in text for text in told)
    key = "1" if any(text.startswith("allowed") for text in told) else "3"
    wait_for(lambda: sent_lines(log) == [key], "the key")


def test_an_answer_to_another_dialog_presses_nothing(
    tmux: Tmux, relay: Home, tmp_path: Path
) -> None:
    screen, log = begun(tmux, tmp_path, "ute", codex("$ touch one"))
    first = question(relay, "ute", "touch one")
    screen.write_text(codex("$ touch two"))
    second = question(relay, "ute", "touch two")
    wait_for(
        lambda: [one.id for one in waiting(relay, "ute")] == [second.id],
        "the end of the question whose dialog is gone, which the relay may hear a second later",
    )
    [told] = answer(tmux, tmp_path / "told", ("approve", first.id))
    assert "permission_not_found" in told
    tmux.keys("ute", "Down")
    third = wait_for(
        lambda: next((one for one in waiting(relay, "ute") if one.id != second.id), None),
        "a question anew, for the person is at the terminal",
    )
    assert "touch two" in third.what
    screen.write_text("working")
    wait_for(lambda: not waiting(relay, "ute"), "the end of the question")
    assert sent_lines(log) == ["\x1b[B"]


ESCAPE = """
import os, pty, sys
check, out = sys.argv[1:]
waits, orphaned = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(orphaned)
        ours, its = pty.openpty()
        os.set_inheritable(ours, True)  # else the terminal hangs up
        os.login_tty(its)
        os.read(waits, 1)  # until its parent has ended
        os.execve(sys.executable, [sys.executable, "-c", check, out], {})
    os._exit(0)
os.wait()
os.close(orphaned)
import time
time.sleep(3600)
"""
IS_OF_PERSON = """
import os, sys
from tersely.foundation.process.ancestry import is_of_person
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(is_of_person(os.getpid())))
os.replace(sys.argv[1] + ".new", sys.argv[1])
"""


@pytest.mark.skipif(not IS_TOLD_APART, reason="persons cannot be told from agents here")
def test_what_an_agent_cuts_off_from_itself_is_still_the_agents(tmux: Tmux, tmp_path: Path) -> None:
    program = tmp_path / "escape.py"
    program.write_text(ESCAPE)
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    words = [sys.executable, str(program), IS_OF_PERSON]
    tmux.run("eva", *words, str(inside))
    tmux.ask("new-session", "-d", "-s", "outside", *words, str(outside))
    wait_for(inside.exists, "what the inner one is taken for")
    wait_for(outside.exists, "what the outer one is taken for")
    assert (inside.read_text(), outside.read_text()) == ("False", "True")


def test_processes_that_an_agent_has_left_are_waited_for(tmux: Tmux, tmp_path: Path) -> None:
    left = tmp_path / "left"
    leave = f"(setsid sh -c 'echo $$ > {left}.new; mv {left}.new {left}' &); sleep 3600"
    tmux.run("lea", "sh", "-c", leave)
    pid = wait_for(lambda: left.exists() and left.read_text().strip(), "the process")
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), "its end, which nobody else waits for")
