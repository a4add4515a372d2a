"""Packs in which one of several functions that are nearly the same is shown for all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cli.asking import Ask

from tersely.foundation.text.tokens import count

CALLER = """
def fetch_{name}(session, limit):
    rows = session.query("{name}", limit)
    for row in rows:
        if row.is_stale(limit):
            log(row.identity)
            row.refresh(session)
    return send(rows, {at})
"""
NAMES = ("users", "orders", "prices", "stocks", "bills", "notes")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six functions that call `send`, alike but for a word and a number."""
    body = "".join(CALLER.format(name=name, at=at) for at, name in enumerate(NAMES))
    other = "\n\ndef apart(x):\n    while x:\n        x = send(x - 1, 'other') or x // 2\n    return [x] * 3\n"
    text = f"def send(rows, n):\n    return rows[n]\n{body}{other}"
    (tmp_path / "calls.py").write_text(text + "\n\ndef filler(a):\n    return a\n" * 60)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_is_shown_for_all_that_are_nearly_the_same(ask: Ask, repository: Path) -> None:
    packed = ask("context", "send", "--budget", "600").out
    assert packed.count("def fetch_") == 1
    folds = [line.split(" @")[0] for line in packed.splitlines() if line.startswith("  ≈ ")]
    header = packed[: packed.index("  ≈ ")].splitlines()[-1]
    assert len(folds) == 5
    assert '"users" → "orders"; 0 → 1' in packed
    assert header.endswith("calls send")  # as all that are folded into it
    assert "for row in rows:" in packed
    assert "def apart(x):" in packed


@pytest.mark.parametrize("form", ["text", "compact", "ultracompact", "markdown", "json"])
@pytest.mark.parametrize("budget", [60, 150, 400])
def test_every_format_keeps_the_budget_and_accounts_for_all(
    ask: Ask, repository: Path, form: str, budget: int
) -> None:
    words = ("context", "send", "--budget", str(budget), "--format", form)
    answer = ask(*words)
    assert count(answer.out) <= budget
    assert answer.out == ask(*words).out
    result = ask(*words, "--json").result
    shown = sum(result["text"].count(f"fetch_{name}") > 0 for name in NAMES)
    assert shown + sum(result["omitted"].values()) >= len(NAMES)


def test_what_is_folded_is_listed_after_what_it_is_like(ask: Ask, repository: Path) -> None:
    items = ask("context", "send", "--budget", "600", "--json").result["items"]
    details = [item["detail"] for item in items if "fetch_" in item["id"]]
    assert details == ["body", *["folded"] * 5]


def test_targets_are_all_shown(ask: Ask, repository: Path) -> None:
    packed = ask("context", "fetch_users", "fetch_orders", "--budget", "500").out
    assert 'query("users", limit)' in packed
    assert 'query("orders", limit)' in packed
    assert "≈" in ask("context", "fetch_users", "send", "--budget", "500").out


def test_a_changed_symbol_is_shown_and_its_copies_are_folded(ask: Ask, repository: Path) -> None:
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    path = repository / "calls.py"
    path.write_text(
        path.read_text().replace('session.query("prices", limit)', 'session.query("price", limit)')
    )
    packed = ask("diff-context", "--worktree", "--budget", "900").out
    assert '    rows = session.query("price", limit)' in packed
    assert not any(line.startswith("  ≈ fetch_prices") for line in packed.splitlines())


def test_more_than_a_line_can_say_is_not_folded(ask: Ask, repository: Path) -> None:
    path = repository / "calls.py"
    long = "a_name_that_is_longer_than_what_a_line_of_differences_shows"
    path.write_text(path.read_text().replace('query("users"', f'query("{long}"'))
    packed = ask("context", "send", "--budget", "900").out
    assert long in packed
    assert packed.count("def fetch_") == 2
