"""The table of what was skipped, at the end of a test run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_one(number):
    pytest.skip("no moon")

@pytest.mark.skipif(True, reason="no sun")
def test_two():
    pass
"""


def test_each_reason_is_named_once_with_its_tests(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [*words, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    *_, title, moon, sun, last = ended.stdout.splitlines()
    assert title.strip("-") == " skipped: tests, reason, files "
    assert moon.split(maxsplit=1) == ["6", "no moon: test_a.py test_b.py"]
    assert sun.split(maxsplit=1) == ["2", "no sun: test_a.py test_b.py"]
    assert last.startswith("8 skipped")
