"""The lines of a change that ran, for `diff-context --coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.coverage.reports import (
    About,
    ReportOptions,
    about,
    about_lines,
    measured_by,
)
from tersely.capabilities.declaration.declaration import frozen
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_LISTED_FILES
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.context.lenses.candidate import View
    from tersely.context.lenses.coverage.changes import UnrunLines
    from tersely.workspace import Workspace


@frozen
class ChangeCoverage:
    """The coverage of a change, code of tests aside. `lines` are those that could have run."""

    about: About
    lines: int
    ran: int
    not_run: tuple[UnrunLines, ...]
    tests: Strings  # that ran some of it, what says most first
    outside: Strings  # changed files of which the report says nothing


def with_coverage(
    workspace: Workspace, view: View, path: str
) -> tuple[View, ChangeCoverage | None]:
    """Join a report of coverage to the view of a change; the view itself without a report."""
    if not path:
        return view, None
    from tersely.context.lenses.coverage.changes import joined
    from tersely.context.lenses.coverage.rank import definition_of_test

    found, _ = measured_by(workspace, ReportOptions(coverage_file=path))
    store = workspace.engine.store
    view, ran = joined(
        view,
        found,
        lambda name: definition_of_test(name, store.symbols_named),
        lambda one: _statement_lines(workspace, one),
    )
    return view, ChangeCoverage(
        about(found), ran.lines, ran.ran, ran.not_run, ran.tests, ran.outside
    )


def _statement_lines(workspace: Workspace, path: str) -> frozenset[int]:
    """The lines on which statements begin, documentation aside; none where the language is not read
    so far.
    """
    from tersely.code.flow.lines import lines_of

    engine = workspace.engine
    symbols = engine.store.symbols_of(path)
    source = engine.source(path)
    try:
        routines = engine.flow.routines(path, symbols[0].language)
    except (TerselyError, IndexError):
        return frozenset()
    found = {
        min(lines_of(one))
        for routine in routines.routines
        for one in routine.statements[1:]
        if lines_of(one)
    }
    for symbol in symbols:
        first = source.count(b"\n", 0, symbol.doc_start_byte) + 1
        found.difference_update(
            range(first, source.count(b"\n", 0, symbol.doc_end_byte) + 2)
            if symbol.doc_end_byte
            else ()
        )
    return frozenset(found)


def change_lines(told: ChangeCoverage, style: Style) -> list[str]:
    """The same for people."""
    share = (
        f"tests ran {told.ran} of {counted(told.lines, 'changed line')}"
        if told.lines
        else "no changed line can run"
    )
    tests = f", {counted(len(told.tests), 'test')}" if told.tests else ""
    lines = [
        *about_lines(told.about, style),
        (style.good if told.ran == told.lines else style.doubtful)(share + tests),
    ]
    if told.outside:
        listed = ", ".join(told.outside[:MAX_LISTED_FILES])
        lines.append(
            style.doubtful(
                f"the report says nothing of {counted(len(told.outside), 'changed file')}: {listed}"
            )
        )
    return lines
