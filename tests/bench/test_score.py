from __future__ import annotations

from bench.groundtruth.report import as_json, differences, line
from bench.groundtruth.score import CaseResult, SuiteResult, compare, failed


def test_precision_and_recall_count_edges_over_all_cases() -> None:
    first = compare("first", {"a -> b", "a -> c"}, {"a -> b", "a -> d"})
    second = compare("second", {"a -> b"}, {"a -> b"})
    result = SuiteResult("s", "python", (first, second))
    assert (result.agreed, result.expected) == (2, 3)
    assert result.precision == result.recall == result.f1 == 2 / 3
    assert (result.complete, result.sound) == (1, 1)


def test_a_case_may_be_sound_and_not_complete() -> None:
    case = compare("case", {"a"}, {"a", "b"})
    assert case.sound
    assert not case.complete


def test_a_failed_case_misses_everything_and_is_neither() -> None:
    case = failed("case", ["a", "b"], ValueError("broken"))
    assert case == CaseResult("case", 0, ("a", "b"), (), "ValueError: broken")
    assert not case.sound
    assert not case.complete


def test_nothing_found_is_no_division() -> None:
    result = SuiteResult("s", "python", (compare("case", {"a"}, set()),))
    assert (result.precision, result.recall, result.f1) == (0, 0, 0)


def test_a_suite_is_one_line_and_says_why_it_was_skipped() -> None:
    assert line(SuiteResult("s", "go", skipped="no folder x")).endswith("skipped: no folder x")
    assert "\n" not in line(SuiteResult("s", "go", (compare("case", {"a"}, {"a"}),), {"any": 1.0}))


def test_only_differing_cases_are_listed() -> None:
    result = SuiteResult("s", "go", (compare("same", {"a"}, {"a"}), compare("other", {"a"}, {"b"})))
    assert list(differences(result)) == ["  other", "    - a", "    + b"]
    assert [case["case"] for case in as_json(result)["differing"]] == ["other"]
