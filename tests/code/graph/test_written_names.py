"""Names that expressions write, whatever parts the expressions share."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tersely.code.expressions import CALL, EITHER, MEMBER, VERSION_MARK
from tersely.code.syntax.mentions import displays_in, written_names

NAMES = st.sampled_from(["a", "b", "c", f"d{VERSION_MARK}2"])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(st.just(MEMBER), inner, NAMES),
        st.tuples(st.just(CALL), inner, st.lists(inner, max_size=3).map(tuple), st.just(())),
        st.tuples(st.just(EITHER), st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
)


def names_of(expression: Any) -> set[str]:
    """The names in an expression, by looking at every part."""
    if isinstance(expression, str):
        return {expression.partition(VERSION_MARK)[0]}
    return (
        {name for part in expression for name in names_of(part)}
        if isinstance(expression, tuple)
        else set()
    )


@given(EXPRESSIONS)
def test_all_names_are_found(expression: Any) -> None:
    assert written_names(expression)[0] == names_of(expression)


def test_parts_that_are_shared_many_times_are_read_once() -> None:
    expression: Any = (MEMBER, "a", "b")
    for _ in range(100):  # 2 to the power of 100 parts to who follows each
        expression = (EITHER, (expression, expression))
    assert written_names(expression) == ({"a", "b"}, {"b"})
    assert list(displays_in(expression)) == []
