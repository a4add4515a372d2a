"""One declaration, three projections: checks, JSON schema, command words."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.capabilities import catalogue
from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.binding import bind, bound, checked, read_words, schema
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    group,
    option,
    parameters_of,
    positional,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import frozen


class Direction(StrEnum):
    CALLERS = "callers"
    CALLEES = "callees"


@frozen
class Parameters:
    path: str = positional("where to look", role=Role.PATH)
    symbols: tuple[str, ...] = positional(
        "what to look for", default=(), role=Role.SYMBOL, metavar="SYMBOL", maximum=3
    )
    depth: int = option(2, "how far to go", minimum=0, maximum=9)
    direction: Direction | None = option(None, "which way to go", shorthand=True)
    docs: bool = option(False, "show documentation")
    checks: bool = option(True, "check first")
    include: tuple[str, ...] = option((), "also these", role=Role.PATH, metavar="PATH")


DECLARED = parameters_of(Parameters)


@frozen
class Result:
    given: tuple[object, ...]


def text(result: Result, style: Style) -> str:
    return repr(result.given)


@capability("code.find", text, "find src", fails=("busy",))
def find(
    asked: str,
    *,
    in_: str = positional("where to look"),
    more: Parameters = group(Parameters),
    kind: Direction | None = option(None, "of which kind"),
) -> Result:
    """Find
    things.

    In the order in which
    they lie.

    All of them.
    """
    return Result((asked, in_, more, kind))


def refusal(arguments: dict[str, object]) -> TerselyError:
    with pytest.raises(TerselyError) as caught:
        bind(Parameters, arguments)
    return caught.value


def misuse(*words: str) -> TerselyError:
    with pytest.raises(TerselyError) as caught:
        read_words(DECLARED, words)
    return caught.value


def test_defaults_fill_what_is_not_said() -> None:
    assert bind(Parameters, {"path": "src"}) == Parameters("src", (), 2, None, False, True, ())


def test_a_function_is_called_with_what_is_said_and_with_its_defaults() -> None:
    arguments = {"in": "a", "path": "src", "kind": "callees"}
    more = Parameters("src", (), 2, None, False, True, ())
    assert find.run("me", **bound(find.run, arguments)).given == (
        "me",
        "a",
        more,
        Direction.CALLEES,
    )
    with pytest.raises(TerselyError, match="path is missing"):
        bound(find.run, {"in": "a"})


def test_the_docstring_of_a_function_is_what_is_said_of_its_capability() -> None:
    assert find.summary == "Find things"
    assert find.description == "In the order in which they lie.\n\nAll of them."
    assert (find.name, find.examples, find.fails) == ("code.find", ("find src",), ("busy",))
    assert [one.name for one in find.parameters] == ["in", *(one.name for one in DECLARED), "kind"]
    assert find.answers is Result


def test_json_values_become_parameters() -> None:
    arguments: dict[str, object] = {
        "path": "src",
        "symbols": ["a", "b"],
        "direction": "callers",
        "include": "x.py",
    }
    made = bind(Parameters, arguments)
    assert made.symbols == ("a", "b")
    assert made.direction is Direction.CALLERS
    assert made.include == ("x.py",)  # one value stands for a list of one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "path is missing"),
        ({"path": 1}, "path must be of type string"),
        ({"path": None}, "path must be of type string"),
        ({"path": "x" * 5000}, "longer than"),
        ({"path": "a\0b"}, "NUL"),
        ({"path": "x", "depth": "2"}, "depth must be of type integer"),
        ({"path": "x", "depth": True}, "depth must be of type integer"),
        ({"path": "x", "depth": -1}, "at least 0"),
        ({"path": "x", "depth": 10}, "at most 9"),
        ({"path": "x", "docs": 1}, "docs must be of type boolean"),
        ({"path": "x", "direction": "up"}, "not one of callers, callees"),
        ({"path": "x", "symbols": ["a"] * 4}, "at most 3 values"),
        ({"path": "x", "symbols": [1]}, "symbols must be of type string"),
        ({"path": "x", "include": ["a"] * 1000}, "at most 200 values"),
    ],
)
def test_wrong_arguments_are_refused_with_a_reason(
    arguments: dict[str, object], message: str
) -> None:
    error = refusal(arguments)
    assert error.code == "invalid_argument"
    assert message in error.message


def test_an_unknown_parameter_is_refused_and_a_near_one_suggested() -> None:
    assert refusal({"path": "x", "detph": 1}).hint == "did you mean depth?"


def test_words_may_mix_options_and_places() -> None:
    words = [
        "--docs",
        "src",
        "--depth",
        "3",
        "a",
        "--include=x",
        "b",
        "--callers",
        "--include",
        "y",
    ]
    read = read_words(DECLARED, words)
    assert read == {
        "docs": True,
        "path": "src",
        "depth": 3,
        "symbols": ("a", "b"),
        "include": ("x", "y"),
        "direction": "callers",
    }


def test_after_two_dashes_every_word_is_a_place() -> None:
    assert read_words(DECLARED, ["--no-checks", "--", "-x", "--docs"]) == {
        "checks": False,
        "path": "-x",
        "symbols": ("--docs",),
    }


def test_a_text_that_begins_like_an_option_is_a_value() -> None:
    assert read_words(DECLARED, ["x", "--include", "--docs loses zeros"])["include"] == (
        "--docs loses zeros",
    )


@pytest.mark.parametrize("text", ["--docs loses zeros", "- one\n- two", "--x y=1", "-"])
def test_a_text_that_begins_like_an_option_is_a_place(text: str) -> None:
    assert read_words(DECLARED, [text, "--docs"])["path"] == text


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        ([], "invalid_argument", "PATH is missing", "where to look"),
        (
            ["x", "--depht", "1"],
            "invalid_argument",
            "unknown option --depht",
            "did you mean --depth?",
        ),
        (["x", "--other"], "invalid_argument", "unknown option --other", "--no-checks"),
        (["x", "--depth"], "usage", "--depth needs a value", "how far to go"),
        (["x", "--depth", "far"], "invalid_argument", "'far' is not a whole", "how far to go"),
        (["x", "--depth", "1_0"], "invalid_argument", "'1_0' is not a whole", "how far to go"),
        (["x", "--depth", "٣"], "invalid_argument", "'٣' is not a whole", "how far to go"),
        (["x", "--docs=yes"], "usage", "--docs takes no value", ""),
        (["x", "-d"], "invalid_argument", "unknown option -d", "two dashes"),
    ],
)
def test_misused_words_are_explained(words: list[str], code: str, message: str, hint: str) -> None:
    error = misuse(*words)
    assert error.code == code
    assert message in error.message
    assert hint in error.hint


def test_a_word_too_many_is_refused() -> None:
    @frozen
    class One:
        path: str = positional("where to look")

    with pytest.raises(TerselyError, match="unexpected word 'b'"):
        read_words(parameters_of(One), ["a", "b"])


def test_the_schema_of_every_capability_says_what_is_required_and_what_else_is_taken() -> None:
    for one in catalogue.every():
        described = schema(one.parameters)
        assert set(described) == {"type", "properties", "required", "additionalProperties"}
        assert set(described["required"]) <= set(described["properties"])


def test_the_examples_of_what_the_relay_is_asked_can_be_typed() -> None:
    typed = 0
    for one in catalogue.every(catalogue.RELAY_NAMES):
        words = catalogue.words_of(one.name).split()
        for example in map(shlex.split, one.examples):
            if example[: len(words)] == words:
                checked(one.parameters, read_words(one.parameters, example[len(words) :]))
                typed += 1
    assert typed > len(catalogue.RELAY_WORDS) // 2


def test_the_schema_says_what_the_checks_check() -> None:
    described = schema(DECLARED)
    assert described["required"] == ["path"]
    assert described["additionalProperties"] is False
    properties = described["properties"]
    assert properties["depth"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 9,
        "description": "how far to go",
        "default": 2,
    }
    assert properties["symbols"]["items"] == {"type": "string"}
    assert properties["symbols"]["maxItems"] == 3
    assert properties["direction"]["enum"] == ["callers", "callees", None]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab\0é", max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=3,
)


@given(
    st.dictionaries(
        st.sampled_from([*(parameter.name for parameter in DECLARED), "other"]), json_values
    )
)
def test_any_arguments_are_bound_or_refused(arguments: dict[str, Any]) -> None:
    try:
        made = bind(Parameters, arguments)
    except TerselyError as error:
        assert error.code == "invalid_argument"
    else:
        assert 0 <= made.depth <= 9


WORDS = ["a", "--depth", "3", "--docs", "--", "--callers", "--include", "--x", "-"]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    try:
        arguments = read_words(DECLARED, words)
    except TerselyError as error:
        assert error.code in {"usage", "invalid_argument"}
    else:
        assert set(arguments) <= {parameter.name for parameter in DECLARED}
