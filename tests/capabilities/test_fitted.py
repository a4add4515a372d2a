from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.capabilities.answers.reply import fitted
from tersely.capabilities.answers.text import PLAIN, Style
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.tokens import Tokenizer

TOKENIZER = Tokenizer()


def text(rows: list[int], style: Style) -> str:
    return "\n".join([f"{len(rows)} rows", *("word " * words for words in rows)])


def tokens(rows: list[int]) -> int:
    return TOKENIZER.count(text(rows, PLAIN) + "\n")


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(1, 30), max_size=30),
    st.integers(1, 300),
    st.integers(0, 1),
)
def test_as_many_rows_are_shown_as_have_room(rows: list[int], budget: int, least: int) -> None:
    numbers = range(min(least, len(rows)), len(rows) + 1)
    try:
        found = fitted(lambda number: rows[:number], text, numbers, budget, TOKENIZER)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        assert tokens(rows[: numbers[0]]) > budget
        return
    assert tokens(found) <= budget
    assert found == rows or tokens(rows[: len(found) + 1]) > budget


def test_who_asks_for_too_little_is_told_how_much_it_takes() -> None:
    with pytest.raises(TerselyError, match=r"the least answer takes \d+ tokens; the budget is 3"):
        fitted(lambda number: [9] * number, text, range(1, 4), 3, TOKENIZER)
