"""How thoroughly properties are searched: in the first tier of the tests, and in the slow one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

FAST_EXAMPLES = 15
DEEP_EXAMPLES = 100
LEAST_DEEP, MOST_DEEP = 50, 200


def examples(most: int = LEAST_DEEP, *, fast: int = FAST_EXAMPLES) -> int:
    """How many examples a property tries whose examples are dear: in the first tier `fast` of them, in
    the slow one no more than `most`.
    """
    assert LEAST_DEEP <= most <= MOST_DEEP
    tier = settings.default.max_examples if settings.default else DEEP_EXAMPLES
    return min(fast, tier) if tier < LEAST_DEEP else min(most, tier)


def mostly_slow(values: Iterable[Any], *fast: Any) -> list[Any]:
    """The parameters of a sweep: the first tier takes those of `fast`, the slow one all."""
    return [
        value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values
    ]
