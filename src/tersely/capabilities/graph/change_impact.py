"""`code.change_impact`: which tests reach a change, and the command that runs them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.reply import fitted
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.files.places import files_below, normal, why_not_indexed
from tersely.capabilities.graph.listing import name_of, path_of
from tersely.capabilities.packs.budget import budget_of, budget_option
from tersely.code.places import is_test
from tersely.code.symbols import CLASS_KINDS, Grade, Kind, Symbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tersely.code.graph.users import User, Users
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.languages.runners.runner import SelectedTest
    from tersely.context.lenses.test_impact.files import FileOfTests
    from tersely.context.lenses.test_impact.importing import Importing
    from tersely.context.lenses.test_impact.reach import Affected, Reaching, Step
    from tersely.context.lenses.test_impact.suites import Suites
    from tersely.workspace import Workspace

MAX_CHANGED_SYMBOLS = 2_000  # from which the search for tests starts
DEFAULT_FILES = 20
MAX_RANKED_FILES = 500  # that write names of the change, the best
# of the files of tests, that are run first; more than these few where a share of all is more
FIRST_FILES, FIRST_SHARE = 3, 0.1
NAMED_TESTS = 2  # of a file, or on a way, in the text of one file; of more it is said how many
# What there was before the first commit: no files, named by SHA-1 and by SHA-256.
EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)
NAMED_LINKS = 10  # handlers that changed templates link to


@frozen
class Route:
    """The tests that may run what has changed in one way; a file as a whole where its tests have no
    names.
    """

    certainty: float  # that one of these tests runs it, from 0 to 1
    grade: Grade  # of the least sure step
    way: tuple[Step, ...]  # from the first symbol that is no part of the tests to the change
    # fixtures and helpers of the tests by which they get there, the id of each
    through: Strings
    tests: Strings  # ids


@frozen
class TestFile:
    """A file of tests that a change may break: what is known of its surest test, if any reaches it by
    calls.
    """

    file: str
    tests: Strings  # ids of those that reach it by calls, the surest first
    certainty: float  # that the surest runs what has changed, 0 where only names speak for the file
    way: tuple[Step, ...]  # as of a route
    through: Strings


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
        blocks.append(f"links to {_few(list(map(name_of, impact.links)), NAMED_LINKS)}")
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
    if files and base:
        raise TerselyError(
            "usage",
            "--base and FILE exclude each other",
            "leave out one of them",
        )
    most = budget_of(workspace, budget)
    change = _change_of_names(workspace, files) if files else _of_git(workspace, base)
    impact = _impact(workspace, change, limit, offset)
    shown = partial(_shortened, impact)
    return fitted(shown, text, range(len(impact.files.items) + 1), most, workspace.tokenizer)


def _shortened(impact: ChangeImpact, files: int) -> ChangeImpact:
    page = impact.files
    more = len(page.items) - files
    return replace(impact, files=replace(page, items=page.items[:files], more=page.more + more))


def _impact(workspace: Workspace, change: _Change, limit: int, offset: int) -> ChangeImpact:
    from tersely.code.graph.users import Users
    from tersely.code.languages.runners.runner import SelectedTest
    from tersely.context.lenses.test_impact.files import ranked
    from tersely.context.lenses.test_impact.naming import (
        names_of,
        worth_of_names,
        worth_of_places,
        worth_of_words,
    )
    from tersely.context.lenses.test_impact.reach import LIKELY, Reach
    from tersely.context.lenses.test_impact.suites import Suites

    engine = workspace.engine
    symbols = change.symbols[:MAX_CHANGED_SYMBOLS]
    engine.note_unread(symbols)
    users, suites = Users(engine.graph), Suites(engine.store.symbols_of, engine.source)
    before = _users_of_gone(change.gone, users)
    before += [user for path in change.templates for user in users.of_template(path)]
    found = Reach(users, engine.store, suites).search(symbols, before)
    importing = _others(workspace, _importing(workspace, change), found, suites)
    names = {*change.names, *names_of(symbols)}
    naming = worth_of_names(names, change.files, engine.store, suites, MAX_RANKED_FILES)
    beside = (
        worth_of_places(change.files, naming),
        worth_of_words(names, change.files, naming.keys() | {one.test.path for one in found.tests}),
    )
    files = ranked(found.tests, naming, beside, lambda path: len(suites.tests(path)))
    likely = {one.test for one in found.tests if one.certainty >= LIKELY}
    every = [one.test for one in found.tests]
    commands = _commands(
        workspace,
        _first(files, likely, engine.store.files()),
        every,
        [SelectedTest(one.file) for one in importing],
        suites,
    )
    return ChangeImpact(
        change.base,
        tuple(symbol.id for symbol in change.symbols),
        tuple(dict.fromkeys(one.id for one in change.gone)),
        len(every),
        len(likely),
        page_of(files, limit, offset).each(_test_file),
        page_of(_routes(found.tests), limit, offset),
        page_of(importing, limit, offset),
        *commands,
        tuple(filter(None, (found.limit, _changed_beyond(change)))),
        tuple(change.templates),
        tuple(dict.fromkeys(chain.from_iterable(map(users.linked_from, change.templates)))),
    )


def _first(
    files: Sequence[FileOfTests], likely: Collection[SelectedTest], indexed: Iterable[IndexedFile]
) -> list[SelectedTest]:
    """The tests to run first: the likely ones of the first files, all of these where none is known by
    calls.
    """
    from tersely.code.languages.runners.runner import SelectedTest

    suite = sum(is_test(file.path) for file in indexed)
    first = files[: max(FIRST_FILES, int(FIRST_SHARE * suite))]
    if not any(one.tests for one in files):
        return [SelectedTest(one.file) for one in first]
    return [each.test for one in first for each in one.tests if each.test in likely]


def _test_file(one: FileOfTests) -> TestFile:
    if not one.tests:
        return TestFile(one.file, (), 0.0, (), ())
    surest = _route(one.tests[:1])
    tests = tuple(map(_id_of, (each.test for each in one.tests)))
    return TestFile(one.file, tests, surest.certainty, surest.way, surest.through)


def _changed_beyond(change: _Change) -> str:
    """The remark where not all changed symbols were followed."""
    followed = f"{MAX_CHANGED_SYMBOLS:,} of {len(change.symbols):,} changed symbols"
    return followed if len(change.symbols) > MAX_CHANGED_SYMBOLS else ""


class _Commands(NamedTuple):
    """The commands that run tests."""

    likely: str
    every: str
    others: str
    by_imports: str


def _commands(
    workspace: Workspace,
    likely: Sequence[SelectedTest],
    every: Sequence[SelectedTest],
    by_imports: Sequence[SelectedTest],
    suites: Suites,
) -> _Commands:
    from tersely.context.lenses.test_impact.command import command

    languages = {file.path: file.language for file in workspace.engine.store.files()}
    all_files = _all_files([*every, *by_imports], languages, suites)

    def command_of(tests: Sequence[SelectedTest]) -> str:
        return command(tests, languages.__getitem__, workspace.root, all_files)

    others = sorted(set(every).difference(likely))
    return _Commands(
        command_of(likely),
        command_of(every),
        command_of(others),
        command_of(by_imports),
    )


def _all_files(
    tests: Sequence[SelectedTest], languages: Mapping[str, str], suites: Suites
) -> list[str]:
    """The files that hold tests, if those that are to be run may be all of them."""
    candidates = [path for path in languages if is_test(path)]
    if 2 * len({test.path for test in tests}) < len(candidates):
        return []
    return [path for path in candidates if suites.holds_tests(path, languages[path])]


def _routes(found: Sequence[Affected]) -> list[Route]:
    """Tests that reach the change in the same way, together; the surest and shortest ways first."""
    from tersely.context.lenses.test_impact.files import order

    by_route: dict[tuple[object, ...], list[Affected]] = {}
    for one in sorted(found, key=order):
        by_route.setdefault((one.certainty, one.grade, _outside_tests(one)), []).append(one)
    return [_route(group) for group in by_route.values()]


def _outside_tests(affected: Affected) -> tuple[Step, ...]:
    """The way from where it leaves the tests; if it never does, the change alone, nothing if that
    is the test.
    """
    steps = affected.steps
    left = next(
        (at for at, step in enumerate(steps) if not is_test(path_of(step.id))), len(steps) - 1
    )
    return steps[max(left, 1) :]


def _route(group: Sequence[Affected]) -> Route:
    one, shared = group[0], _outside_tests(group[0])
    between = (step.id for each in group for step in each.steps[1 : len(each.steps) - len(shared)])
    ids = tuple(map(_id_of, sorted(each.test for each in group)))
    return Route(round(one.certainty, 3), one.grade, shared, tuple(dict.fromkeys(between)), ids)


def _id_of(test: SelectedTest) -> str:
    return f"{test.path}:{test.name}" if test.name else test.path


@frozen
class _Change:
    """A change: symbols, definitions that are gone, and the indexed files that differ."""

    symbols: list[Symbol]
    gone: list[Symbol]
    files: list[str]
    templates: list[str]  # which are no files of the index
    names: Collection[str] = ()  # that changed lines take away or bring
    base: str = ""


def _change_of_names(workspace: Workspace, named: Strings) -> _Change:
    """Everything in the files, or the symbols, that somebody names."""
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
    return _Change(list(symbols.values()), [], list(files), templates)


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


def _of_git(workspace: Workspace, base: str) -> _Change:
    """The change that git reports."""
    from tersely.code.index.unread import left_out
    from tersely.context.lenses.diff.change import Revisions, of_git, symbols_changed, unread
    from tersely.context.lenses.diff.changed_symbols import file_symbol
    from tersely.context.lenses.diff.features.words import names_of as changed_names

    store = workspace.engine.store
    change = of_git(workspace.root, store, Revisions(base, worktree=not base))
    diffs = [file.diff for file in change.files]
    paths = [diff.path for diff in diffs if diff.path]
    workspace.engine.note_incomplete([*left_out(store, paths), *unread(change)])
    changed = symbols_changed(change)
    before = [one.was for one in changed if one.was is not None and one.is_renamed]
    lost = [file_symbol(one.old_path, b"") for one in diffs if one.old_path not in ("", one.path)]
    lost += [*(one.symbol for one in changed if one.is_gone), *before]
    now = [one.symbol for one in changed if not one.is_gone]
    for one in diffs:
        is_whole = one.path and (not one.old_path or one.is_missing)
        now += store.symbols_of(one.path) if is_whole else ()
    # a file has changed where something was taken out of it; methods see the bases of their class
    now += (one for each in lost for one in store.symbols_of(each.path)[:1])
    now += [
        one
        for each in now
        if each.kind in CLASS_KINDS
        for one in store.symbols_of(each.path)
        if one.parent == each.id
    ]
    symbols = {one.id: one for one in now if one.kind is not Kind.LAMBDA and store.file(one.path)}
    said = changed_names(diffs, lambda _: ())
    return _Change(
        sorted(symbols.values(), key=lambda one: (one.path, one.start_byte, -one.end_byte)),
        lost,
        [path for path in paths if store.file(path)],
        [path for path in paths if _is_template(workspace, path)],
        said.gone | said.brought,
        change.commit,
    )


def _users_of_gone(gone: Sequence[Symbol], users: Users) -> list[User]:
    named = (one for one in gone if one.id != one.path)  # else it is a file
    return [user for one in named for user in users.of_gone(one.name, one.language)]


def _importing(workspace: Workspace, change: _Change) -> list[Importing]:
    """All files that import a changed one, nearest first."""
    from tersely.context.lenses.test_impact.importing import importing, imports_of_gone

    engine = workspace.engine
    imports = engine.store.every_import()
    left = [one.path for one in change.gone if one.kind is Kind.MODULE]
    changed = {*change.files, *(to for path in left for to, _ in imports_of_gone(path, imports))}
    return importing(changed, engine.imports.edges(imports), engine.graph.program.under)


def _others(
    workspace: Workspace, ways: Sequence[Importing], found: Reaching, suites: Suites
) -> list[Importing]:
    """Those of some files that hold a test which is not found already."""
    languages = {file.path: file.language for file in workspace.engine.store.files()}
    reached = {affected.test for affected in found.tests}
    return [one for one in ways if suites.has_others(one.file, languages[one.file], reached)]


def _file_line(one: TestFile, style: Style) -> str:
    """How sure it is, the file with its tests, and the surest way."""
    sure = f"{one.certainty:.0%}" if one.tests else "named"
    tests = f"  {style.symbol(_few(list(map(name_of, one.tests))))}" if one.tests else ""
    names = " → ".join(name_of(step.id) for step in one.way)
    through = f"  through {_few(list(map(name_of, one.through)))}" if one.through else ""
    way = f"→ {names}" if names else "changed"
    said = style.faint(f"  {way}{through}") if one.tests else ""
    return f"  {style.doubtful(sure)}  {one.file}{tests}{said}"


def _few(names: Sequence[str], limit: int = NAMED_TESTS) -> str:
    """Some names, and how many more."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _commands_text(impact: ChangeImpact, style: Style) -> list[str]:
    """The commands, the one that most likely tells something first, then what that leaves out; of
    two that are the same only one.
    """
    first, others = impact.likely_command, impact.other_command
    rows = [("run first" if others else "run", first), ("then" if first else "run", others)]
    rows.append(("and by imports", impact.imports_command))
    lines = {line: label for label, line in reversed(rows) if line}
    return [f"{style.heading(label)}  {line}" for line, label in reversed(lines.items())]
