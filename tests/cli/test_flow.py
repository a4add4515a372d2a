"""Control flow, data flow and slices as the command line gives them, on good and on bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.asking import Answer, Ask

CART = '''\
"""A cart."""

import os


@decorated
def total(prices, rate):
    """What it costs,
    all in all."""
    # nothing as yet
    amount = 0
    count = 0
    for price in prices:
        if price < 0 or rate is None:
            continue
        amount += halved(
            price,
            rate,
        )
        count += 1

    return amount


def scaled(value, by):
    unused = value
    return value * by


def scaled(value, by):
    other = by
    return value * other


def halved(value, by):
    unused = by
    return value / 2


class Cart:
    size = 1
'''

RUST = "impl<T: Clone> Stack<T> {\n  fn top(&self, a: i32) -> T {\n    let b = a;\n    self.v.clone()\n  }\n}\n"
CPP = "namespace n {\nint A::f(int a) {\n  int b = a;\n  int c = 2;\n  return b;\n}\n}\n"
WRITTEN = {
    "crlf.py": b"def g(a):\r\n\tb = a\r\n\tc = 1\r\n\treturn b\r\n",
    "bom.py": b"\xef\xbb\xbfdef g(a):\n    b = a\n    c = 1\n    return b\n",
    "latin.py": b'def g(a):\n    b = "\xe9"\n    return b\n',
    "empty.py": b"",
    "half.py": b"def g(a:\n    b = a\n    return b\n",
    "a.ex": b"defmodule A do\n  def f(a) do\n    a\n  end\nend\n",
    "a.rs": RUST.encode(),
    "a.cpp": CPP.encode(),
}


@pytest.fixture
def cart(ask: Ask, shop: Path) -> Ask:
    """Asks a repository that has the files above."""
    (shop / "cart.py").write_text(CART, "utf-8")
    for name, text in WRITTEN.items():
        (shop / name).write_bytes(text)
    return ask


def sliced(ask: Ask, place: str, *words: str) -> list[int]:
    """The lines of the first part of a slice."""
    lines: list[int] = ask("slice", place, *words, "--json").result["parts"][0]["lines"]
    return lines


def test_a_slice_shows_its_code_and_the_gaps_between(cart: Ask) -> None:
    answer = cart("slice", "cart.py:22", "--with-code")
    assert answer.out.splitlines()[:2] == [
        "backward slice from cart.py:22",
        "cart.py:total  11 of 17 lines",
    ]
    assert "  11      amount = 0\n      ⋯ 12\n  13      for price in prices:\n" in answer.out
    assert "count" not in answer.out


def test_without_code_a_slice_is_ranges_of_lines(cart: Ask) -> None:
    assert cart("slice", "cart.py:22").out.splitlines()[-1] == "  6-7, 11, 13-19, 22"


@pytest.mark.parametrize("line", range(1, CART.count("\n") + 1))
def test_every_line_of_a_file_gives_a_slice(cart: Ask, line: int) -> None:
    """Decorators, documentation, comments, blank lines and lines inside a statement stand for a
    statement.
    """
    for direction in ("--backward", "--forward"):
        assert sliced(cart, f"cart.py:{line}", direction)


def test_a_variable_narrows_a_slice_and_a_wrong_one_is_told_apart(cart: Ask) -> None:
    assert 20 not in sliced(cart, "cart.py:11", "--forward", "--variable", "amount")
    for words in (("slice", "cart.py:22"), ("dfg", "total")):
        answer = cart(*words, "--variable", "amont")
        assert answer.status == 2
        assert answer.err.startswith("invalid_argument: there is no variable 'amont' in total\n")
        assert "variables: amount, count, " in answer.err


def test_a_slice_goes_into_what_is_called(cart: Ask) -> None:
    parts = cart("slice", "cart.py:22", "--through-calls", "--json").result["parts"]
    assert [(part["symbol"], part["called_on"], part["lines"]) for part in parts[1:]] == [
        ("cart.py:halved", 16, [35, 37]),
    ]


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        ("crlf.py:4", [1, 2, 4]),
        ("bom.py:4", [1, 2, 4]),
        ("half.py:3", [1, 2, 3]),
        ("a.rs:4", [2, 4, 5]),
    ],
)
def test_odd_files_are_sliced_as_others(cart: Ask, place: str, lines: list[int]) -> None:
    assert sliced(cart, place) == lines
    code = cart("slice", place, "--with-code").out
    assert "\ufeff" not in code
    assert "\\ufeff" not in code
    assert "\r" not in code


def test_an_empty_file_has_no_statements(cart: Ask) -> None:
    assert cart("slice", "empty.py:1").out.splitlines()[-1] == "  no statements"
    assert cart("cfg", "empty.py", "--json").result["complexity"] == 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("slice", "cart.py:99"), 2, "invalid_argument: cart.py has 41 lines, there is no line 99"),
        (("slice", "cart.py:0"), 2, "invalid_argument: cart.py has 41 lines, there is no line 0"),
        (("slice", "cart.py"), 2, "invalid_argument: 'cart.py' is not a place"),
        (("slice", "cart.py:x"), 2, "invalid_argument: 'cart.py:x' is not a place"),
        (("slice", "missing.py:1"), 1, "path_not_found: "),
        (("slice", "latin.py:2"), 1, "not_indexed: latin.py is not indexed"),
        (
            ("slice", "a.ex:3"),
            1,
            "unsupported_language: this needs control flow, which is not read in elixir",
        ),
        (
            ("cfg", "A.f"),
            1,
            "unsupported_language: this needs control flow, which is not read in elixir",
        ),
        (
            ("dfg", "a.ex"),
            1,
            "unsupported_language: this needs control flow, which is not read in elixir",
        ),
        (
            ("complexity", "a.ex"),
            1,
            "unsupported_language: this needs control flow, which is not read in elixir",
        ),
        (("cfg", "cart.py:Cart.size"), 1, "no_statements: cart.py:Cart.size is a field"),
        (("cfg", "nothing"), 1, "symbol_not_found: "),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_line(
    cart: Ask, words: tuple[str, ...], status: int, said: str
) -> None:
    answer = cart(*words)
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.startswith(said)


def test_blocks_lead_to_blocks(cart: Ask) -> None:
    blocks = cart("cfg", "total", "--json").result["blocks"]
    assert [block["kind"] for block in blocks[:3]] == ["entry", "exit", "body"]
    assert {exit_["to"] for block in blocks for exit_ in block["exits"]} <= {
        block["number"] for block in blocks
    }
    texts = [step["text"] for block in blocks for step in block["steps"]]
    assert {"price < 0", "rate is None", "return amount"} <= set(texts)


def test_flows_lead_from_definitions_to_uses(cart: Ask) -> None:
    flows = cart("dfg", "total", "--variable", "amount", "--json").result["flows"]["items"]
    assert [(flow["definition_line"], flow["use_line"]) for flow in flows] == [
        (11, 16),
        (11, 22),
        (16, 16),
        (16, 22),
    ]
    assert "  prices  line 6   parameter  → 13\n" in cart("dfg", "total").out


def test_where_control_flow_is_not_read_the_languages_that_have_it_are_named(cart: Ask) -> None:
    told = cart("slice", "a.ex:3").err
    assert "it is read in astro, bash, c, cpp, " in told
    assert "python" in told
    assert "docs/" not in told


def test_complexity_names_symbols_that_can_be_asked_about(cart: Ask) -> None:
    listed = cart("complexity", "--json").result
    numbers = {one["id"]: one["complexity"] for one in listed["listed"]["items"]}
    assert numbers["cart.py:total"] == 4
    assert {"cart.py:scaled", "cart.py:scaled#2", "a.cpp:n.A.f", "a.rs:Stack.top"} <= numbers.keys()
    assert listed["unread"] == 1
    for symbol in numbers:
        assert cart("cfg", symbol).status == 0
    assert [
        one["id"] for one in cart("complexity", "--above", "3", "--json").result["listed"]["items"]
    ] == ["cart.py:total"]


def test_complexity_says_how_many_files_are_behind_what_is_read(
    cart: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cart("complexity", "--json").result
    assert whole["unreached"] == 0
    largest = max(path.stat().st_size for path in Path.cwd().iterdir() if path.suffix == ".py")
    monkeypatch.setattr("tersely.capabilities.flow.complexity.MAX_READ_BYTES", largest)
    answer = cart("complexity", "--json").result
    files = sum(one["files"] for one in cart("stats", "--json").result["languages"])
    assert answer["unreached"] == files - 1
    assert {one["id"].partition(":")[0] for one in answer["listed"]["items"]} == {"cart.py"}
    said = f"the {files - 1} smallest files are behind the {largest:,} bytes that are read"
    assert said in cart("complexity").out


@pytest.mark.parametrize(
    ("place", "symbol", "left_out"),
    [
        ("cart.py:32", "cart.py:scaled", "unused"),
        ("a.rs:4", "a.rs:Stack.top", "let b"),
        ("cart.py:22", "cart.py:total", "count"),
        ("a.cpp:5", "a.cpp:n.A.f", "int c"),
    ],
)
def test_a_context_pack_shows_the_slice_of_its_target(
    cart: Ask, place: str, symbol: str, left_out: str
) -> None:
    answer = cart("context", "--slice", place, "--json").result
    assert answer["targets"] == [symbol]
    assert left_out not in answer["text"]


def test_a_context_pack_of_a_place_that_is_none_says_so(cart: Ask) -> None:
    answer: Answer = cart("context", "--slice", "cart.py:99")
    assert (answer.status, answer.out) == (2, "")
