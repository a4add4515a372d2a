"""A budget is filled by one rule: the longest beginning, then what still has room."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.text.tokens import filled


@given(st.lists(st.integers(0, 50)), st.integers(0, 300), st.integers(0, 10))
def test_as_many_as_fit_are_chosen_in_their_order(
    sizes: list[int], budget: int, tries: int
) -> None:
    parts = list(enumerate(sizes))

    def tokens(chosen: Sequence[tuple[int, int]]) -> int:
        return sum(size for _, size in chosen)

    chosen = filled(parts, tokens, budget, tries)
    assert tokens(chosen) <= budget
    assert chosen == sorted(chosen)
    begun = next((at for at in range(len(parts)) if tokens(parts[: at + 1]) > budget), len(parts))
    assert chosen[:begun] == parts[:begun]
    tried = [part for part in parts[begun : begun + tries] if part not in chosen]
    assert all(tokens([*chosen, part]) > budget for part in tried)
    assert set(chosen) <= set(parts[: begun + tries])
