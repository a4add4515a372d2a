"""When two claims are about the same thing."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.relay.teams.targets import overlap

NAMES = st.text("ab.", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})
PATTERNS = st.text("ab.*?", min_size=1, max_size=4).filter(
    lambda name: name not in {".", "..", "**"}
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "src/b.py", False),
        ("src", "src/a.py", True),
        ("src/", "./src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a.js", False),
        ("src/**/*.py", "src/x/y/z.py", True),
        ("src/**/*.py", "lib/x.py", False),
        ("src/**/test_*.py", "src/**/*_test.py", True),
        ("a.py:C", "a.py:C.m", True),
        ("a.py:C.m", "a.py:C.n", False),
        ("a.py:C.m", "a.py", True),
        ("a.py:C", "a.py:D", False),
        ("name:release", "name:release", True),
        ("name:release", "name:other", False),
        ("name:src", "src", False),
        ("[ab].py", "a.py", True),
    ],
)
def test_what_overlaps(one: str, other: str, is_same: bool) -> None:
    assert overlap(one, other) is is_same
    assert overlap(other, one) is is_same


@given(PATHS, PATHS)
def test_paths_overlap_where_one_is_in_the_other(one: str, other: str) -> None:
    shorter, longer = sorted((one.split("/"), other.split("/")), key=len)
    assert overlap(one, other) is (longer[: len(shorter)] == shorter)


@given(PATTERNS, NAMES)
def test_a_pattern_overlaps_with_what_fits_it(pattern: str, name: str) -> None:
    assert overlap(pattern, name) is fnmatchcase(name, pattern)


@given(PATTERNS, PATTERNS, NAMES)
def test_patterns_overlap_where_something_fits_both(one: str, other: str, name: str) -> None:
    if fnmatchcase(name, one) and fnmatchcase(name, other):
        assert overlap(one, other)
