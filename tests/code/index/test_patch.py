"""Unified diffs are read as git reads them."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.index.history.patch import FileDiff, Hunk, patched, read_patch, reversed_diff
from tersely.foundation.errors import TerselyError

LINE = st.sampled_from(
    ["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "diff --git a/x b/x", "", "\r", "é", "\\ no"]
)
TEXT = st.builds(
    lambda lines, end: ("\n".join(lines) + end).encode(),
    st.lists(LINE, max_size=10),
    st.sampled_from(["", "\n"]),
)


def git_diff(before: bytes, after: bytes, *options: str) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        for name, text in (("old", before), ("new", after)):
            Path(directory, name).write_bytes(text)
        command = ["git", "diff", "--no-index", "--no-ext-diff", "--text", *options, "old", "new"]
        return subprocess.run(command, cwd=directory, capture_output=True, check=False).stdout


@given(TEXT, TEXT, st.sampled_from(["-U0", "-U1", "-U3"]))
@settings(max_examples=examples(60), deadline=None)
def test_what_git_writes_leads_from_one_text_to_the_other_and_back(
    before: bytes, after: bytes, context: str
) -> None:
    diffs = read_patch(git_diff(before, after, context))
    assert len(diffs) == (before != after)
    for diff in diffs:
        assert patched(before, diff) == after
        assert patched(after, reversed_diff(diff)) == before


@given(TEXT, TEXT)
@settings(max_examples=examples(), deadline=None)
def test_context_makes_no_difference(before: bytes, after: bytes) -> None:
    hunks = [
        [one.hunks for one in read_patch(git_diff(before, after, context))]
        for context in ("-U0", "-U4")
    ]
    assert [sum(len(hunk.removed) for hunk in one) for one in hunks[0]] == [
        sum(len(hunk.removed) for hunk in one) for one in hunks[1]
    ]


HEADERS = {
    "git": b"diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\t\n+++ b/x y\t\n",
    "quoted": b'diff --git "a/x y" "b/x y"\n--- "a/x y"\n+++ "b/x y"\n',
    "no prefix": b"diff --git x y x y\n--- x y\n+++ x y\n",
    "other prefixes": b"diff --git i/x y w/x y\n--- i/x y\n+++ w/x y\n",
    "svn": b"Index: x y\n=====\n--- x y\t(revision 191)\n+++ x y\t(working copy)\n",
    "hg": b"diff -r 44299fd3d1a8 x y\n--- a/x y\tSun Oct 13 20:51:07 2013 -0300\n+++ b/x y\tSun Oct 13 20:51:40 2013\n",
    "mail": b"From: somebody\n\n--- \n some remark\n\ndiff --git a/x y b/x y\n--- a/x y\n+++ b/x y\n",
}


@pytest.mark.parametrize("header", HEADERS)
def test_whoever_writes_it_the_name_is_the_same(header: str) -> None:
    diff = read_patch(HEADERS[header] + b"@@ -2 +2 @@\n-old\n+new\n")[0]
    assert (diff.old_path, diff.path) == ("x y", "x y")
    assert diff.hunks == (Hunk(2, (b"old\n",), 2, (b"new\n",)),)


def test_files_that_come_and_go_have_one_name() -> None:
    epoch = b"--- gone\t2013-10-13 23:53:13 +0000\n+++ gone\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n"
    made = b"--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    assert [(one.old_path, one.path) for one in read_patch(epoch)] == [("gone", "")]
    assert read_patch(made) == [FileDiff("", "made", (Hunk(1, (), 1, (b"x",)),))]


def test_what_has_no_lines_is_read_as_well() -> None:
    patch = (
        b"diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"
        b"diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
        b"diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 0\nHcmV\n\n"
        b"diff --git a/s b/s\nindex 11..22 160000\n--- a/s\n+++ b/s\n"
        b"@@ -1 +1 @@\n-Subproject commit 11\n+Subproject commit 22\n"
    )
    renamed, mode, binary, submodule = read_patch(patch)
    assert (renamed.old_path, renamed.path) == ("a", "b")
    assert (mode.name, mode.old_mode, mode.mode) == ("run", "100644", "100755")
    assert binary.is_binary
    assert submodule.is_submodule


@pytest.mark.parametrize(
    "body", [b"@@ -1,2 +1 @@\n-a\n", b"@@ -1 +1 @@\n-a\n-b\n", b"@@ -1 +1 @@\nwhat\n"]
)
def test_a_hunk_that_is_not_what_it_says_is_refused(body: bytes) -> None:
    with pytest.raises(TerselyError, match="invalid_argument"):
        read_patch(b"--- a/x\n+++ b/x\n" + body)


@given(st.binary(max_size=200))
@settings(max_examples=examples(), deadline=None)
def test_any_bytes_are_a_patch_or_refused(noise: bytes) -> None:
    for text in (
        noise,
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + noise,
        b"diff --git a/x b/x\n" + noise,
    ):
        try:
            read_patch(text)
        except TerselyError as error:
            assert error.code == "invalid_argument"
