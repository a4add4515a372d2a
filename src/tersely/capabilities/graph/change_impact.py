"""`code.change_impact`: which tests reach a change, and the command that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    budget_of,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.reply import fitted
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.files.places import files_below, normal, why_not_indexed
from tersely.capabilities.graph.listing import name_of
from tersely.code.symbols import Kind, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.shortening import listed
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.context.lenses.test_impact.affected import Route, TestedChange, TestFile
    from tersely.context.lenses.test_impact.importing import Importing
    from tersely.workspace import Workspace

DEFAULT_FILES = 20
NAMED_TESTS = 2  # of a file, or on a way, in the text of one file; of more it is said how many
# What there was before the first commit: no files, named by SHA-1 and by SHA-256.
EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)
NAMED_LINKS = 10  # handlers that changed templates link to


@frozen
class ChangeImpact:
    """The tests of a change: those that reach it by calls, and the other files of tests that import
    it.
    """

    base: str  # the commit that was compared with, empty where files were named
    changed: Strings  # symbol ids
    gone: Strings  # ids of definitions that are not there any more
    tests: int  # that reach it by calls
    likely: int  # of them, as likely as not or more
    files: Page[TestFile]  # the likeliest first, by calls and by the names that they write
    routes: Page[Route]  # the surest and shortest first
    imports: Page[Importing]  # without files all of whose tests are found by calls
    likely_command: str  # runs the likely tests
    command: str  # runs all tests that are found by calls
    other_command: str  # runs those of them that are not likely
    imports_command: str  # runs the files of `imports`
    # at which the search was cut, in words; tests beyond them are not known
    limits: Strings
    templates: Strings  # page templates that have changed: who shows them may break
    links: Strings  # ids of the handlers that they link to


def text(impact: ChangeImpact, style: Style) -> str:
    """The changed symbols, the tests by calls with the ways there, the files by imports, and the
    commands.
    """
    changed = counted(len(impact.changed), "symbol")
    lost = f", {len(impact.gone):,} gone" if impact.gone else ""
    pages = f", {counted(len(impact.templates), 'template')}" if impact.templates else ""
    base = "the beginning" if impact.base in EMPTY_TREES else impact.base[:10]
    since = f" since {base}" if base else ""
    blocks = [style.heading(f"{changed} changed{since}{lost}{pages}")]
    if impact.links:
        blocks.append(f"links to {listed(list(map(name_of, impact.links)), NAMED_LINKS)}")
    if impact.limits:
        reached = ", ".join(impact.limits)
        blocks.append(
            style.doubtful(f"partial: search limit reached ({reached}); other files are by names")
        )
    if not impact.files.total and not impact.imports.total:
        beyond = " within the search limit: there may be some" if impact.limits else ""
        return "\n".join([*blocks, f"no affected tests found{beyond}"])
    if impact.tests:
        reach = counted(impact.tests, "test reaches", "tests reach")
        blocks.append(f"{reach} it by calls, {impact.likely:,} of them likely")
    blocks += [_file_line(one, style) for one in impact.files.items]
    blocks += rest_line(impact.files, "file", style)
    if impact.imports.total:
        files = counted(impact.imports.total, "file")
        blocks.append(f"{files} of tests with others that import it")
    return "\n".join([*blocks, *_commands_text(impact, style)])


@capability(
    "code.change_impact",
    text,
    "change-impact",
    "change-impact --base main",
    "change-impact src/app.py",
    cacheable=False,  # what git compares with is no part of the revision
)
def run(
    workspace: Workspace,
    *,
    files: Strings = positional(
        "files, directories or symbols that have changed; without any, what git says has changed",
        default=(),
        role=Role.PATH,
        metavar="FILE",
    ),
    base: str = option(
        "", "the revision that git compares the working tree with; HEAD if none", metavar="REF"
    ),
    limit: int = limit_option(DEFAULT_FILES, "files"),
    offset: int = offset_option("files"),
    budget: int | None = budget_option(),
) -> ChangeImpact:
    """Tests affected by a change, and the command that runs them.

    Without FILES the change is the difference from the last commit, staged or not, new files
    included, or from where the working tree and --base part. Only symbols whose lines differ count.
    Of FILES all symbols count; `path:name` names a single one.

    The files of tests come likeliest first. What counts is how surely and in how few steps their
    tests reach the change by calls, and which names of the change they write. Fixtures that a
    framework passes by name, functions that are passed on, and methods that outside code may call
    count as calls. The percentage is how certain all steps of the surest way are together, `named`
    stands where no way is known. The command to run first is for the first files: of tests that
    reach it by calls only those of 50 % and more.
    """
    from tersely.context.lenses.test_impact.affected import affected_tests, test_file

    if files and base:
        raise TerselyError(
            "usage",
            "--base and FILE exclude each other",
            "leave out one of them",
        )
    most = budget_of(workspace, budget)
    change = _change_of_names(workspace, files) if files else _of_git(workspace, base)
    found = affected_tests(workspace.engine, change)
    impact = ChangeImpact(
        change.base,
        tuple(symbol.id for symbol in change.symbols),
        tuple(dict.fromkeys(one.id for one in change.gone)),
        found.tests,
        found.likely,
        page_of(found.files, limit, offset).each(test_file),
        page_of(found.routes, limit, offset),
        page_of(found.importing, limit, offset),
        *found.commands,
        found.limits,
        tuple(change.templates),
        found.links,
    )
    shown = partial(_shortened, impact)
    return fitted(shown, text, range(len(impact.files.items) + 1), most, workspace.tokenizer)


def _shortened(impact: ChangeImpact, files: int) -> ChangeImpact:
    page = impact.files
    more = len(page.items) - files
    return replace(impact, files=replace(page, items=page.items[:files], more=page.more + more))


def _change_of_names(workspace: Workspace, named: Strings) -> TestedChange:
    """Everything in the files, or the symbols, that somebody names."""
    from tersely.context.lenses.test_impact.affected import TestedChange

    engine = workspace.engine
    symbols: dict[str, Symbol] = {}
    files: dict[str, None] = {}
    templates = [text for text in named if _is_template(workspace, text)]
    known = [text for text in named if text not in templates]
    for text in _read(workspace, known) or known:
        if ":" in text:
            symbol = engine.symbol(text)
            found = [symbol]
        else:
            paths = [file.path for file in files_below(workspace, text)]
            found = [
                symbol
                for path in paths
                for symbol in engine.store.symbols_of(path)
                if symbol.kind != Kind.LAMBDA
            ]
        symbols.update((symbol.id, symbol) for symbol in found)
        files.update((symbol.path, None) for symbol in found)
    return TestedChange(list(symbols.values()), [], list(files), templates)


def _read(workspace: Workspace, named: Sequence[str]) -> list[str]:
    """Those of some names that are no files outside the index; what is left out of the answer by
    them is noted.
    """
    why = {text: why_not_indexed(workspace, normal(text)) for text in named if ":" not in text}
    for text in why:
        workspace.engine.note_left_out(normal(text))
    workspace.engine.note_incomplete(f"{text} ({reason})" for text, reason in why.items() if reason)
    return [text for text in named if not why.get(text)]


def _is_template(workspace: Workspace, path: str) -> bool:
    """True if a path may be that of a page template, which is no source."""
    from tersely.code.graph.dispatch.registrations.templates import is_template

    is_file = is_template(path) and bool(workspace.engine.graph.program.text(path))
    return is_file and workspace.engine.store.file(path) is None


def _of_git(workspace: Workspace, base: str) -> TestedChange:
    """The change that git reports."""
    from tersely.code.index.unread import left_out
    from tersely.context.lenses.test_impact.affected import changed_by_git

    change, paths = changed_by_git(workspace.engine, base)
    workspace.engine.note_incomplete(left_out(workspace.engine.store, paths))
    templates = [path for path in paths if _is_template(workspace, path)]
    return replace(change, templates=templates)


def _file_line(one: TestFile, style: Style) -> str:
    """How sure it is, the file with its tests, and the surest way."""
    sure = f"{one.certainty:.0%}" if one.tests else "named"
    tests = (
        f"  {style.symbol(listed(list(map(name_of, one.tests)), NAMED_TESTS))}" if one.tests else ""
    )
    names = " → ".join(name_of(step.id) for step in one.way)
    through = (
        f"  through {listed(list(map(name_of, one.through)), NAMED_TESTS)}" if one.through else ""
    )
    way = f"→ {names}" if names else "changed"
    said = style.faint(f"  {way}{through}") if one.tests else ""
    return f"  {style.doubtful(sure)}  {one.file}{tests}{said}"


def _commands_text(impact: ChangeImpact, style: Style) -> list[str]:
    """The commands, the one that most likely tells something first, then what that leaves out; of
    two that are the same only one.
    """
    first, others = impact.likely_command, impact.other_command
    rows = [("run first" if others else "run", first), ("then" if first else "run", others)]
    rows.append(("and by imports", impact.imports_command))
    lines = {line: label for label, line in reversed(rows) if line}
    return [f"{style.heading(label)}  {line}" for line, label in reversed(lines.items())]
