"""Intervals and comparisons, and what transcripts tell."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from bench.history_tasks.figures import comparison, figures, median, share
from bench.history_tasks.measuring import SOLVED, TESTS_FAIL, Result
from bench.history_tasks.picture import picture
from bench.history_tasks.transcripts import Spent, ending, spent
from hypothesis import given
from hypothesis import strategies as st

ANTHROPIC = {
    "input_tokens": 1,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 300,
    "output_tokens": 4,
}


def result(agent: str, task: int, *, is_solved: bool) -> Result:
    return Result(
        str(task),
        f"task {task}",
        agent,
        SOLVED if is_solved else TESTS_FAIL,
        "",
        Spent(5, 1, 1),
        2.0,
    )


@given(st.integers(1, 300).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_a_share_lies_in_its_interval(counts: tuple[int, int]) -> None:
    figure, low, high = share(*counts)
    assert low is not None
    assert high is not None
    assert 0 <= low <= figure + 1e-9
    assert figure - 1e-9 <= high <= 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_a_median_lies_between_values(values: list[float]) -> None:
    figure, low, high = median(values)
    assert (low is None) == (high is None) == (len(values) < 6)
    if low is not None and high is not None:
        assert low in values
        assert high in values
        assert low <= figure <= high


def test_known_intervals() -> None:
    assert [round(part, 3) for part in share(5, 10) if part is not None] == [0.5, 0.237, 0.763]
    assert median([1, 2, 3, 4, 5, 6]) == (3.5, 1, 6)  # covers 96.9 %
    assert median(range(1, 11)) == (5.5, 2, 9)  # covers 97.9 %


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_a_comparison_counts_every_task_once(pairs: list[tuple[bool, bool]]) -> None:
    results = [result("a", at, is_solved=first) for at, (first, _) in enumerate(pairs)]
    results += [result("b", at, is_solved=second) for at, (_, second) in enumerate(pairs)]
    one, other = comparison("a", "b", results), comparison("b", "a", results)
    assert one.both + one.first_alone + one.second_alone + one.neither == len(pairs)
    assert (one.first_alone, one.chance) == (other.second_alone, other.chance)
    assert 0 < one.chance <= 1
    assert figures("a", results).solved == sum(first for first, _ in pairs)


def test_how_likely_an_uneven_split_is() -> None:
    results = [result("a", at, is_solved=True) for at in range(6)] + [
        result("b", at, is_solved=False) for at in range(6)
    ]
    assert comparison("a", "b", results).chance == pytest.approx(2 / 64)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ({"type": "result", "usage": {"requests": 3, "prompt_tokens": 90, "completion_tokens": 10}}, Spent(90, 10, 3)),
        ({"type": "result", "num_turns": 2, "usage": ANTHROPIC}, Spent(321, 4, 2)),
        ([{"type": "system"}, {"type": "result", "usage": {"input_tokens": 1, "output_tokens": 4}}], Spent(1, 4, None)),
        ({"type": "result", "usage": {"input_tokens": "many", "output_tokens": True}}, Spent()),
        ({"type": "result", "usage": 5}, Spent()),
    ],
)  # fmt: skip
def test_transcripts(printed: object, expected: Spent) -> None:
    assert spent(f"hello\n{json.dumps(printed)}\n{{broken\n") == expected


@given(st.text(max_size=200))
def test_any_text_is_a_transcript(text: str) -> None:
    assert spent(text) == Spent()
    assert "\n" not in ending(text)


def test_a_picture_shows_names_of_others_harmlessly() -> None:
    name = "<script>\x1b[31m & co"
    results = [result(name, 1, is_solved=True)]
    root = ET.fromstring(picture([figures(name, results)], results, "<&>"))
    assert "<script>" in "".join(root.itertext())
    assert not root.findall(".//{*}script")
