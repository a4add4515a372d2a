"""What docs/relay.md says is so: its walk-through runs, its table is the program's, its example is
a capability.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.relay_home import home_of

from tersely.foundation.text.tokens import Tokenizer
from tersely.relay import policy
from tersely.relay.relay import PLUGINS, Relay
from tersely.relay.services.calls import Call
from tersely.relay.threads.state import LISTS
from tersely.relay.threads.threads import create
from tools import build_http_page

PAGE = (Path(__file__).parents[2] / "docs" / "relay.md").read_text("utf-8")
(COMMANDS,) = re.findall(
    r"## What you type and see\n\n```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)
CLIENT, PLUGIN = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_walk_through_runs(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "kettle.py").write_text("def boil():\n    pass\n")
    lines = [line.removeprefix("$ ") for line in COMMANDS.splitlines()]
    assert all(line.startswith("$ ") for line in COMMANDS.splitlines())
    lines[0] += " --port 0"  # the port of the page may be somebody's
    client = f"{sys.executable} - <<'END'\n{CLIENT}END"
    script = "\n".join(
        [f'tersely() {{ {sys.executable} -m tersely "$@"; }}', *lines[:-1], client, lines[-1]]
    )
    with home_of(tmp_path / "home", root) as home:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], cwd=root, env={**os.environ, **home.environment},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for expected in (
        "The kettle is too hot.",
        '"top_facts"',
        "def boil()",
        "thread.created",
        "| naive |",
        "stopped",
    ):
        assert expected in done.stdout


def test_the_page_of_http_is_that_of_the_program() -> None:
    assert build_http_page.PAGE.read_text("utf-8") == build_http_page.page(), (
        "python -m tools.build_http_page writes it anew"
    )


def test_the_tables_of_state_and_policy_are_those_of_the_program() -> None:
    for name, members in LISTS.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.*) \|", PAGE, re.MULTILINE)
        assert all(f"`{member}`" in row for member in members)
    told = policy.Policy().told()
    for name in set(told) - {"allow", "deny"}:
        default = list(told[name]) if isinstance(told[name], tuple) else told[name]
        assert re.search(rf"^\| `{name}` \| {re.escape(str(default))} \|", PAGE, re.MULTILINE)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of installed packages with the example in it, and one package that is broken."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "count_lines.py").write_text(PLUGIN)
    (packages / "broken_one.py").write_text("raise RuntimeError('broken')\n")
    for name, target in (("count_lines", "count_lines:offer"), ("broken_one", "broken_one:offer")):
        told = packages / f"{name}-1.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (told / "entry_points.txt").write_text(f"[{PLUGINS}]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(packages))
    return packages


def test_an_installed_capability_is_offered_and_a_broken_one_harms_no_other(
    installed: Path, tmp_path: Path
) -> None:
    with Relay.open(tmp_path / "home", Tokenizer().count, durable=False) as relay:
        relay.load_plugins()
        (complaint,) = relay.complaints
        assert "broken_one" in complaint
        assert "RuntimeError: broken" in complaint
        thread = create(relay.store, "", "ann").thread_id
        call = Call(thread, "text.count_lines", {"text": "a\nb\n"}, "ann")
        answers = [relay.calls.invoke(call) for _ in range(2)]
        assert [(one.text, one.is_hit) for one in answers] == [
            ("2 lines\n", False),
            ("2 lines\n", True),
        ]
