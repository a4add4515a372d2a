"""JSON Patch as RFC 6902 has it, within bounds: all operations or none, and no patch that is given
is touched.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.relay.encoding import canonical, encode
from tersely.relay.threads.patch import apply

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~-0", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
TOKENS = st.text("ab/~-01", max_size=2)
POINTERS = st.lists(TOKENS, max_size=3).map(
    lambda tokens: "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)
)
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from("add remove replace move copy test".split()),
            "path": POINTERS,
            "from": POINTERS,
            "value": VALUES,
        }
    ),
    max_size=6,
)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def applied(document: Any, operations: Any) -> Any:
    return apply(encode(document), operations)


@given(VALUES, OPERATIONS)
def test_a_patch_stays_as_it_was_and_fails_with_one_code(
    document: Any, operations: list[dict[str, Any]]
) -> None:
    before = canonical(operations)
    try:
        applied(document, operations)
    except TerselyError as error:
        assert error.code == "patch_failed"
    assert canonical(operations) == before


@given(VALUES, OPERATIONS, OPERATIONS)
def test_two_patches_are_one(
    document: Any, first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    def run(*patches: list[dict[str, Any]]) -> Any:
        state = document
        try:
            for patch in patches:
                state = applied(state, patch)
        except TerselyError:
            return "refused"
        return [state]

    assert canonical(run(first, second)) == canonical(run([*first, *second]))


@given(VALUES, VALUES)
def test_what_was_added_is_found_and_can_be_taken_away_again(document: Any, value: Any) -> None:
    grown = applied({"kept": document}, [{"op": "add", "path": "/new~1one", "value": value}])
    applied(grown, [{"op": "test", "path": "/new~1one", "value": value}])
    rest = applied(grown, [{"op": "remove", "path": "/new~1one"}])
    assert canonical(rest) == canonical({"kept": document})


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"op": "add"}, "a patch is an array"),
        ("[]", "a patch is an array"),
        (None, "a patch is an array"),
        ([1], "must be an object"),
        ([{"op": "spam", "path": ""}], "Unknown operation 'spam'"),
        ([{"op": ["add"], "path": ""}], "op must be a string"),
        ([{"op": "add", "value": 1}], "must have a 'path'"),
        ([{"op": "add", "path": ["a"], "value": 1}], "Invalid 'path'"),
        ([{"op": "add", "path": "/a"}], "add needs 'value'"),
        ([{"op": "add", "path": "a", "value": 1}], "must start with /"),
        ([{"op": "add", "path": "/~2", "value": 1}], "invalid escape ~2"),
        ([{"op": "copy", "path": "/a"}], "copy needs 'from'"),
        ([{"op": "copy", "path": "/a", "from": None}], "'from' is a JSON Pointer"),
        ([{"op": "move", "path": "/a", "from": "/~"}], "invalid escape ~"),
        (
            [{"op": "remove", "path": "/a"}, {"op": "test", "path": "/a"}],
            "operation 1: test needs 'value'",
        ),
        ([{"op": "test", "path": "", "value": 1}] * 2_000, "at most 1,000 operations"),
        ([{"op": "remove", "path": "/a" * 1_000_000}], "nested at most 64 levels"),
        ([{"op": "copy", "path": "/a", "from": "/a" * 1_000_000}], "nested at most 64 levels"),
        ([{"op": "add", "path": "/a", "value": nested(64)}], "nested at most 64 levels"),
        ([{"op": "test", "path": "/a", "value": nested(100_000)}], "nested at most 64 levels"),
    ],
)
def test_what_is_no_patch_says_why(patch: Any, why: str) -> None:
    with pytest.raises(TerselyError) as caught:
        applied({"a": 1}, patch)
    assert caught.value.code == "invalid_patch"
    assert why in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("document", "operation", "why"),
    [
        ([1, 2], {"op": "add", "path": "/3", "value": 0}, "outside of list"),
        ([1, 2], {"op": "remove", "path": "/-"}, "invalid array index '-'"),
        ([1, 2], {"op": "remove", "path": "/-1"}, "not a valid sequence index"),
        ([1, 2], {"op": "replace", "path": "/01", "value": 0}, "not a valid sequence index"),
        ([1, 2], {"op": "replace", "path": "/1e0", "value": 0}, "not a valid sequence index"),
        ([1, 2], {"op": "add", "path": "/٠", "value": 1}, "not a valid sequence index"),
        ([1, 2], {"op": "add", "path": "/²", "value": 1}, "not a valid sequence index"),
        ([1, 2], {"op": "add", "path": "/1\n", "value": 1}, "not a valid sequence index"),
        ([1, 2], {"op": "remove", "path": "/" + "9" * 50}, "no such member or element"),
        ([1, 2], {"op": "remove", "path": "/" + "9" * 5_000}, "Invalid sequence index"),
        ([1, 2], {"op": "copy", "from": "/-", "path": "/0"}, "no such member or element"),
        ([1, 2], {"op": "move", "from": "/-", "path": "/0"}, "no such member or element"),
        ([1, 2], {"op": "test", "path": "/-", "value": 2}, "another"),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 0}, "no such member"),
        ({"a": 1}, {"op": "move", "from": "/b", "path": "/b"}, "member 'b' not found"),
        ({"a": 1}, {"op": "test", "path": "/b", "value": None}, "another"),
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}, "another"),
        ({"a": [0, {"b": 1}]}, {"op": "test", "path": "/a", "value": [0, {"b": True}]}, "another"),
        ({"a": [0]}, {"op": "test", "path": "/a", "value": [False]}, "another"),
        ({"a": "1"}, {"op": "test", "path": "/a", "value": 1}, "another"),
        ({"~1": 1}, {"op": "remove", "path": "/~1"}, "no such member"),
        ({"a": {"b": 1}}, {"op": "move", "from": "/a", "path": "/a/b"}, "own children"),
        ({"a": 1}, {"op": "remove", "path": ""}, "whole document"),
        ("text", {"op": "add", "path": "/a", "value": 0}, "non-container"),
        ("text", {"op": "copy", "from": "/0", "path": ""}, "non-container"),
        (None, {"op": "add", "path": "/a", "value": 0}, "does not support indexing"),
    ],
)
def test_what_does_not_fit_the_document_is_named(
    document: Any, operation: dict[str, Any], why: str
) -> None:
    with pytest.raises(TerselyError) as caught:
        applied(document, [operation])
    assert caught.value.code == "patch_failed"
    assert why in caught.value.message


@pytest.mark.parametrize(
    ("document", "operations", "after"),
    [
        ([1], [{"op": "add", "path": "/-", "value": 2}], [1, 2]),
        ([1], [{"op": "add", "path": "/1", "value": 2}], [1, 2]),
        ({"-": 1}, [{"op": "replace", "path": "/-", "value": 2}], {"-": 2}),
        ({"01": 1}, [{"op": "replace", "path": "/01", "value": 2}], {"01": 2}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
        ({"~1": 1, "/": 2}, [{"op": "remove", "path": "/~01"}], {"/": 2}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": [1]}], [1]),
        ({"a": [1, 2.0]}, [{"op": "test", "path": "/a", "value": [1.0, 2]}], {"a": [1, 2.0]}),
        ({"a": 1}, [{"op": "move", "from": "", "path": ""}], {"a": 1}),
        ([1, 2, 3], [{"op": "move", "from": "/0", "path": "/2"}], [2, 3, 1]),
        (
            {"a": [1]},
            [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/-", "value": 2}],
            {"a": [1], "b": [1, 2]},
        ),
    ],
)
def test_a_patch_that_fits_is_applied(
    document: Any, operations: list[dict[str, Any]], after: Any
) -> None:
    assert canonical(applied(document, operations)) == canonical(after)


def test_a_value_that_is_added_and_changed_later_stays_as_it_was_in_the_patch() -> None:
    value: list[int] = []
    patch = [{"op": "add", "path": "/a", "value": value}, {"op": "add", "path": "/a/-", "value": 1}]
    assert applied({}, patch) == {"a": [1]}
    assert value == []


def test_copies_cannot_double_a_document_for_ever() -> None:
    doubling = [{"op": "copy", "from": "", "path": path} for path in ("/a", "/b") * 30]
    with pytest.raises(TerselyError, match="the copies come to more than"):
        applied({"x": "y" * 100_000}, doubling)


def test_moves_do_not_read_a_large_value_for_ever() -> None:
    there, back = ("/a", "/b"), ("/b", "/a")
    moves = [{"op": "move", "from": source, "path": path} for source, path in (there, back) * 500]
    assert applied({"a": [0] * 1_000}, moves) == {"a": [0] * 1_000}
    with pytest.raises(TerselyError, match="what is copied and moved comes to more than"):
        applied({"a": [0] * 100_000}, moves)


@pytest.mark.parametrize(
    "deeper",
    [
        [{"op": "add", "path": "/a" * depth, "value": {}} for depth in range(1, 100)],
        [{"op": "copy", "from": "", "path": "/a" * depth} for depth in range(1, 60)],
        [
            {"op": "add", "path": "/a", "value": nested(40)},
            {"op": "add", "path": "/b", "value": nested(40)},
            {"op": "move", "from": "/a", "path": "/b" + "/0" * 30},
        ],
    ],
)
def test_documents_are_not_nested_for_ever(deeper: list[dict[str, Any]]) -> None:
    with pytest.raises(TerselyError, match="nested at most"):
        applied({}, deeper)


def test_what_a_message_quotes_is_short() -> None:
    with pytest.raises(TerselyError) as caught:
        applied({"x" * 100_000: 1}, [{"op": "remove", "path": "/" + "y" * 100_000 + "/z"}])
    assert len(caught.value.message) < 600
