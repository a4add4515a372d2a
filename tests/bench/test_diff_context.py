"""The score of cut commits counts what a pack prints, and numbers lines as the parent commit does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.groundtruth.diff_context import asked, in_parent, is_covered, read_cases, row, runs

from tersely.code.index.history.patch import Hunk

BEFORE = (
    "def load(path):\n    return open(path).read()\n\n\ndef start(path):\n    return load(path)\n"
)
LONG = "\n\ndef unlike():\n" + "".join(f"    step_{number}()\n" for number in range(60))
GIVEN = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,3 @@\n-def load(path):\n-    return open(path).read()\n+def load(path, mode):\n+    text = open(path, mode).read()\n+    return text\n"  # noqa: E501


def _git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ["git", "-C", str(root), *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_hidden_caller_is_covered(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    _git(clone, "init", "-q")
    # of a short file, all that a pack may take goes to the change
    (clone / "app.py").write_text(BEFORE + LONG)
    _git(clone, "add", "app.py")
    _git(clone, "commit", "-q", "-m", "first")
    hidden = [
        {"file": "app.py", "symbol": "start", "changed": [6], "same_file": True, "test": False},
        {"file": "other.py", "symbol": "gone", "changed": [1], "same_file": False, "test": False},
        {"file": "test_app.py", "symbol": "test", "changed": [1], "same_file": False, "test": True},
    ]
    case = {
        "parent": _git(clone, "rev-parse", "HEAD"),
        "given_diff": GIVEN,
        "hidden": hidden,
        "tokens_given_files": 40,
    }

    ((_, budget, outcome),) = asked(clone, [case], [1_000])

    assert budget == 1_000
    assert outcome.hidden == [(True, True, True), (False, False, False)]
    assert 0 < outcome.used <= budget
    figures = row("r", budget, [outcome])
    assert (figures["covered"], figures["same_file"], figures["other_files"]) == (0.5, 1.0, 0.0)
    assert _git(clone, "status", "--porcelain") == ""


def test_lines_are_those_of_the_parent_commit() -> None:
    hunks = [Hunk(3, (b"a\n",), 3, (b"b\n", b"c\n")), Hunk(10, (b"x\n", b"y\n"), 11, ())]

    assert [in_parent(line, hunks) for line in (1, 3, 4, 5, 10, 11)] == [1, 3, 3, 4, 9, 12]


def test_blank_lines_join_what_is_shown() -> None:
    lines = ["a", "", "b", "c", "", "", "d", "e"]

    assert list(runs([(1, 1), (3, 3), (7, 7)], lines)) == [(1, 3), (5, 7)]


def test_a_line_that_is_not_printed_is_not_covered() -> None:
    before = ["def load(path):", '    """Reads."""', "", "    return open(path)"]
    printed = "=== app.py\n@1-4 neighbour\ndef load(path):\n    return open(path)\n"

    assert is_covered([1, 4], before, [(1, 4)], printed)
    assert is_covered([3, 4], before, [(1, 4)], printed)
    assert not is_covered([2], before, [(1, 4)], printed)
    assert not is_covered([1, 4], before, [(1, 3)], printed)


def test_cases_are_read(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"repo": "a/b"}\n{"repo": "c/d"}\n')

    assert [case["repo"] for case in read_cases(tmp_path / "cases.jsonl")] == ["a/b", "c/d"]
