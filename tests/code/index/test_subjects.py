"""The subjects of commits, kept beside the index for the commit that is checked out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tersely.code.index.history.subjects import KEPT_FILE, subjects


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def commit(root: Path, path: str, subject: str) -> None:
    (root / path).write_text(subject)
    git(root, "add", path)
    git(root, "commit", "-qm", subject)


def said(root: Path, kept: Path | None, identity: str = "") -> list[str]:
    return [one.text for one in subjects(root, str.split, kept, identity)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "-q")
    commit(place, "a.py", "first of all")
    return place


def test_the_same_commit_is_read_from_what_was_kept(root: Path, tmp_path: Path) -> None:
    found = subjects(root, str.split, tmp_path)
    assert found == subjects(root, str.split, None)
    assert found[0].paths == ("a.py",)
    assert found[0].terms == {"first", "of", "all"}
    assert subjects(root, lambda text: ["other"], tmp_path) == found


def test_another_commit_or_other_terms_are_read_anew(root: Path, tmp_path: Path) -> None:
    subjects(root, str.split, tmp_path)
    commit(root, "b.py", "second")
    assert said(root, tmp_path) == ["second", "first of all"]
    assert subjects(root, lambda text: ["other"], tmp_path, "other")[0].terms == {"other"}


@pytest.mark.parametrize("cut", [0, 3, 16, 40])
def test_what_is_damaged_is_read_anew(root: Path, tmp_path: Path, cut: int) -> None:
    expected = said(root, tmp_path)
    kept = tmp_path / KEPT_FILE
    kept.write_bytes(kept.read_bytes()[:cut] + b"\0")
    assert said(root, tmp_path) == expected


def test_without_a_place_or_a_history_it_still_answers(root: Path, tmp_path: Path) -> None:
    assert said(root, tmp_path / "missing") == ["first of all"]
    (tmp_path / "empty").mkdir()
    assert said(tmp_path / "empty", tmp_path) == []
