"""A report of coverage and one of tests, placed in the repository: what the coverage lens looks at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from tersely.code.coverage.model import (
    Coverage,
    FailedTest,
    FailureFrame,
    FileCoverage,
    Tested,
    union_of,
)
from tersely.code.coverage.naming import KnownTests
from tersely.code.coverage.remap import ReportPlaces
from tersely.code.coverage.staleness import Stale
from tersely.foundation.types import Strings, frozen, replace


@frozen
class Measured:
    """The measured runs, by paths of the repository. Failures have frames in the repository only."""

    __slots__ = ("__dict__",)  # for what is found out once

    format: str
    files: Mapping[str, FileCoverage]
    elsewhere: Strings  # paths as written of files that are not in the repository
    failures: tuple[FailedTest, ...]
    skipped: frozenset[str]
    stale: tuple[Stale, ...]
    counts_times: bool
    knows_missed: bool

    @cached_property
    def tests(self) -> frozenset[str]:
        """The tests that the report of coverage knows."""
        return frozenset(test for file in self.files.values() for test in file.tests)

    @cached_property
    def failing(self) -> frozenset[str]:
        """Of these, the ones that failed."""
        known = KnownTests(self.tests)
        return frozenset(
            test for failure in self.failures for test in known.matching_tests(failure.test)
        )

    @cached_property
    def passing(self) -> frozenset[str]:
        """Of these, the ones that ran and did not fail."""
        known = KnownTests(self.tests) if self.skipped else None
        skipped = (
            {test for name in self.skipped for test in known.matching_tests(name)}
            if known
            else set()
        )
        return self.tests - self.failing - skipped


StaleOf = Callable[[str, FileCoverage], Stale | None]


def measured(coverage: Coverage, run: Tested, places: ReportPlaces, stale_of: StaleOf) -> Measured:
    """Place a report; files that are one in the repository are one."""
    placement = places.place([file.path for file in coverage.files])
    found: dict[str, list[FileCoverage]] = defaultdict(list)
    for file in coverage.files:
        if file.path in placement.found:
            found[placement.found[file.path]].append(file)
    files = {path: _united(path, listed) for path, listed in sorted(found.items())}
    stale = (stale_of(path, file) for path, file in files.items())
    return Measured(
        coverage.format,
        files,
        placement.elsewhere,
        _placed_failures(run, places),
        run.skipped,
        tuple(one for one in stale if one is not None),
        coverage.counts_times,
        coverage.knows_missed,
    )


def _united(path: str, files: Sequence[FileCoverage]) -> FileCoverage:
    first = replace(files[0], path=path)
    if len(files) == 1:
        return first
    hits: dict[int, int] = {}
    tests: dict[str, bytes] = {}
    for file in files:
        for line, times in file.hits.items():
            hits[line] = hits.get(line, 0) + times
        for test, bits in file.tests.items():
            tests[test] = union_of(tests.get(test, b""), bits)
    return replace(first, hits=hits, tests=tests)


def _placed_failures(run: Tested, places: ReportPlaces) -> tuple[FailedTest, ...]:
    written = {frame.path for failure in run.failures for frame in failure.frames}
    found = places.place(sorted(written)).found
    return tuple(
        replace(failure, frames=tuple(_placed(failure.frames, found))) for failure in run.failures
    )


def _placed(frames: Iterable[FailureFrame], found: Mapping[str, str]) -> Iterable[FailureFrame]:
    return (FailureFrame(found[frame.path], frame.line) for frame in frames if frame.path in found)
