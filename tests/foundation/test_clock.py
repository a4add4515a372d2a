"""Time only goes forward."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.clock import SteadyClock, Stopwatch


def test_a_stopwatch_never_runs_backwards() -> None:
    watch = Stopwatch()
    readings = [watch.seconds() for _ in range(100)]
    assert readings == sorted(readings)
    assert readings[0] >= 0


@given(st.lists(st.tuples(st.floats(0, 1_000), st.floats(-100_000, 100_000)), max_size=50))
def test_a_steady_clock_never_goes_back_and_never_stands_still(
    steps: list[tuple[float, float]],
) -> None:
    wall, elapsed = [1_700_000_000.0], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: elapsed[0])
    before = clock()
    for seconds, set_by in steps:
        elapsed[0] += seconds
        wall[0] += seconds + set_by
        now = clock()
        assert now >= max(before + seconds - 0.001, wall[0] - 0.001)
        before = now
