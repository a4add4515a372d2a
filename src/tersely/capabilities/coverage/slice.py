"""`code.coverage.slice`: one file, cut down to what ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style
from tersely.capabilities.coverage.reports import (
    Reported,
    ReportOptions,
    about,
    about_aside,
    measured_by,
)
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SHOWN_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tersely.code.coverage.model import FileCoverage
    from tersely.context.lenses.coverage.measured import Measured
    from tersely.workspace import Workspace

RAN, MISSED = "+", "-"


@frozen
class SlicedLine:
    """One line of the file. `hits` is how often it ran, None for one that the report says nothing
    of.
    """

    number: int
    hits: int | None
    text: str


@frozen
class CoverageSlice(Reported):
    """The lines of one file that ran, in order."""

    path: str
    test: str
    lines: tuple[SlicedLine, ...]
    of_lines: int  # that the file has
    left_out: int  # lines beyond the bound of an answer


def text(found: CoverageSlice, style: Style) -> str:
    """The lines as they stand; a gap says which ones it leaves out, so that numbers before each
    would say no more.
    """
    of_test = f" of {found.test}" if found.test else ""
    heads = [
        style.symbol(found.path)
        + style.faint(f"  {len(found.lines)} of {found.of_lines} lines{of_test}")
    ]
    is_mixed = any(line.hits is None or line.hits <= 0 for line in found.lines)
    last = 0
    for line in found.lines:
        if line.number > last + 1:
            heads.append(style.faint(f"⋯ {lines_text(last + 1, line.number - 1)}"))
        mark = (
            "" if not is_mixed else " " if line.hits is None else RAN if line.hits > 0 else MISSED
        )
        heads.append(f"{mark}{line.text}".rstrip())
        last = line.number
    return "\n".join(
        [*heads, *([style.doubtful(f"… {found.left_out:,} more lines")] if found.left_out else [])]
    )


@capability(
    "code.coverage.slice",
    text,
    "coverage-slice src/app.py --coverage-file .coverage --test test_login",
    "coverage-slice src/app.py --coverage-file lcov.info --missed",
    aside=about_aside,
    cacheable=False,
)
def run(
    workspace: Workspace,
    *,
    file: str = positional("a file of the repository", role=Role.FILE),
    report: ReportOptions = group(ReportOptions),
    hit_lines_only: bool = option(
        True, "leave out what did not run; without it all lines are shown, marked + and -"
    ),
    test: str | None = option(
        None, "only what this test ran, where the report knows", metavar="NAME"
    ),
    missed: bool = option(False, "the lines that did not run instead"),
) -> CoverageSlice:
    """One file reduced to the lines that ran.

    The lines that a report of coverage says have run, by all tests or by one; ⋯ 3-7 stands for
    lines that are left out. --missed shows those that have not run, --no-hit-lines-only the whole
    file, with + before lines that ran and - before those that did not.
    """
    found, _ = measured_by(workspace, report)
    lines = workspace.source(file).decode("utf-8", "replace").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    measured = found.files.get(file)
    if measured is None:
        raise TerselyError("not_measured", f"no coverage data for {file}", "rank-files lists files")
    hits = dict(measured.hits) if test is None else _of_test(measured, test, found)
    if missed:
        if not found.knows_missed:
            raise TerselyError(
                "not_measured",
                f"{found.format} has no data on lines that did not run",
                "use a report that does",
            )
        hits = {line: times for line, times in hits.items() if times <= 0}
    wanted: Sequence[int] = range(1, len(lines) + 1)
    if missed:
        wanted = [line for line in wanted if line in hits]
    elif hit_lines_only:
        wanted = [line for line in wanted if hits.get(line, 0) > 0]
    shown = tuple(
        SlicedLine(line, hits.get(line), lines[line - 1].rstrip("\r"))
        for line in wanted[:MAX_SHOWN_LINES]
    )
    left_out = max(0, len(wanted) - len(shown))
    return CoverageSlice(about(found), file, test or "", shown, len(lines), left_out)


def _of_test(file: FileCoverage, test: str, found: Measured) -> dict[int, int]:
    from tersely.code.coverage.model import lines_of_bits
    from tersely.code.coverage.naming import KnownTests

    known = KnownTests(found.tests).matching_tests(test)
    if not known:
        raise TerselyError(
            "not_measured",
            f"no test {test!r} in the report",
            "the report must be recorded with test contexts",
        )
    return {line: 1 for one in known for line in lines_of_bits(file.tests.get(one, b""))}
