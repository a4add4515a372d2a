"""JSON Patch as RFC 6902 has it: all operations or none, and nothing that was given is touched."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.relay.patch import apply, same

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~-0", max_size=2), inner, max_size=3),
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


@given(VALUES, OPERATIONS)
def test_a_patch_leaves_what_it_was_given_as_it_was(document: Any, operations: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(document)
    try:
        after = apply(document, operations)
    except TerselyError as error:
        assert error.code == "patch_failed"
    else:
        json.dumps(after)
    assert same(document, before)


@given(VALUES, OPERATIONS, OPERATIONS)
def test_two_patches_are_one(document: Any, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    def run(*patches: list[dict[str, Any]]) -> Any:
        state = document
        try:
            for patch in patches:
                state = apply(state, patch)
        except TerselyError:
            return "refused"
        return [state]

    assert same(run(first, second), run([*first, *second]))


@given(VALUES, VALUES)
def test_what_was_added_is_found_and_can_be_taken_away_again(document: Any, value: Any) -> None:
    grown = apply({"kept": document}, [{"op": "add", "path": "/new~1one", "value": value}])
    apply(grown, [{"op": "test", "path": "/new~1one", "value": value}])
    assert same(apply(grown, [{"op": "remove", "path": "/new~1one"}]), {"kept": document})


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"op": "add"}, "a patch is an array"),
        ([1], "an operation is an object"),
        ([{"op": "spam", "path": ""}], "op is one of"),
        ([{"op": "add", "path": "/a"}], "add needs a value"),
        ([{"op": "add", "path": "a", "value": 1}], "a pointer begins with /"),
        ([{"op": "add", "path": "/~2", "value": 1}], "in a pointer ~ is written ~0"),
        ([{"op": "copy", "path": "/a"}], "from is a JSON Pointer"),
        ([{"op": "test", "path": "", "value": 1}] * 2_000, "at most 1,000 operations"),
    ],
)
def test_what_is_no_patch_says_why(patch: Any, why: str) -> None:
    with pytest.raises(TerselyError) as caught:
        apply({}, patch)
    assert caught.value.code == "invalid_patch"
    assert why in caught.value.message


@pytest.mark.parametrize(
    ("document", "operation", "why"),
    [
        ([1, 2], {"op": "add", "path": "/3", "value": 0}, "no place 3"),
        ([1, 2], {"op": "remove", "path": "/-"}, "no index"),
        ([1, 2], {"op": "replace", "path": "/01", "value": 0}, "no index"),
        ([1, 2], {"op": "test", "path": "/٠", "value": 1}, "no index"),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 0}, "no member 'b'"),
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}, "another"),
        ({"a": {"b": 1}}, {"op": "move", "from": "/a", "path": "/a/b"}, "into itself"),
        ("text", {"op": "add", "path": "/a", "value": 0}, "neither object nor array"),
    ],
)
def test_what_does_not_fit_the_document_is_named(document: Any, operation: dict[str, Any], why: str) -> None:
    with pytest.raises(TerselyError) as caught:
        apply(document, [operation])
    assert caught.value.code == "patch_failed"
    assert why in caught.value.message


def test_copies_cannot_double_a_document_for_ever() -> None:
    doubling = [{"op": "copy", "from": "", "path": path} for path in ("/a", "/b") * 30]
    with pytest.raises(TerselyError, match="the copies come to more than"):
        apply({"x": "y" * 100}, doubling)


def test_documents_are_not_nested_for_ever() -> None:
    deeper = [{"op": "add", "path": "/a" * depth, "value": {}} for depth in range(1, 100)]
    with pytest.raises(TerselyError, match="nested at most"):
        apply({}, deeper)


def test_numbers_are_equal_by_value() -> None:
    assert same({"a": [1, 2.0]}, {"a": [1.0, 2]})
    assert not same(0, False)
    assert not same({"a": 1}, {"a": 1, "b": 2})
