from __future__ import annotations

from pathlib import Path

from bench.groundtruth import stack_graphs, tags
from bench.groundtruth.score import SuiteResult, compare
from tests.bench.subjects import subject, symbol

from tersely.code.symbols import Kind

FRAGMENTS = """ignored
#--- path: a.py ---#
x = 1
#--- path: b.py ---#
from a import x
print(x)
#     ^ defined: 3, 5
#     ^ defined:
# ^ defines: x
"""


def test_fragments_keep_the_line_numbers_of_the_whole_test() -> None:
    files = stack_graphs.fragments(FRAGMENTS, "test.py")
    assert list(files) == ["a.py", "b.py"]
    assert files["a.py"].splitlines()[2] == "x = 1"
    assert files["b.py"].splitlines()[4] == "from a import x"
    assert not files["b.py"].splitlines()[2]


def test_a_test_without_fragments_is_one_file() -> None:
    assert stack_graphs.fragments("a = 1\nb = 2\n", "test.py") == {"test.py": "a = 1\nb = 2\n"}


def test_assertions_speak_of_the_last_line_of_code() -> None:
    files = stack_graphs.fragments(FRAGMENTS, "test.py")
    found = list(stack_graphs.assertions_of("b.py", files["b.py"]))
    assert found == [
        stack_graphs.Assertion("b.py", 6, 6, frozenset({3, 5})),
        stack_graphs.Assertion("b.py", 6, 6, frozenset()),
    ]


def test_a_module_begins_where_its_fragment_has_text() -> None:
    files = stack_graphs.fragments(FRAGMENTS, "test.py")
    assert stack_graphs.found_lines([("a.py", 1), ("b.py", 6), ("elsewhere.py", 2)], files) == {
        "3",
        "6",
        "2",
    }


def test_any_hit_and_exact_are_two_readings() -> None:
    cases = (
        compare("some", {"3", "5"}, {"5"}),
        compare("none", set(), set()),
        compare("wrong", {"1"}, {"2"}),
    )
    assert stack_graphs.figures(SuiteResult("s", "python", cases)) == {"any": 2 / 3, "exact": 1 / 3}


TAGS = """!_TAG_FILE_FORMAT\t2
A\tinput.py\t/^class A:$/;"\tc
f\tinput.py\t/^    def f(self): pass$/;"\tm\tclass:A
f\tinput.py\t/^    def f(self): pass$/;"\tm\tclass:A
os\tinput.py\t/^import os$/;"\ti
x\tinput.py\t/^x = 1$/;"\tkind:v\tline:6
A.f\tinput.py\t/^    def f(self): pass$/;"\tm\tclass:A
y\tinput.py\t/^y$/;"\tv\troles:read
other\tinput.txt\t/^other$/;"\tv
"""
SOURCE = "class A:\n    def f(self): pass\n\n    def f(self): pass\nimport os\nx = 1\n"


def test_tags_are_found_by_pattern_or_line_and_reduced_to_shared_words() -> None:
    words = tags.VOCABULARIES["python"].words
    found = list(tags.truth_facts(TAGS, {"input.py": SOURCE}, words, "python", qualified=True))
    assert found == [
        "input.py:1 class A",
        "input.py:2 method f",
        "input.py:4 method f",
        "input.py:6 value x",
    ]


def test_options_switch_kinds_off() -> None:
    known = tags.VOCABULARIES["python"]
    assert set(tags.kinds_that_count(known, "--sort=no\n--kinds-Python=+z\n").values()) == set(
        known.words.values()
    )
    assert set(tags.kinds_that_count(known, "--kinds-Python=cf\n").values()) == {
        "class",
        "function",
    }
    assert set(tags.kinds_that_count(known, "--kinds-Python=-v\n")) == set(known.words) - {"v"}


def test_our_symbols_in_the_words_of_a_parser(tmp_path: Path) -> None:
    symbols = [
        symbol("input.go", Kind.MODULE),
        symbol("input.go:T", Kind.STRUCT, 1),
        symbol("input.go:T.f#2", Kind.METHOD, 2),
        symbol("input.go:<lambda1>", Kind.LAMBDA, 3),
    ]
    known = tags.VOCABULARIES["go"]
    found = tags.found_facts(
        subject(tmp_path, symbols, []), {"input.go": ""}, known, {"function", "struct"}
    )
    assert sorted(found) == ["input.go:1 struct T", "input.go:2 function f"]
