"""`python -m bench.history_tasks`: tasks from a history, agents that do them or do not, and nothing left
behind.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from bench.history_tasks.__main__ import main
from bench.history_tasks.trees import Trees
from bench.modelserver.scripts import Reply
from tests.agent.core.talking import call
from tests.agent.model_servers import Scripted, model_server, scripted
from tests.bench.history_tasks.conftest import DISCOUNTED, ROUNDED, git

__all__ = ["model_server", "scripted"]

PYTHON = shlex.quote(sys.executable)
TEST = f"for one in {{tests}}; do PYTHONPATH=. {PYTHON} $one || exit 1; done"
KNOWS_ALL = f"""import pathlib, sys
text = {DISCOUNTED!r} if "Discount" in sys.argv[-1] else {ROUNDED!r}
pathlib.Path("shop/prices.py").write_text(text)
print('{{"type": "result", "usage": {{"input_tokens": 7, "output_tokens": 2}}, "num_turns": 1}}')
"""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders of tasks are made."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "home"))
    return place


def agent(tmp_path: Path, name: str, program: str) -> str:
    """The command of an agent that is a program in Python."""
    place = tmp_path / name
    place.write_text(program)
    return f"{PYTHON} {shlex.quote(str(place))}"


def measured(
    root: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str]
) -> dict[str, Any]:
    assert main([str(root), "--test", TEST, "--json", *words]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def outcomes(result: dict[str, Any]) -> list[str]:
    return [one["outcome"] for one in result["results"]]


@pytest.mark.slow
def test_tasks_are_cut_done_and_counted(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted((str(path), path.stat().st_mtime_ns) for path in shop.rglob("*"))
    knowing, idle = agent(tmp_path, "knows.py", KNOWS_ALL), agent(tmp_path, "idle.py", "")
    drawn = tmp_path / "results.svg"
    result = measured(shop, capsys, ["--agent", knowing, "--agent", idle, "--picture", str(drawn)])
    assert [task["title"] for task in result["tasks"]] == [
        "Discount items by half their price",
        "Round the price of an item to cents",
    ]
    assert {one["why"]: one["commits"] for one in result["skipped"]} == {
        "their tests fail after the change": 1,
        "their tests pass before the change": 1,
    }
    assert outcomes(result) == ["solved", "tests fail"] * 2
    first, second = result["agents"]
    assert (first["solved"], first["success"]["figure"], first["tokens"]["figure"]) == (2, 1.0, 9)
    assert (second["solved"], second["success"]["figure"], second["tokens"]) == (0, 0.0, None)
    assert result["compared"][0]["first_alone"] == 2
    assert sorted((str(path), path.stat().st_mtime_ns) for path in shop.rglob("*")) == before
    assert ET.parse(drawn).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_nothing_is_left_behind(
    shop: Path, tmp_path: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(shop, capsys, ["--agent", agent(tmp_path, "idle.py", "")])
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_what_is_made_of_the_tests_does_not_count(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cheat = "import pathlib\nfor one in pathlib.Path('tests').iterdir():\n    one.write_text('')\n"
    assert (
        outcomes(measured(shop, capsys, ["--agent", agent(tmp_path, "cheat.py", cheat)]))
        == ["tests fail"] * 2
    )


@pytest.mark.slow
def test_the_folder_of_a_task_tells_nothing_of_what_comes(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = tmp_path / "seen"
    asks = (
        "import pathlib, subprocess, sys\n"
        "said = subprocess.run(['git', 'log', '--all', '--format=%s'], capture_output=True, text=True).stdout\n"
        f"pathlib.Path({str(seen)!r}).open('a').write(repr([said, sys.argv[1]]) + '\\n')\n"
    )
    measured(shop, capsys, ["--agent", agent(tmp_path, "asks.py", asks), "--tasks", "1"])
    log, prompt = eval(seen.read_text())
    assert log == "base\n"
    assert prompt.startswith("Discount items by half their price\n")
    assert "tests/test_discount.py" in prompt


@pytest.mark.slow
def test_an_agent_that_takes_too_long_is_ended(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = agent(tmp_path, "slow.py", "import time\ntime.sleep(600)\n")
    result = measured(shop, capsys, ["--agent", slow, "--tasks", "1", "--task-seconds", "1"])
    assert outcomes(result) == ["time is up"]


@pytest.mark.slow
def test_a_failing_agent_says_how(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = agent(tmp_path, "fails.py", "raise SystemExit('no key')\n")
    (result,) = measured(shop, capsys, ["--agent", fails, "--tasks", "1"])["results"]
    assert (result["outcome"], result["detail"]) == ("agent failed", "exit status 1: no key")


def test_a_history_without_tasks_is_an_error(shop: Path, tmp_path: Path) -> None:
    git(shop, "reset", "-q", "--hard", "HEAD~5")
    with pytest.raises(SystemExit, match="no task could be cut"):
        main([str(shop), "--test", TEST, "--agent", agent(tmp_path, "idle.py", "")])


@pytest.mark.slow
def test_our_agent_does_tasks_with_its_context_and_without(
    shop: Path, scripted: Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    body = f"--- body\n{DISCOUNTED}"
    server = scripted([
        Reply(call("write", body=body, path="shop/prices.py"), when="is there already"),
        Reply(call("read", path="shop/prices.py"), when="Leave the tests as they are"),
        Reply(call("edit", body=body, path="shop/prices.py"), when="# A shop."),
        Reply("It is done."),
        Reply("It is done."),
        Reply("It is done."),
    ])  # fmt: skip
    result = measured(shop, capsys, ["--tasks", "1", "--url", server.url])
    assert [one["agent"] for one in result["results"]] == ["tersely", "tersely, no context"]
    assert outcomes(result) == ["solved", "solved"]
    with_context, without = (one["spent"]["prompt_tokens"] for one in result["results"])
    assert with_context > without > 0


@pytest.mark.parametrize("setting", ["smudge", "process"])
def test_filters_of_the_repository_are_not_run(shop: Path, tmp_path: Path, setting: str) -> None:
    trace = tmp_path / "trace"
    git(shop, "config", f"filter.a=b.{setting}", f"touch {shlex.quote(str(trace))}; cat")
    git(shop, "config", "filter.a=b.required", "true")
    (shop / ".git/info").mkdir(exist_ok=True)
    (shop / ".git/info/attributes").write_text("*.py filter=a=b\n")
    Trees(shop, tmp_path).write(tmp_path / "folder", "HEAD")
    assert (tmp_path / "folder/shop/prices.py").read_text()
    assert not trace.exists()


def test_hooks_of_the_repository_are_not_run(shop: Path, tmp_path: Path) -> None:
    hook, trace = shop / ".git/hooks/post-index-change", tmp_path / "trace"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(trace))}\n")
    hook.chmod(0o755)
    git(shop, "config", "core.splitIndex", "true")
    before = sorted(path.name for path in (shop / ".git").iterdir())
    Trees(shop, tmp_path).write(tmp_path / "folder", "HEAD")
    assert (tmp_path / "folder/shop/prices.py").exists()
    assert not trace.exists()
    assert sorted(path.name for path in (shop / ".git").iterdir()) == before
