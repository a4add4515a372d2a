"""A command that finds nothing says so and exits with 1, as documented; so does one that can read
nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import Ask


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "zzqqxyw"], "no results"),
        (["packet", "zzqqxyw"], "no packet"), (["symbol", "find", "zzqqxyw"], ""),
    ],
)  # fmt: skip
def test_finding_nothing_is_told_by_the_status(ask: Ask, words: list[str], said: str) -> None:
    answer = ask(*words)
    assert answer.status == 1
    assert said in answer.out
    assert ask(*words, "--json").status == 1


def test_finding_something_is_status_0(ask: Ask) -> None:
    for words in (["search", "price"], ["plan", "format cents"], ["map"], ["index"]):
        assert ask(*words).status == 0, words


def test_a_repository_of_which_nothing_can_be_read_says_so(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "unreadable"
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"\0" * 100)
    monkeypatch.chdir(folder)
    answer = ask("index")
    assert answer.status == 1
    assert answer.out.startswith("nothing to index: 1 file of unsupported types")
    assert ask("map").status == 1
