"""Which slow tests are run for a change."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.slow_tests import changed_since, chosen

ROOT = Path(__file__).parents[2]

FILES: Mapping[str, str] = {
    "pyproject.toml": '[[tool.importlinter.contracts]]\nname = "The map"\n'
    'layers = ["cli", "acp | lsp", "pty : handoff", "code | relay"]\n',
    "tests/conftest.py": "",
    "tests/lines.py": "from tersely.code import engine\n",
    "tests/cli/test_a.py": "from tersely.cli.main import main\n",
    "tests/acp/test_a.py": "import tersely.acp.door\n",
    "tests/lsp/test_a.py": "from tersely.lsp import door\n",
    "tests/pty/test_a.py": "from tersely.pty import screen\n",
    "tests/pty/test_words.py": 'PRINTS = "tersely.cli.printing:answer"\n',
    "tests/relay/conftest.py": "from tests import lines\n",
    "tests/relay/test_a.py": "from tersely.relay import store\n",
    "tests/code/test_a.py": "from tests.lines import engine\n",
    "tests/code/test_process.py": 'import sys\n[sys.executable, "-m", "tersely"]\n',
    "bench/timer.py": "from tersely.relay import store\n",
    "tests/code/test_started.py": 'import sys\n[sys.executable, "-m", "bench.timer"]\n',
    "tests/docs/test_a.py": 'PAGE = "README.md"\n',
    "tests/docs/test_every.py": "from tests import pages\n",
    "tests/pages.py": 'PAGES = ROOT.glob("docs/*.md")\n',
    "tests/trees/own.py": "",
    "tests/relay/test_trees.py": 'TREES = ROOT / "tests" / "trees"\n',
    "tests/pty/programs/talker.py": "from tests import lines\n",
    "tests/pty/test_talker.py": 'PROGRAMS / "talker.py"\n',
}
EVERY = {path for path in FILES if "/test_" in path}
PAGES = {path for path in EVERY if path.startswith("tests/docs/")}
ABOVE = {"tests/cli/test_a.py", "tests/pty/test_words.py", "tests/code/test_process.py"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("src/tersely/cli/main.py", ABOVE),
        ("src/tersely/__main__.py", {"tests/code/test_process.py"}),
        ("src/tersely/acp/door.py", {*ABOVE, "tests/acp/test_a.py"}),
        (
            "src/tersely/handoff/brief.py",  # a sibling that pty may import
            {*ABOVE, "tests/acp/test_a.py", "tests/lsp/test_a.py", "tests/pty/test_a.py"},
        ),
        (
            "src/tersely/relay/store.py",
            EVERY
            - PAGES
            - {"tests/code/test_a.py", "tests/pty/test_talker.py", "tests/relay/test_trees.py"},
        ),
        # by helpers as well
        (
            "src/tersely/code/engine.py",
            EVERY - PAGES - {"tests/code/test_started.py"},
        ),
        ("src/tersely/__init__.py", EVERY),
        ("tests/lsp/test_a.py", {"tests/lsp/test_a.py"}),
        (
            "tests/lines.py",
            {
                "tests/relay/test_a.py",
                "tests/relay/test_trees.py",
                "tests/code/test_a.py",
                "tests/pty/test_talker.py",
            },
        ),
        ("tests/pty/programs/talker.py", {"tests/pty/test_talker.py"}),
        ("tests/code/data/a.json", {path for path in EVERY if path.startswith("tests/code/")}),
        ("tests/data.json", EVERY),
        # also Python, where it is only read, and by tests of another folder
        ("tests/trees/own.py", {"tests/relay/test_trees.py"}),
        ("tests/trees/gone.py", {"tests/relay/test_trees.py"}),
        ("tests/conftest.py", EVERY),
        # what is there no more
        ("tests/code/conftest.py", {path for path in EVERY if path.startswith("tests/code/")}),
        ("README.md", {"tests/docs/test_a.py", "tests/docs/test_every.py"}),
        ("docs/new.md", PAGES),
        ("constraints.txt", EVERY),
    ],
)
def test_a_test_is_run_when_what_it_stands_on_changed(
    tmp_path: Path, changed: str, expected: set[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert chosen(tmp_path, EVERY, [changed]) == expected


def test_our_own_map_is_read() -> None:
    files = ["tests/code/graph/test_fixpoint.py", "tests/relay/store/test_model.py"]
    assert chosen(ROOT, files, ["src/tersely/code/graph/names.py"]) == set(files[:1])
    assert chosen(ROOT, files, ["src/tersely/foundation/clock.py"]) == set(files)


def test_what_git_was_not_told_of_has_changed_too(tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q"], check=True)
    for name in (".gitignore", "kept.py", "changed.py", "gone.py", "told.py"):
        (tmp_path / name).write_text("*.log\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (tmp_path / "changed.py").write_text("")
    (tmp_path / "gone.py").unlink()
    subprocess.run([*git, "mv", "told.py", "moved.py"], check=True)
    for name in ("an accent é.py", "a.log"):
        (tmp_path / name).write_text("")
    expected = {"changed.py", "gone.py", "told.py", "moved.py", "an accent é.py"}
    assert set(changed_since(tmp_path, "HEAD")) == expected
