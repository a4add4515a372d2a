"""`conflicts`: what two working trees change against each other, which git would merge without a
word.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cli.asking import Ask

from tersely.foundation.errors import EXIT_OF_CODE

MONEY = (
    "def format_cents(cents):\n    return str(cents)\n\n\ndef old_name(cents):\n    return cents\n"
)
TILL = "class Till:\n    def tally(self):\n        return 0\n"
ORDERS = "from money import format_cents, old_name\n\n\ndef total(cents):\n    return cents\n"


def git(root: Path, *words: str) -> None:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *own, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A repository and a worktree of it on the branch `feature`."""
    here, there = tmp_path / "shop", tmp_path / "shop-feature"
    here.mkdir()
    git(here, "init")
    (here / "money.py").write_text(MONEY)
    (here / "orders.py").write_text(ORDERS)
    (here / "till.py").write_text(TILL)
    (here / "README.md").write_text("# Shop\n")
    git(here, "add", ".")
    git(here, "commit", "-m", "first")
    git(here, "worktree", "add", str(there), "-b", "feature")
    monkeypatch.chdir(here)
    return here, there


def conflicts(ask: Ask, root: Path, *words: str) -> list[tuple[str, str, str, str]]:
    answer = ask("conflicts", *words, "--root", str(root), "--json")
    found = answer.json["result"]["conflicts"]["items"]
    return [(one["symbol"], one["change"], one["side"], one["other"]) for one in found]


def test_uses_in_one_tree_of_what_the_other_changes(ask: Ask, trees: tuple[Path, Path]) -> None:
    here, there = trees
    changed = MONEY.replace("format_cents(cents)", "format_cents(cents, unit)").replace(
        "old_name", "new_name"
    )
    (there / "money.py").write_text(changed)
    uses = "\n\ndef shown(cents):\n    return format_cents(cents)\n\n\ndef kept(cents):\n    return old_name(cents)\n"
    (here / "orders.py").write_text(ORDERS + uses)
    assert conflicts(ask, here) == [
        ("money.py:old_name", "gone", "there", "orders.py:kept"),
        ("money.py:format_cents", "signature", "there", "orders.py:shown"),
    ]
    assert [(side, other) for _, _, side, other in conflicts(ask, there)] == [
        ("here", "orders.py:kept"),
        ("here", "orders.py:shown"),
    ]
    text = ask("conflicts", "--root", str(here)).out
    assert "money.py:old_name  gone in feature, used here by orders.py:kept:13\n" in text
    assert (
        "money.py:format_cents  with another signature in feature, used here by orders.py:shown:9\n"
        in text
    )


def test_uses_by_name_alone_are_counted_and_listed_when_asked_for(
    ask: Ask, trees: tuple[Path, Path]
) -> None:
    here, there = trees
    (there / "till.py").write_text(TILL.replace("0", "1"))
    (here / "door.py").write_text("def leave(door):\n    door.tally()\n")
    text = ask("conflicts", "--root", str(here)).out
    assert "no conflicts found\nand 1 use by name alone" in text
    text = ask("conflicts", "--all", "--root", str(here)).out
    assert "till.py:Till.tally" in text
    assert "door.py:leave" in text
    assert "by name alone" not in text


def test_a_symbol_that_both_change_is_one(ask: Ask, trees: tuple[Path, Path]) -> None:
    here, there = trees
    (here / "money.py").write_text(MONEY.replace("str(cents)", "f'{cents}'"))
    (there / "money.py").write_text(MONEY.replace("str(cents)", "repr(cents)"))
    git(there, "commit", "-am", "other")  # committed or not makes no difference
    assert conflicts(ask, here) == [
        ("money.py:format_cents", "body", "there", "money.py:format_cents")
    ]
    (here / "money.py").write_text(MONEY.replace("str(cents)", "repr(cents)") + "\n# a note\n")
    assert conflicts(ask, here) == []  # both have written the same


def test_callers_that_neither_has_changed_and_two_methods_of_a_class_are_none(
    ask: Ask, trees: tuple[Path, Path]
) -> None:
    here, there = trees
    (there / "money.py").write_text(
        MONEY.replace("format_cents(cents)", "format_cents(cents, unit)")
    )
    (here / "orders.py").write_text(ORDERS.replace("return cents", "return 1 + cents"))
    (here / "till.py").write_text(
        f"{TILL}\n    rate = 2\n\n    def open(self):\n        return 1\n"
    )
    (there / "till.py").write_text(TILL.replace("class Till:", 'class Till:\n    """A till."""\n'))
    (there / "caf\udce9.py").write_text(MONEY)
    answer = ask("conflicts", "--root", str(here))
    assert "no conflicts found" in answer.out
    assert r"caf\xe9.py (its name is not UTF-8) may matter" in answer.err


def test_a_line_that_used_it_before_is_none_in_a_function_that_changed(
    ask: Ask, trees: tuple[Path, Path]
) -> None:
    here, there = trees
    calling = ORDERS.replace("return cents", "return format_cents(cents)")
    (here / "orders.py").write_text(calling)
    git(here, "commit", "-am", "calls")
    git(there, "reset", "--hard", "main")
    (there / "money.py").write_text(MONEY.replace("str(cents)", "repr(cents)"))
    kept = calling.replace("    return", "    cents += 1\n    return")
    (here / "orders.py").write_text(kept)
    assert conflicts(ask, here) == []
    (here / "orders.py").write_text(kept.replace("format_cents(cents)", "format_cents(-cents)"))
    used = [("money.py:format_cents", "body", "there", "orders.py:total")]
    assert conflicts(ask, here) == used


def test_a_clone_is_named_and_another_project_refused(
    ask: Ask, trees: tuple[Path, Path], tmp_path: Path
) -> None:
    here, _ = trees
    clone, other = tmp_path / "clone", tmp_path / "other"
    git(tmp_path, "clone", str(here), str(clone))
    (clone / "money.py").write_text(MONEY.replace("str(cents)", "repr(cents)"))
    (here / "money.py").write_text(MONEY.replace("str(cents)", "f'{cents}'"))
    assert [one[0] for one in conflicts(ask, here, str(clone))] == ["money.py:format_cents"]
    other.mkdir()
    git(other, "init")
    for place, code in ((other, "invalid_argument"), (tmp_path / "nowhere", "root_not_found")):
        assert ask("conflicts", str(place), "--root", str(here)).err.startswith(code)


def test_without_git_or_another_tree_it_says_so(ask: Ask, tmp_path: Path) -> None:
    refused = ask("conflicts", "--root", str(tmp_path))
    assert refused.status == EXIT_OF_CODE["git_unavailable"]
    assert refused.err.startswith(f"git_unavailable: {tmp_path}: ")
    git(tmp_path, "init")
    (tmp_path / "a.py").write_text("a = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    assert "no other working tree" in ask("conflicts", "--root", str(tmp_path)).out
