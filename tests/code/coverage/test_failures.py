"""Failed tests: what runners print and what JUnit's XML says, with the place where it failed last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.coverage.failures import merge_runs, read_failures
from tersely.code.coverage.naming import KnownTests
from tersely.foundation.errors import TerselyError

PYTEST = """\
=================================== FAILURES ===================================
______________________________ TestTill.test_add[1] ____________________________

self = <test_till.TestTill object>

    def test_add(self, n):
>       assert till.add(n) == 2

tests/test_till.py:9:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

>       return n / 0
E       ZeroDivisionError: division by zero

src/till.py:4: ZeroDivisionError
=========================== short test summary info ============================
FAILED tests/test_till.py::TestTill::test_add[1] - ZeroDivisionError: divisio...
FAILED tests/test_till.py::test_alone
1 failed, 2 passed in 0.05s
"""
UNITTEST = """\
======================================================================
FAIL: test_add (test_till.TestTill.test_add)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/app/test_till.py", line 6, in test_add
    self.assertEqual(add(1), 2)
AssertionError: 1 != 2
"""
GO = """\
=== RUN   TestAdd
    till_test.go:12: Add(1) = 1, want 2
--- FAIL: TestAdd (0.00s)
    till_test.go:13: again
FAIL
"""
CARGO = """\
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----
thread 'tests::adds' panicked at src/lib.rs:14:9:
assertion `left == right` failed
"""
VITEST = """\
 FAIL  test/till.test.ts > till > adds
AssertionError: expected 1 to be 2
 ❯ add src/till.ts:3:9
 ❯ test/till.test.ts:5:21
"""
JEST = """\
  ● till › adds

    expect(received).toBe(expected)

      at add (src/till.js:3:9)
      at Object.<anonymous> (test/till.test.js:5:21)
"""
JUNIT = b"""<?xml version="1.0"?><testsuites><testsuite name="s" tests="3">
<testcase classname="org.shop.TillTest" name="adds"><failure message="expected 2">java.lang.AssertionError: expected 2
	at org.shop.Till.add(Till.java:8)
	at org.shop.TillTest.adds(TillTest.java:21)
</failure></testcase>
<testcase classname="org.shop.TillTest" name="pays"/>
<testcase classname="org.shop.TillTest" name="waits"><skipped/></testcase></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("text", "test", "frames"),
    [
        (
            PYTEST,
            "tests/test_till.py::TestTill::test_add[1]",
            [("tests/test_till.py", 9), ("src/till.py", 4)],
        ),
        (UNITTEST, "test_add (test_till.TestTill.test_add)", [("/app/test_till.py", 6)]),
        (GO, "TestAdd", [("till_test.go", 13)]),
        (CARGO, "tests::adds", [("src/lib.rs", 14)]),
        (VITEST, "test/till.test.ts > till > adds", [("test/till.test.ts", 5), ("src/till.ts", 3)]),
        (JEST, "till › adds", [("test/till.test.js", 5), ("src/till.js", 3)]),
    ],
)
def test_what_a_runner_prints_is_read(text: str, test: str, frames: list[tuple[str, int]]) -> None:
    first = read_failures(text.encode()).failures[0]
    assert first.test == test
    assert [tuple(frame) for frame in first.frames] == frames


def test_what_is_wrong_is_said_in_one_line() -> None:
    messages = [
        read_failures(text.encode()).failures[0].message for text in (PYTEST, UNITTEST, GO, VITEST)
    ]
    assert messages == [
        "ZeroDivisionError: divisio...",
        "AssertionError: 1 != 2",
        "again",
        "AssertionError: expected 1 to be 2",
    ]


def test_junit_tells_failures_and_what_was_not_run() -> None:
    tested = read_failures(JUNIT)
    (failure,) = tested.failures
    assert (failure.test, failure.message) == ("org.shop.TillTest.adds", "expected 2")
    assert [tuple(frame) for frame in failure.frames] == [
        ("org/shop/TillTest.java", 21),
        ("org/shop/Till.java", 8),
    ]
    assert tested.skipped == {"org.shop.TillTest.waits"}


def test_a_failure_that_two_reports_tell_of_is_one() -> None:
    case = (
        b'<testcase classname="tests.test_till.TestTill" name="test_add[1]"><failure/></testcase>'
    )
    junit = b"<testsuite>" + case + b"</testsuite>"
    failures = merge_runs([read_failures(junit), read_failures(PYTEST.encode())]).failures
    assert [len(failure.frames) for failure in failures] == [2, 0]


def test_junit_that_is_cut_is_refused() -> None:
    with pytest.raises(TerselyError, match="invalid_report"):
        read_failures(JUNIT[:-20])


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for failure in read_failures(text.encode()).failures:
        assert "\n" not in failure.message


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("tests.test_a.TestB.test_c[1]", ["tests/test_a.py::TestB::test_c[1]"]),
        ("tests/test_a.py::TestB::test_c[2]", ["tests/test_a.py::TestB::test_c[2]"]),
        (
            "test_c (tests.test_a.TestB)",
            ["tests/test_a.py::TestB::test_c[1]", "tests/test_a.py::TestB::test_c[2]"],
        ),
        ("test_e[7]", ["tests.test_d.test_e"]),
        ("test_c", ["tests/test_a.py::TestB::test_c[1]", "tests/test_a.py::TestB::test_c[2]"]),
        ("test_f", []),  # may be either
        ("test_nothing", []),
    ],
)
def test_names_of_tests_are_compared_by_their_parts(written: str, found: list[str]) -> None:
    known = KnownTests(
        ["tests/test_a.py::TestB::test_c[1]", "tests/test_a.py::TestB::test_c[2]", "tests.test_d.test_e",
         "tests/test_g.py::test_f", "tests/test_h.py::test_f"]
    )  # fmt: skip
    assert known.matching_tests(written) == found
