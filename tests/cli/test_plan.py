"""A plan: the likeliest source of a task whole, what it leads to, the names of the rest, and then
enough.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.invoke import ask
from tersely.capabilities.packs.plan import DEFAULT_PLAN_TOKENS
from tersely.cli.main import main
from tersely.code.graph.callgraph import CallGraph
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import count
from tersely.workspace import Workspace

# lines, of which the largest share of the default budget does not pay for all
LONG_LINES = DEFAULT_PLAN_TOKENS // 8
LONG = "\n".join(f"    value_{number} = compute_{number}()" for number in range(LONG_LINES))
FILES = {
    "net/retry.py": '''"""Trying again."""

from net.clock import wait_before


class Retry:
    """How often a request is tried."""

    def next_delay(self, attempt):
        """Seconds until the next attempt."""
        return wait_before(attempt) * 2

    def is_exhausted(self, attempt):
        return attempt > 5
''',
    "net/clock.py": """def wait_before(attempt):
    return 0.1 * attempt
""",
    "net/pool.py": f'''def drain_connections(pool):
    """Close what is idle."""
{LONG}
    zebra = pool.idle_sockets()
    return zebra
''',
    "net/other.py": "".join(
        f"def helper_{number}(x):\n    return x + {number}\n\n\n" for number in range(40)
    ),
}


def put_files(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return put_files(tmp_path)


@pytest.fixture(scope="module")
def net_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put_files(tmp_path_factory.mktemp("net"))


def plan(root: Path, task: str, **arguments: Any) -> Any:
    with Workspace.open(root) as workspace:
        return ask(workspace, "code.plan", task=(task,), **arguments)


def test_the_likeliest_symbol_is_shown_whole(net: Path) -> None:
    found = plan(net, "`Retry.next_delay` waits too long")
    assert found.weighed[0].id == "net/retry.py:Retry.next_delay"
    assert "return wait_before(attempt) * 2" in found.text


def test_what_is_around_the_likeliest_symbol_comes_in_a_line_each(net: Path) -> None:
    found = plan(net, "`Retry.next_delay` is wrong")
    assert "wait_before(attempt):" in found.text
    assert "Retry.next_delay" in plan(net, "`wait_before` in net/clock.py is wrong").text


def test_nobody_asks_who_calls_where_the_budget_is_full(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(CallGraph, "callers", lambda graph, name, **_: asked.append(name) or [])
    helpers = " ".join(f"`helper_{number}`" for number in range(40))
    plan(net, f"{helpers} are wrong", budget=150)
    assert not asked
    plan(net, "`wait_before` in net/clock.py is wrong")
    assert "net/clock.py:wait_before" in asked


def test_a_long_function_comes_as_the_windows_that_matter(net: Path) -> None:
    found = plan(net, "`drain_connections` leaks zebra sockets")
    assert "zebra = pool.idle_sockets()" in found.text
    assert f"value_{LONG_LINES // 2} = " not in found.text


def test_a_larger_budget_pays_for_all_of_a_long_function(net: Path) -> None:
    found = plan(net, "`drain_connections` leaks zebra sockets", budget=3 * DEFAULT_PLAN_TOKENS)
    assert all(line.strip() in found.text for line in LONG.split("\n"))


def test_a_budget_is_used_only_where_that_is_asked_for(net: Path) -> None:
    enough = plan(net, "`Retry.next_delay` waits too long", budget=900)
    filled = plan(net, "`Retry.next_delay` waits too long", budget=900, fill=True)
    assert enough.used < filled.used <= 900


@settings(max_examples=examples(), deadline=None)
@given(budget=st.integers(20, 3_000), fill=st.booleans())
def test_a_plan_never_exceeds_its_budget(net_once: Path, budget: int, *, fill: bool) -> None:
    try:
        found = plan(
            net_once, "Retry waits too long and drain_connections leaks", budget=budget, fill=fill
        )
    except TerselyError as error:
        assert error.code == "budget_too_small"
    else:
        assert found.used == count(found.text) <= budget


def test_a_change_that_the_task_speaks_of_comes_first(net: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *identity, *words], cwd=net, check=True, capture_output=True)
    (net / "net/clock.py").write_text("def wait_before(attempt):\n    return 0.2 * attempt\n")
    found = plan(net, "wait_before waits too long")
    assert found.items[0].id == "net/clock.py:wait_before"
    assert "0.2" in found.text


def test_a_task_of_any_length_is_read(net: Path) -> None:
    assert plan(net, "Retry.next_delay waits too long\n" + "It does so. " * 2_000).items


def test_equal_questions_have_equal_plans(net: Path) -> None:
    assert plan(net, "retry waits").text == plan(net, "retry waits").text


def test_a_plan_needs_a_task(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--root", str(net)]) == 2
    assert "TASK is missing" in capsys.readouterr().err
