"""The program as a user starts it, in a terminal of tmux, with a real server whose model follows a
script.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.model_servers import Scripted, scripted
from tests.own_tmux import Terminal
from tests.wrap.conftest import wait_for

__all__ = ["scripted"]

SOURCE = "def boil(water):\n    return water\n"
SCRIPT = [
    "I look at it.\n<call read>\npath: kettle.py\n</call>",
    "It **boils** water.",
    "<call edit>\npath: kettle.py\nstart: 2\nend: 2\n--- body\n    return hot(water)\n</call>",
    "Now it is hot.",
]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    one = Terminal(tmp_path)
    yield one
    one.tmux("kill-server")


def test_a_conversation_from_beginning_to_end(
    scripted: Scripted, terminal: Terminal, tmp_path: Path
) -> None:
    server, file = scripted(SCRIPT), tmp_path / "tea" / "kettle.py"
    file.parent.mkdir()
    file.write_text(SOURCE)
    command = shlex.join([sys.executable, "-m", "tersely", "chat", "--url", server.url])
    terminal.start(f"{command}; echo the status was $?; cat", file.parent)
    terminal.shows("Tier 0")
    terminal.shows("Ask about this repository")

    terminal.keys("what does boil do?", "Enter")
    answered = terminal.shows("It boils water.")
    assert "✓ read kettle.py" in answered

    terminal.keys("edit boil so that water is hot", "Enter")
    assert "+    return hot(water)" in terminal.shows("Allow edit? kettle.py")
    assert file.read_text() == SOURCE
    wait_for(lambda: "takes keys after" not in terminal.text())
    terminal.keys("y")
    terminal.shows("Now it is hot.")
    terminal.shows("│ T1 │")
    assert file.read_text() == SOURCE.replace("return water", "return hot(water)")

    terminal.keys("/undo", "Enter")
    terminal.shows("is as before the last change")
    assert file.read_text() == SOURCE

    terminal.tmux("resize-window", "-t", "one", "-x", "60", "-y", "20")
    wait_for(
        lambda: len(terminal.text().splitlines()) == 20 and "Now it is hot." in terminal.text()
    )
    terminal.keys("C-c")  # nothing is running: the program stays
    terminal.shows("Nothing is running")
    terminal.keys("C-q")
    terminal.shows("the status was 0")


def test_without_a_server_it_says_what_to_start_until_one_runs(
    scripted: Scripted, terminal: Terminal, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = shlex.join(
        [sys.executable, "-m", "tersely", "chat", "--url", f"http://127.0.0.1:{port}"]
    )
    folder = tmp_path / "tea"
    folder.mkdir()
    terminal.start(f"{command}; echo the status was $?; cat", folder)
    assert "llama-server" in terminal.shows("no server of models listens")
    scripted(["Here I am."], port=port)
    terminal.shows("Ask about this repository")
    terminal.keys("are you there?", "Enter")
    terminal.shows("Here I am.")
    terminal.keys("C-q")
    terminal.shows("the status was 0")
