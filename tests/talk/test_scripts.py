"""The scripts run from a checkout in which nothing is installed, and docs/talk.md says what they do."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.talk.talking import free_port

from tersely.foundation.errors import EXIT_OK
from tersely.talk.commands import COMMANDS
from tersely.talk.failures import EXIT_OF_CODE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "talk.md").read_text("utf-8")
SESSIONS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# The order in which the two terminals of the page can have been typed into.
ORDER = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (0, 2)]


@pytest.fixture
def bare(tmp_path: Path, home: Path) -> Path:
    """A checkout of what the scripts need."""
    shutil.copytree(ROOT / "scripts", tmp_path / "checkout" / "scripts")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("talk", "foundation"):
        source = ROOT / "src" / "tersely" / name
        shutil.copytree(source, tmp_path / "checkout" / "src" / "tersely" / name, ignore=ignored)
    shutil.copy(ROOT / "src" / "tersely" / "__init__.py", tmp_path / "checkout" / "src" / "tersely")
    return tmp_path / "checkout"


def run(checkout: Path, script: str, *words: str, runner: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a script by a Python that sees no packages."""
    command = [*(runner or (sys.executable, "-I", "-S")), f"scripts/{script}", *words]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60, check=False)


def typed(session: str) -> list[tuple[list[str], dict[str, Any]]]:
    """(words after `uv run`, what is shown) of each command of a session."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]]
    return [(shlex.split(command)[2:], json.loads(shown)) for command, _, shown in parts]


def test_the_session_of_the_page_goes_as_it_stands_there(bare: Path) -> None:
    terminals = [typed(session) for session in SESSIONS]
    assert [len(commands) for commands in terminals] == [3, 3]
    ports = {"9001": str(free_port()), "9002": str(free_port())}  # those of the page may be somebody's
    for terminal, number in ORDER:
        words, shown = terminals[terminal][number]
        script, *rest = [ports.get(word, word) for word in words]
        done = run(bare, script.removeprefix("scripts/"), *rest)
        assert done.returncode == EXIT_OK, done.stdout + done.stderr
        assert done.stderr == ""
        assert shows(json.loads(done.stdout), shown, ports), done.stdout


def shows(said: Any, shown: Any, ports: dict[str, str]) -> bool:
    """Whether an answer has all that is shown of it; ports and processes are others."""
    if isinstance(shown, dict):
        return all(name == "pid" or shows(said[name], value, ports) for name, value in shown.items())
    if isinstance(shown, list):
        return len(said) == len(shown) and all(shows(one, other, ports) for one, other in zip(said, shown, strict=True))
    return str(said) == ports.get(str(shown), str(shown))


def test_every_module_needs_the_standard_library_alone() -> None:
    modules = [path.stem for path in (ROOT / "src" / "tersely" / "talk").glob("*.py") if path.stem != "__init__"]
    program = "; ".join(
        [
            "import sys; sys.path.insert(0, sys.argv[1])",
            *(f"import tersely.talk.{name}" for name in modules),
            "print(*{name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'tersely', '__main__'})",
            "print(*(name for name in sys.modules if name.startswith('tersely.')))",
        ]
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(ROOT / "src")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    others, ours = done.stdout.split("\n")[:2]
    assert others.split() == []
    assert {name.split(".")[1] for name in ours.split()} == {"talk", "foundation"}


def test_there_is_a_script_for_every_command(bare: Path) -> None:
    assert {path.stem for path in (bare / "scripts").glob("*.py")} == set(COMMANDS)
    for name in COMMANDS:
        done = run(bare, f"{name}.py", "--help")
        assert done.returncode == EXIT_OK
        assert done.stdout.startswith(f"usage: {name}.py")
        assert os.access(bare / "scripts" / f"{name}.py", os.X_OK)


def test_failures_of_scripts_are_json_with_a_status(bare: Path) -> None:
    done = run(bare, "send.py", "--to-port", "80", "--from-port", "9001", "--message", "x")
    assert (done.returncode, json.loads(done.stdout)["error_code"], done.stderr) == (2, "INVALID_PORT", "")


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
def test_uv_runs_the_scripts(bare: Path) -> None:
    done = run(bare, "discover.py", runner=("uv", "run", "--offline", "--python", sys.executable))
    assert (json.loads(done.stdout), done.returncode) == ({"listeners": []}, EXIT_OK)


def test_the_tables_of_the_page_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \| (\d) \|", PAGE, re.MULTILINE)
    listed = {code: int(status) for codes, status in rows for code in re.findall(r"[A-Z_]+", codes)}
    assert listed == EXIT_OF_CODE
    assert {row.split()[0] for row in re.findall(r"^\| `([a-z-]+[^`]*)` \|", PAGE, re.MULTILINE)} == set(COMMANDS)


def test_the_frame_of_the_page_is_an_envelope() -> None:
    from tersely.talk.frames import FrameReader
    from tersely.talk.messages import message_of

    (text,) = re.findall(r"^```\n(0\d+:.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    (frame,) = FrameReader().feed(text.encode())
    message = message_of(frame)
    assert (message.body, message.thread, message.sender_port) == (b"Hello", "tea", 9001)
