"""What git says has changed, compared with the files themselves."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples
from tests.repositories import repository

from tersely.code.index.history.changes import Changes
from tersely.code.index.history.patch import Hunk, read_patch
from tersely.foundation.errors import TerselyError

LINES = st.lists(
    st.sampled_from(["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "diff --git a/x b/x", ""]), max_size=8
)


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(max_examples=examples(), deadline=None)
def test_lines_outside_of_changes_are_as_they_were(
    before: list[str], after: list[str], ends_before: bool, ends_after: bool
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        text_before = "\n".join(before) + "\n" * ends_before
        repository(root, {"x": text_before, "y": "same\n"})
        (root / "x").write_text("\n".join(after) + "\n" * ends_after)
        (root / "y").write_text("other\n")
        diffs = Changes(root).diffs()
        assert diffs[-1].name == "y"
        assert diffs[-1].hunks == (Hunk(1, (b"same\n",), 1, (b"other\n",)),)
        changed = {
            line
            for one in diffs[:-1]
            for hunk in one.hunks
            for line in range(hunk.new_first, hunk.new_first + len(hunk.added))
        }
        text = (root / "x").read_text().splitlines()
        kept = [line for number, line in enumerate(text, 1) if number not in changed]
        assert is_subsequence(kept, text_before.splitlines())


def is_subsequence(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(line in rest for line in few)


@pytest.mark.parametrize(
    "name", ["plain.py", "sp ace.py", 'quo"te.py', "tab\there.py", "näme.py", "back\\slash.py"]
)
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
    diffs = {(one.path, one.old_path): one for one in changes.diffs()}
    assert diffs.keys() == {("", "gone.py"), (f"moved {name}", name), (f"new {name}", "")}
    moved = diffs[f"moved {name}", name]
    assert [(one.new_first, one.added) for one in moved.hunks] == [(6, (b"six\n",))]
    text = b"one\ntwo\nthree\nfour\nfive\n"
    assert changes.blobs([moved.old_blob]) == {moved.old_blob: text}
    assert changes.paths() == sorted(["gone.py", f"moved {name}", name, f"new {name}"])


def test_below_the_top_of_a_repository_paths_start_there(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "x.py").write_text("1\n")
    (tmp_path / "y.py").write_text("1\n")
    assert Changes(tmp_path / "below").paths() == ["x.py"]


def test_a_revision_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TerselyError, match="git_unavailable"):
        Changes(tmp_path)
    git(tmp_path, "init", "-q")
    for base in ("nothing", "--help", "HEAD"):
        with pytest.raises(TerselyError, match="invalid_argument"):
            Changes(tmp_path, base)


def test_a_repository_that_git_refuses_is_told_with_the_words_of_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n")
    for base in ("", "HEAD"):
        with pytest.raises(TerselyError, match=r"git_unavailable: .*99"):
            Changes(tmp_path, base)


def test_text_that_is_no_diff_has_no_files() -> None:
    assert read_patch(b"") == read_patch(b"hello\n") == []


@pytest.mark.parametrize("scope", ["--local", "--worktree", "included"])
def test_no_program_that_the_repository_names_is_run(tmp_path: Path, scope: str) -> None:
    root, trace, program = tmp_path / "root", tmp_path / "trace", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran >> {trace}\ncat\n")
    program.chmod(0o755)
    inner = root / "inner"
    for directory in (root, inner):
        directory.mkdir()
        git(directory, "init", "-q")
        (directory / "a.py").write_text("a = 1\n")
        git(directory, "add", "a.py")
        git(directory, "commit", "-q", "-m", "m")
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(root, "commit", "-q", "-m", "m")
    names = [
        "filter.a=b.c.clean",
        "diff.a=b.c.textconv",
        "diff.a=b.c.command",
        "diff.external",
        "core.fsmonitor",
    ]
    for directory in (root, inner):
        (directory / ".gitattributes").write_text("* filter=a=b.c diff=a=b.c\n")
        git(directory, "config", "extensions.worktreeConfig", "true")
        where = ["--file", ".git/more"] if scope == "included" else [scope]
        for name in names:
            git(directory, "config", *where, name, str(program))
        git(directory, "config", *where, "filter.a=b.c.required", "true")
        git(
            directory,
            "config",
            *(["include.path", "more"] if scope == "included" else [scope, "a.b", "c"]),
        )
        (directory / "a.py").write_text("a = 2\n")
    changes = Changes(root)
    (diff,) = (one for one in changes.diffs() if one.path == "a.py")
    assert diff.hunks == (Hunk(1, (b"a = 1\n",), 1, (b"a = 2\n",)),)
    assert changes.blobs([diff.old_blob]) == {diff.old_blob: b"a = 1\n"}
    assert not trace.exists()
    subprocess.run(["git", "diff"], cwd=root, check=False, capture_output=True)
    assert trace.exists(), "the settings of this test name no program that git would run"


def test_settings_do_not_change_what_a_diff_means(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("".join(f"{number}\n" for number in range(9)))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "m")
    for name, value in (
        ("interHunkContext", "9"),
        ("context", "9"),
        ("noprefix", "true"),
        ("mnemonicPrefix", "true"),
    ):
        git(tmp_path, "config", f"diff.{name}", value)
    (tmp_path / "a.py").write_text("x\n" + "".join(f"{number}\n" for number in range(1, 8)) + "x\n")
    (diff,) = Changes(tmp_path).diffs()
    assert [(one.new_first, len(one.added)) for one in diff.hunks] == [(1, 1), (9, 1)]
