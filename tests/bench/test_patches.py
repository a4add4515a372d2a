"""The suite of patches sees where we read a diff otherwise than git does."""

from __future__ import annotations

from pathlib import Path

from bench.groundtruth import patches

CHANGED = b"--- a/one.txt\n+++ b/one.txt\n@@ -2,2 +2,3 @@\n kept\n-old\n+new\n+more\n"
RENAMED = b"diff --git a/one b/two\nsimilarity index 100%\nrename from one\nrename to two\n"
SHORT = b"--- a/one.txt\n+++ b/one.txt\n@@ -2,9 +2,3 @@\n kept\n-old\n+new\n"


def test_the_diffs_of_git_are_read_alike(tmp_path: Path) -> None:
    for name, patch in (("changed", CHANGED), ("renamed", RENAMED), ("short", SHORT)):
        (tmp_path / f"{name}.diff").write_bytes(patch)

    cases = {case.name: case for case in patches.run(tmp_path)}

    assert [name for name, case in cases.items() if not (case.sound and case.complete)] == []
    assert {name: case.agreed for name, case in cases.items()} == {
        "changed.diff": 2,
        "renamed.diff": 2,
        "short.diff": 1,
    }


def test_hunks_tell_what_was_there() -> None:
    assert patches.before_of(CHANGED) == [b"between 0\nkept\nold\n"]
