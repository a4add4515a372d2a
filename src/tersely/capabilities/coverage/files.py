"""`code.coverage.files`: the files of a report, the most suspicious and the most used first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, aligned, counted
from tersely.capabilities.coverage.reports import (
    Reported,
    ReportOptions,
    about,
    about_aside,
    measured_by,
)
from tersely.capabilities.declaration.declaration import capability, frozen, group
from tersely.foundation.types import Numbers

if TYPE_CHECKING:
    from tersely.code.coverage.model import FileCoverage
    from tersely.context.lenses.coverage.measured import Measured
    from tersely.workspace import Workspace


@frozen
class RankedFile:
    """One file. `missed` is None where the report does not tell what did not run."""

    path: str
    suspicion: float  # of its most suspicious line, from 0 to 1
    suspicious_lines: Numbers
    frames: int  # places on the stacks of failures
    tests: int  # that ran some of it, 0 where the report knows none
    covered: int  # lines that ran
    missed: int | None
    hits: int  # of its most used line


@frozen
class RankedFiles(Reported):
    """A page of the files, and what was read."""

    page: Page[RankedFile]


def text(found: RankedFiles, style: Style) -> str:
    """A line a file."""
    from tersely.context.lenses.candidate import ranged_lines

    knows_tests = bool(found.about.tests)
    rows = []
    for one in found.page.items:
        of_all = f" of {one.covered + one.missed}" if one.missed is not None else ""
        use = (
            counted(one.tests, "test") if knows_tests else f"{one.hits:,}×" if one.hits > 1 else ""
        )
        fault = (
            f"{one.suspicion:.2f} at {ranged_lines(one.suspicious_lines)}" if one.suspicion else ""
        )
        stack = f"{one.frames:,} on stacks" if one.frames else ""
        rows.append((one.path, f"{one.covered}{of_all} lines", use, stack, fault))
    lines = aligned(rows, [style.symbol, None, style.faint, None, style.bad], right=(1, 2))
    none = [] if lines else ["the report says nothing of this repository"]
    return "\n".join([*lines, *none, *rest_line(found.page, "file", style)])


@capability(
    "code.coverage.files",
    text,
    "rank-files --coverage-file .coverage --failures junit.xml",
    "rank-files --coverage-file lcov.info",
    aside=about_aside,
    cacheable=False,
)
def run(
    workspace: Workspace,
    *,
    report: ReportOptions = group(ReportOptions),
    limit: int = limit_option(20, "files"),
    offset: int = offset_option("files"),
) -> RankedFiles:
    """Files of a coverage report, the most suspicious and the most executed first.

    Where the report knows what each failed test ran, files are ordered by Ochiai's coefficient of
    their most suspicious lines, which are listed. Then they are ordered by their places on the
    stacks of failures, and by use.
    """
    found, _ = measured_by(workspace, report)
    frames = Counter(frame.path for failure in found.failures for frame in failure.frames)
    listed = [_ranked(path, file, found, frames[path]) for path, file in found.files.items()]
    listed.sort(
        key=lambda one: (-one.suspicion, -one.frames, -one.tests, -one.hits, -one.covered, one.path)
    )
    return RankedFiles(about(found), page_of(listed, limit, offset))


def _ranked(path: str, file: FileCoverage, found: Measured, frames: int) -> RankedFile:
    from tersely.code.coverage.spectrum import spectrum

    suspicion = 0.0
    worst: Numbers = ()
    if found.failing:
        of_lines = spectrum(file, found.failing, found.passing).suspicions().tolist()
        suspicion = max(of_lines, default=0.0)
        worst = tuple(line for line, value in enumerate(of_lines) if value and value == suspicion)
    covered = len(file.covered)
    missed = len(file.missed) if found.knows_missed else None
    most = max(file.hits.values(), default=0) if found.counts_times else min(covered, 1)
    return RankedFile(
        path, round(suspicion, 4), worst, frames, len(file.tests), covered, missed, most
    )
