"""The report of coverage that is meant, for every capability that asks of one: the options, and
reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, clipped, counted
from tersely.capabilities.declaration.declaration import Role, frozen, option
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_LISTED_FILES
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.code.coverage.files import CoverageReport
    from tersely.code.coverage.model import FileCoverage
    from tersely.code.coverage.staleness import Stale
    from tersely.context.lenses.coverage.measured import Measured
    from tersely.workspace import Workspace

MAX_PATH_MAPS = 20
FORMATS = "coverage.py data or JSON, lcov, coverprofile, Cobertura, JaCoCo"


@frozen
class ReportOptions:
    """The report, and how its paths begin here."""

    coverage_file: str = option(
        "",
        f"a report of coverage: {FORMATS}; the last run if none",
        role=Role.REPORT,
        metavar="FILE",
    )
    failures: Strings = option(
        (),
        "what failed: JUnit XML, or what a test runner printed",
        role=Role.REPORT,
        metavar="FILE",
    )
    map: Strings = option(
        (),
        "that paths which begin with FROM there begin with TO here",
        metavar="FROM=TO",
        maximum=MAX_PATH_MAPS,
    )


@frozen
class About:
    """The report that was read, and what it does not cover."""

    format: str
    files: int  # of the repository
    elsewhere: Strings  # that are not in it, or cannot be told apart
    tests: int  # that the report knows by name
    failed: Strings
    unmatched: Strings  # failed tests that the report of coverage does not know
    stale: tuple[Stale, ...]


@frozen
class Reported:
    """An answer from a report."""

    about: About


def measured_by(workspace: Workspace, options: ReportOptions) -> tuple[Measured, bool]:
    """Read and place a report; and whether somebody was asked which tests failed."""
    from tersely.code.coverage.files import latest_run, read_report_files

    directory = workspace.engine.store.directory
    if options.coverage_file:
        place = workspace.report_place(options.coverage_file)
    else:
        last = latest_run(directory) if directory is not None else None
        if last is None:
            raise TerselyError(
                "usage", "no coverage report found", "name one with --coverage-file FILE"
            )
        place = last
    report = read_report_files(place, [workspace.report_place(path) for path in options.failures])
    return placed(workspace, report, place, options.map), report.tells_failures


def placed(
    workspace: Workspace, report: CoverageReport, place: Path, maps: Sequence[str]
) -> Measured:
    """A report in the repository."""
    from tersely.code.coverage.remap import ReportPlaces, parse_map
    from tersely.code.coverage.staleness import staleness
    from tersely.context.lenses.coverage.measured import measured

    root, paths = workspace.root, [file.path for file in workspace.engine.store.files()]
    around = (
        place.parent.relative_to(root).as_posix()
        if place.is_relative_to(root) and place != root
        else ""
    )
    # a run is about the repository, not about its folder
    is_apart = around == "." or around.startswith(".tersely")
    places = ReportPlaces(
        paths, str(root), [parse_map(one) for one in maps], "" if is_apart else around
    )

    def stale_of(path: str, file: FileCoverage) -> Stale | None:
        try:
            modified_ns = (root / path).stat().st_mtime_ns
            text = workspace.source(path)
        except (OSError, TerselyError):
            return None
        return staleness(path, file, text, modified_ns, report.written_ns, report.hashes)

    found = measured(report.coverage, report.tested, places, stale_of)
    # Templates and the like are measured by some tools; that they are no code here is no news.
    elsewhere = (
        path
        for path in found.elsewhere
        if not (path.startswith(f"{root}/") and Path(path).is_file())
    )
    return replace(found, elsewhere=tuple(elsewhere))


def about(found: Measured) -> About:
    """The facts that are to be said of a report."""
    from tersely.code.coverage.naming import KnownTests

    known = KnownTests(found.tests)
    failed = tuple(failure.test for failure in found.failures)
    unmatched = tuple(test for test in failed if found.tests and not known.matching_tests(test))
    return About(
        found.format,
        len(found.files),
        found.elsewhere,
        len(found.tests),
        failed,
        unmatched,
        found.stale,
    )


def about_lines(told: About, style: Style) -> list[str]:
    """The same for people: one line, and one for each thing to take care of."""
    tests = f", {counted(told.tests, 'test')}" if told.tests else ""
    failed = f", {len(told.failed):,} failed" if told.failed else ""
    lines = [
        style.faint(
            f"{told.format}: {counted(told.files, 'file')} of the repository{tests}{failed}"
        )
    ]
    if told.elsewhere:
        names = _listed(told.elsewhere)
        hint = "" if told.files else "; --map FROM=TO says where they are here"
        lines.append(style.doubtful(f"not in the repository: {names}{hint}"))
    if told.unmatched:
        lines.append(
            style.doubtful(f"failed, but not in the report of coverage: {_listed(told.unmatched)}")
        )
    if told.stale:
        names = _listed([f"{one.path} ({one.why})" for one in told.stale])
        lines.append(style.doubtful(f"perhaps out of date: {names}"))
    return lines


def about_aside(found: Reported, style: Style) -> str:
    """The lines beside an answer: what was read, and what to take care of."""
    return "\n".join(about_lines(found.about, style))


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - MAX_LISTED_FILES:,} more" if len(names) > MAX_LISTED_FILES else ""
    return ", ".join(map(clipped, names[:MAX_LISTED_FILES])) + more
