"""An answer about a change comes from memory as long as git would compare the same, and never
longer.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.asking import DEADLINE_SECONDS, Talk, serving
from tests.repositories import initialized

from tersely.code.index.directories import UNWATCHED_DIRECTORIES
from tersely.foundation.git.state import git_state


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsync=none"]
    subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, timeout=60
    )


def settled(root: Path) -> None:
    """Return when the times of the repository's files are old enough to tell the next change from
    the last.
    """
    end = time.monotonic() + DEADLINE_SECONDS
    while git_state(str(root), UNWATCHED_DIRECTORIES) is None:
        assert time.monotonic() < end


@pytest.fixture
def tracked(shop: Path) -> Path:
    initialized(shop)
    (shop / ".gitignore").write_text(".tersely\nnode_modules\n")
    git(shop, "add", ".")
    git(shop, "commit", "-m", "one")
    return shop


def changed(talk: Talk, **words: Any) -> list[str]:
    settled(Path(talk.ask(cmd="status")["project"]))
    reply = talk.ask(cmd="code.diff_context", worktree=True, **words)
    assert reply["success"], reply
    return list(reply["result"]["changed"])


def kept(talk: Talk) -> int:
    return int(talk.ask(cmd="status")["cached_answers"])


def test_a_change_of_anything_that_git_compares_is_seen_at_once(tracked: Path) -> None:
    money = tracked / "src/shop/money.py"
    before = money.read_text()
    with serving(tracked), Talk(tracked) as talk:
        assert changed(talk) == []
        assert kept(talk) == 1
        assert changed(talk) == []
        assert kept(talk) == 1
        money.write_text(before + "\n\ndef added():\n    return 1\n")
        assert "src/shop/money.py:added" in changed(talk)
        (tracked / "notes.txt").write_text("new\n")
        assert "notes.txt" in changed(talk)
        git(tracked, "add", "-A")
        git(tracked, "commit", "-m", "two")
        assert changed(talk) == []
        git(tracked, "reset", "--soft", "HEAD~1")
        assert {"src/shop/money.py:added", "notes.txt"} <= set(changed(talk))


def test_a_branch_that_moves_is_seen_at_once(tracked: Path) -> None:
    (tracked / "notes.txt").write_text("new\n")
    git(tracked, "add", "-A")
    git(tracked, "commit", "-m", "two")
    with serving(tracked), Talk(tracked) as talk:
        git(tracked, "branch", "old", "HEAD~1")
        for base, names in (("HEAD~1", ["notes.txt"]), ("HEAD", [])):
            git(tracked, "branch", "-f", "old", base)
            settled(tracked)
            reply = talk.ask(cmd="code.diff_context", base="old", head="HEAD")
            assert reply["result"]["changed"] == names


def test_what_nobody_watches_is_not_remembered(tracked: Path) -> None:
    inside = tracked / "node_modules/dep"
    inside.mkdir(parents=True, exist_ok=True)
    (inside / "index.js").write_text("1\n")
    git(tracked, "add", "-A", "-f")
    git(tracked, "commit", "-m", "two")
    with serving(tracked), Talk(tracked) as talk:
        for text in ("2\n", "3\n"):
            (inside / "index.js").write_text(text)
            reply = talk.ask(cmd="code.diff_context", worktree=True)
            assert text.strip() in reply["result"]["text"]
        assert kept(talk) == 0
