"""What git says has changed, compared with the files themselves."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic.code.index.changes import ChangedFile, Changes, parse_diff
from laconic.foundation.errors import LaconicError

LINES = st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "diff --git a/x b/x", ""]), max_size=8)


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_lines_outside_of_changes_are_as_they_were(
    before: list[str], after: list[str], ends_before: bool, ends_after: bool
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        git(root, "init", "-q")
        (root / "x").write_text(text_before := "\n".join(before) + "\n" * ends_before)
        (root / "y").write_text("same\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "m")
        (root / "x").write_text("\n".join(after) + "\n" * ends_after)
        (root / "y").write_text("other\n")
        files = Changes(root).files()
        assert files[-1] == ChangedFile("y", "y", ((1, 1),))
        changed = {line for first, last in files[0].lines for line in range(first, last + 1)} if files[:-1] else set()
        text = (root / "x").read_text().splitlines()
        kept = [line for number, line in enumerate(text, 1) if number not in changed]
        assert is_subsequence(kept, text_before.splitlines())


def is_subsequence(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(line in rest for line in few)


@pytest.mark.parametrize("name", ["plain.py", "sp ace.py", 'quo"te.py', "tab\there.py", "näme.py", "back\\slash.py"])
def test_paths_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / name).write_text("one\ntwo\nthree\nfour\nfive\n")
    (tmp_path / "gone.py").write_text("x\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "m")
    git(tmp_path, "mv", name, f"moved {name}")
    (tmp_path / "gone.py").unlink()
    (tmp_path / f"moved {name}").write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    (tmp_path / f"new {name}").write_text("x\n")
    changes = Changes(tmp_path)
    assert set(changes.files()) == {
        ChangedFile("", "gone.py", ((0, 1),)),
        ChangedFile(f"moved {name}", name, ((6, 6),)),
        ChangedFile(f"new {name}", ""),
    }
    assert changes.before(name) == b"one\ntwo\nthree\nfour\nfive\n"
    assert changes.before(f"new {name}") == b""


def test_below_the_top_of_a_repository_paths_start_there(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "x.py").write_text("1\n")
    (tmp_path / "y.py").write_text("1\n")
    assert Changes(tmp_path / "below").files() == [ChangedFile("x.py", "")]


def test_a_revision_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaconicError, match="git_unavailable"):
        Changes(tmp_path)
    git(tmp_path, "init", "-q")
    for base in ("nothing", "--help", "HEAD"):
        with pytest.raises(LaconicError, match="invalid_argument"):
            Changes(tmp_path, base)


def test_text_that_is_no_diff_has_no_files() -> None:
    assert parse_diff(b"") == parse_diff(b"hello\n") == []
