"""The time that something takes."""

from __future__ import annotations

from tersely.foundation.clock import Stopwatch


def test_a_stopwatch_never_runs_backwards() -> None:
    watch = Stopwatch()
    readings = [watch.seconds() for _ in range(100)]
    assert readings == sorted(readings)
    assert readings[0] >= 0
