"""The files of tests that a change may break, the likeliest first.

What speaks for a file has no common measure: how near its nearest test is by calls, the share of
its tests that get there, which names of the change it writes, whether it stands beside the change,
and which words of it are in its path. So the files are ranked by each, and the ranks are fused:
reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). The graph need not know a file that
writes the names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tersely.code.languages.runners.runner import SelectedTest
from tersely.context.lenses.test_impact.reach import Affected
from tersely.foundation.types import Sums, Weights

# Chosen by the files that fail when commits of repositories on the fit list are taken back
# (`bench/failing_tests`).
FUSED_OFFSET = 5  # of a rank, by which the first of one list does not outdo good places in several
STEP_DOUBT = 0.3  # by which each step on the way from a test says less


class FileOfTests(NamedTuple):
    """A file of tests, and those of its tests that reach the change by calls, the surest first."""

    file: str
    tests: Sequence[Affected]


def ranked(
    found: Iterable[Affected],
    naming: Weights,
    beside: Sequence[Weights],
    size_of: Callable[[str], int],
) -> list[FileOfTests]:
    """The files of some tests and those that write names of the change, the likeliest first.

    `naming` says how much the names in a file tell; `beside` what else speaks for a file, of whichever
    there are; `size_of` how many tests a file has.
    """
    tests: dict[str, list[Affected]] = {path: [] for path in naming}
    for one in found:
        tests.setdefault(one.test.path, []).append(one)
    near = {path: max(map(_nearness, of), default=0.0) for path, of in tests.items()}
    shares = {
        path: sum(one.certainty for one in of) / max(1, size_of(path)) for path, of in tests.items()
    }
    worth: Sums = defaultdict(float)
    for worths in (near, shares, naming, *beside):
        ranks = _ranks({path: worths.get(path, 0.0) for path in tests})
        for path, rank in ranks.items():
            worth[path] += 1 / (FUSED_OFFSET + rank)
    ordered = sorted(tests, key=lambda path: (-round(worth[path], 9), path))
    return [FileOfTests(path, sorted(tests[path], key=order)) for path in ordered]


def _nearness(affected: Affected) -> float:
    return affected.certainty / (1 + STEP_DOUBT * len(affected.steps))


def order(affected: Affected) -> tuple[float, int, SelectedTest]:
    """What sorts the surest first, and of these the shortest ways."""
    return -affected.certainty, len(affected.steps), affected.test


def _ranks(worths: Weights) -> Sums:
    """The rank of each from 0, the best first; those that are equal share the middle of their
    ranks.
    """
    middles: dict[float, float] = {}
    start = 0
    for worth, times in sorted(Counter(worths.values()).items(), reverse=True):
        middles[worth] = start + (times - 1) / 2
        start += times
    return {path: middles[worth] for path, worth in worths.items()}
