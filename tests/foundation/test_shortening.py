"""Texts that are made short enough to be shown."""

from __future__ import annotations

import pytest

from tersely.foundation.text.shortening import KeptOutput, listed


@pytest.mark.parametrize("size", [0, 1, 5, 9, 10, 11, 15, 16, 40])
@pytest.mark.parametrize("chunk", [1, 3, 40])
def test_of_long_output_the_first_half_of_a_bound_is_kept_and_the_last(
    size: int, chunk: int
) -> None:
    data = bytes(range(size))
    kept = KeptOutput(10)
    for at in range(0, size, chunk):
        kept.add(data[at : at + chunk])
    left_out = max(0, size - 10)
    gap = f"\n… {left_out} bytes are left out here\n".encode()
    assert kept.left_out == left_out
    assert kept.content() == (data[:5] + gap + data[-5:] if left_out else data)


def test_what_is_left_out_can_be_said_otherwise() -> None:
    kept = KeptOutput(2)
    kept.add(b"abc")
    assert kept.content("[…]") == "a[…]c".encode()


def test_names_beyond_a_number_are_counted() -> None:
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(["a", "b", "c"], 1, " ") == "a and 2 more"
    assert listed([], 1) == ""
