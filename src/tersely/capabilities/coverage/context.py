"""`code.coverage.context`: what failed, what only failing tests ran, and what ran most, within a
token budget.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import budget_of
from tersely.capabilities.answers.text import Style
from tersely.capabilities.coverage.reports import (
    About,
    ReportOptions,
    about,
    about_lines,
    measured_by,
    placed,
)
from tersely.capabilities.declaration.declaration import (
    Effect,
    budget_option,
    capability,
    frozen,
    group,
    option,
)
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Packed,
    PackedSymbol,
    Packing,
    answered,
    check,
    counted_text,
    packed,
    session_lines,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import by_name, replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tersely.code.symbols import Edge, Symbol
    from tersely.context.lenses.candidate import View
    from tersely.context.lenses.coverage.measured import Measured
    from tersely.context.pack.model import Pack
    from tersely.context.pack.texts import Texts
    from tersely.workspace import Workspace

MAX_FAILURE_TARGETS = 8  # failed tests, and suspicious functions, that one pack is about
TOKENS_A_TEST = 500  # of the budget, for each failed test that is shown before anything else
TOKENS_A_SUSPECT = 300  # for each function that is suspicious


@frozen
class CoverageContextParameters:
    """The report or the program, how much to tell of it, in which form."""

    report: ReportOptions = group(ReportOptions)
    run: str = option(
        "",
        "a program to run first, for its coverage and its failures; without a shell, from the root",
        metavar="COMMAND",
        effect=Effect.EXECUTE,
    )
    failures_only: bool = option(False, "only what has to do with tests that failed")
    budget: int | None = budget_option()
    packing: Packing = group(Packing)


@frozen
class RankedSymbol(PackedSymbol):
    """One symbol of the pack, with what the report says of it."""

    evidence: str
    score: float  # 0 where the symbol is folded into another
    # the lines of the file that its code is cut down to, none for all of them
    shown: tuple[tuple[int, int], ...]


@frozen
class ProgramRun:
    """A program that was run. What it printed and recorded lies in the repository, below
    `.tersely`.
    """

    command: str
    exit_status: int
    seconds: float
    output: str
    folder: str


@frozen
class CoverageContext(Packed):
    """A pack about what ran and what failed."""

    items: tuple[RankedSymbol, ...]
    about: About
    run: ProgramRun | None


def aside(found: CoverageContext, style: Style) -> str:
    """The lines beside the answer: what was run and read, what to take care of, and what the
    session did.
    """
    said = []
    if found.run is not None:
        status = (style.bad if found.run.exit_status else style.good)(
            f"status {found.run.exit_status}"
        )
        said.append(
            f"{found.run.command}: {status} after {found.run.seconds} s, its output is in {found.run.output}"
        )
    return "\n".join(
        [*said, *about_lines(found.about, style), *session_lines(found.session, style)]
    )


@capability(
    "code.coverage.context",
    counted_text,
    'coverage-context --run "pytest -q" --failures-only --budget 1000',
    "coverage-context --coverage-file coverage.json --failures junit.xml",
    'coverage-context --run "go test -coverprofile=cover.out ./..." --coverage-file cover.out',
    aside=aside,
    cacheable=False,
    remembering=REMEMBERING,
)
def run(
    workspace: Workspace,
    *,
    parameters: CoverageContextParameters = group(CoverageContextParameters),
) -> CoverageContext:
    """Failures, code that only failing tests ran, and the most executed code, within a token
    budget.

    From a report of coverage, or from a program that is run first (--run). Failed tests come first,
    where they failed. Then come functions that failing tests ran more than passing ones did
    (Ochiai's coefficient, where the report knows which test ran what). Callees of failed tests and
    the most executed code follow.

    --run starts the program as it is written, without a shell. Tests that pytest runs are recorded
    one by one if coverage is installed where they run; for others name the report that they write
    with --coverage-file. What the program printed and recorded is kept beside the index, and is
    what later commands read without --coverage-file.
    """
    from tersely.context.pack.texts import cut_to_parts

    budget = budget_of(workspace, parameters.budget)
    check(parameters.packing.memory.reader)
    program, found = _measured(workspace, parameters)
    texts = workspace.texts(with_docs=parameters.packing.wording.with_docs)
    view = _view(workspace, found, texts, budget, parameters.failures_only)
    texts = cut_to_parts(texts, view)
    answer = answered(workspace, parameters.packing, view, texts, budget)
    items = tuple(_ranked(answer.pack))
    return CoverageContext(**answer.fields() | {"items": items}, about=about(found), run=program)


def _measured(
    workspace: Workspace, parameters: CoverageContextParameters
) -> tuple[ProgramRun | None, Measured]:
    if parameters.run:
        return _run(workspace, parameters)
    found, tells_failures = measured_by(workspace, parameters.report)
    if parameters.failures_only and not tells_failures:
        hint = "name JUnit XML, or what the test runner printed, with --failures FILE"
        raise TerselyError("usage", "no test results", hint)
    return None, found


def _run(
    workspace: Workspace, parameters: CoverageContextParameters
) -> tuple[ProgramRun, Measured]:
    """Run the program. What it leaves is its coverage, unless a report is named that it writes."""
    from tersely.code.coverage.files import read_report_files
    from tersely.code.coverage.running import run as run_program

    store, root, options = workspace.engine.store, workspace.root, parameters.report
    if store.directory is None:
        raise TerselyError("unwritable_output", "the run cannot be kept")
    hashes = {path: known.hash.hex() for path, known in store.known().items()}
    before = _written_ns(workspace, options.coverage_file)
    done = run_program(parameters.run, root, store.directory, hashes, os.environ)
    told = ProgramRun(
        done.command,
        done.exit_status,
        round(done.seconds, 2),
        done.output.relative_to(root).as_posix(),
        done.folder.relative_to(root).as_posix(),
    )
    results = [
        *map(workspace.report_place, options.failures),
        *filter(None, [done.results]),
        done.output,
    ]
    if options.coverage_file:
        place = _written_anew(workspace, options.coverage_file, before, told)
        report = replace(read_report_files(place, results), hashes=hashes)
        return told, placed(workspace, report, place, options.map)
    if not done.data:
        ended = f"it ended with status {done.exit_status}, see {told.output}"
        hint = f"{ended}; --coverage-file names what it writes itself"
        raise TerselyError("program_failed", "the program left no coverage", hint)
    return told, placed(
        workspace, read_report_files(done.folder, results), done.folder, options.map
    )


def _written_ns(workspace: Workspace, path: str) -> int:
    try:
        return (workspace.root / path).stat().st_mtime_ns if path else 0
    except OSError:
        return 0


def _written_anew(workspace: Workspace, path: str, before_ns: int, done: ProgramRun) -> Path:
    """The report that a program was to write; raises `program_failed` for an older one, which tells
    of other runs.
    """
    if _written_ns(workspace, path) in {0, before_ns}:
        hint = f"status {done.exit_status}, see {done.output}; some tools report only if asked to when tests fail"
        raise TerselyError("program_failed", f"the program did not write {path}", hint)
    return workspace.report_place(path)


def _view(
    workspace: Workspace, found: Measured, texts: Texts, budget: int, failures_only: bool
) -> View:
    from tersely.context.lenses.coverage.rank import CoverageSources, MostTargets, view_of

    store, engine = workspace.engine.store, workspace.engine

    def callees(symbol_id: str) -> Sequence[Edge]:
        return engine.graph.callees(symbol_id)  # which takes long to make, and few reports need it

    def header_lines(symbol: Symbol) -> int:
        return max(texts.header_size(symbol) - 1, symbol.name_line - symbol.start_line + 1)

    sources = CoverageSources(
        store.symbols_of, store.symbols_named, store.symbol, callees, header_lines
    )
    tests, suspects = (
        max(1, min(budget // tokens, MAX_FAILURE_TARGETS))
        for tokens in (TOKENS_A_TEST, TOKENS_A_SUSPECT)
    )
    most = MostTargets(tests, suspects)
    return view_of(found, sources, most, failures_only=failures_only)


def _ranked(pack: Pack) -> Iterator[RankedSymbol]:
    items = {item.symbol.id: item for item in pack.items}
    for one in packed(pack):
        item = items.get(one.id)
        evidence, parts = (item.evidence, item.parts) if item else ("", ())
        yield RankedSymbol(
            **by_name(one),
            evidence=evidence,
            score=round(item.score, 4) if item else 0.0,
            shown=parts,
        )
