"""Packs in which one of several functions that are nearly the same stands for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import Ask

from tersely.foundation.tokens import count

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


def test_one_stands_for_all_that_are_nearly_the_same(ask: Ask, repository: Path) -> None:
    plain = ask("context", "send", "--budget", "600").out
    packed = ask("context", "send", "--budget", "600", "--cluster-duplicates").out
    assert count(packed) < count(plain) <= 600
    assert packed.count("def fetch_") == 1
    twins = [line for line in packed.splitlines() if line.startswith("  ≈100% calls.py:fetch_")]
    assert len(twins) == 5
    assert all('"' in twin and "→" in twin for twin in twins)
    assert "def apart(x)" in packed


@pytest.mark.parametrize("form", ["text", "compact", "ultracompact", "markdown", "json"])
@pytest.mark.parametrize("budget", [60, 150, 400])
def test_every_format_keeps_the_budget_and_accounts_for_all(ask: Ask, repository: Path, form: str, budget: int) -> None:
    words = ("context", "send", "--budget", str(budget), "--format", form, "--cluster-duplicates")
    answer = ask(*words)
    assert count(answer.out) <= budget
    assert answer.out == ask(*words).out
    result = ask(*words, "--json").result
    shown = sum(result["text"].count(f"fetch_{name}") > 0 for name in NAMES)
    assert shown + sum(result["omitted"].values()) >= len(NAMES)


def test_targets_are_all_shown(ask: Ask, repository: Path) -> None:
    packed = ask("context", "fetch_users", "fetch_orders", "--budget", "500", "--cluster-duplicates").out
    assert packed.count("def fetch_") == 2
