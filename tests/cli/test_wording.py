"""The options that packs have in common: in which format, and for whom."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.asking import Ask

import tersely

PACKAGE = Path(tersely.__file__).parent
PACKS = [
    ("context", "Filling.climb"),
    ("symbol", "slice", "Filling.climb"),
    ("diff-context", "--worktree"),
]


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of this program as a repository, with a change that is not committed; the path of what
    was changed.
    """
    root = tmp_path / "program"
    for part in ("context/pack", "context/lenses", "context/render", "foundation"):
        shutil.copytree(
            PACKAGE / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "*.bin")
        )
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    path = root / "context/pack/fitting/filling.py"
    path.write_text(
        path.read_text().replace(
            "start = self.draft.choice()", "start = self.draft.choice()  # first"
        )
    )
    monkeypatch.chdir(root)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("words", PACKS)
def test_every_pack_can_be_ultracompact(ask: Ask, edited: Path, words: tuple[str, ...]) -> None:
    answer = ask(*words, "--ultracompact", "--json").result
    assert answer["format"] == "ultracompact"
    assert answer == ask(*words, "--format", "ultracompact", "--json").result
    refused = ask(*words, "--ultracompact", "--format", "json")
    assert refused.status == 2
    assert "--ultracompact excludes --format json" in refused.err


@pytest.mark.slow
def test_what_was_named_before_is_counted(ask: Ask, edited: Path) -> None:
    words = ("context", "Filling.climb", "--session", "me", "--depth", "1")
    assert re.search(r" calls Filling.climb\n +def fill_up\(", ask(*words).out)
    again = ask(*words).out
    assert "as before" in again
    assert "fill_up" not in again
    edited.write_text(edited.read_text().replace("self.climb(to_targets)", "pass"))
    after = ask(*words).out
    assert "no caller of Filling.climb any more: Filling.fill_up" in after
    assert "any more" not in ask(*words).out
    edited.write_text(
        edited.read_text().replace("        pass\n", "        self.climb(to_targets)\n", 1)
    )
    assert "callers: Filling.fill_up" in ask(*words).out


def test_a_map_in_a_session_says_what_is_new(ask: Ask, shop: Path) -> None:
    whole = ask("map", "--session", "me").out
    again = ask("map", "--session", "me").out
    assert re.fullmatch(r"=== \d+ as before\n", again)
    (shop / "src/shop/audit.py").write_text("def recorded(order, when):\n    pass\n")
    changed = ask("map", "--session", "me")
    assert "def recorded(order, when)" in changed.out
    assert "gone: src/shop/audit.py:record" in changed.out
    assert "tokens saved" in changed.err
    assert "Price" not in changed.out
    assert "gone" not in ask("map", "--session", "me").out
    assert ask("map", "--session", "me", "--reset").out == ask("map").out != whole
    assert ask("map", "--zoom", "L0").out.count("def ") == 0
    assert ask("map", "--zoom", "L2").status == 2


@pytest.mark.slow
def test_a_cut_body_is_known_to_who_has_it_whole(ask: Ask, edited: Path) -> None:
    ask("context", "Filling.climb", "--session", "me", "--depth", "0")
    out = ask("diff-context", "--worktree", "--session", "me").out
    assert re.search(r"^@\d+-\d+ \[unchanged .*\] changed \d+: Filling.climb", out, re.MULTILINE)
    assert "fitting, beyond" not in out
