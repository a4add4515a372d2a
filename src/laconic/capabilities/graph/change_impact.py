"""`code.change_impact`: which tests reach a change, and the command that runs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from laconic.capabilities.declaration import Capability, Role, option, positional
from laconic.capabilities.files.places import files_below
from laconic.capabilities.graph.listing import UNSAID, Row, listed, name_of
from laconic.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from laconic.capabilities.text import Style, aligned, counted
from laconic.code.symbols import Grade, Kind, Symbol
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_CHANGED_SYMBOLS, MAX_SEARCHED_SYMBOLS

if TYPE_CHECKING:
    from laconic.code.graph.users import User, Users
    from laconic.code.index.changes import ChangedFile
    from laconic.code.lenses.affected.changed import Gone
    from laconic.code.lenses.affected.reach import Affected, Reaching
    from laconic.code.lenses.affected.suites import Suites
    from laconic.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """What has changed, and how much to list."""

    files: tuple[str, ...] = positional(
        "files, directories or symbols that have changed; without any, what git says has changed",
        default=(),
        role=Role.PATH,
        metavar="FILE",
    )
    git: bool = option(False, "ask git what has changed, which is what happens without FILES")
    base: str = option("", "the revision that git compares the working tree with; HEAD if none", metavar="REF")
    limit: int = limit_option(100, "tests")
    offset: int = offset_option("tests")


@dataclass(frozen=True, slots=True)
class OnTheWay:
    """A symbol between a test and the change, and what it does to the next one; "" for the last."""

    id: str
    way: str


@dataclass(frozen=True, slots=True)
class ReachingTest:
    """A test that may run what has changed; a file as a whole where its tests have no names."""

    id: str
    grade: Grade  # of the least sure step
    distance: int  # steps from the change, 0 for a test that has changed itself
    path: tuple[OnTheWay, ...]


@dataclass(frozen=True, slots=True)
class ImportingTests:
    """A file of tests that imports a changed file. `path` leads from it to that file, both included."""

    file: str
    distance: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeImpact:
    """The tests of a change: those that reach it by calls, and the other files of tests that import it."""

    base: str  # the commit that was compared with, empty where files were named
    changed: tuple[str, ...]  # symbol ids
    gone: tuple[str, ...]  # ids of definitions that are not there any more
    tests: Page[ReachingTest]
    imports: Page[ImportingTests]  # without files all of whose tests are among `tests`
    command: str  # runs `tests`, all of them
    imports_command: str  # runs the files of `imports`
    cut: bool


def run(workspace: Workspace, parameters: Parameters) -> ChangeImpact:
    """From the change to symbols, from these to tests."""
    from laconic.code.graph.users import Users
    from laconic.code.languages.runners.commands import SelectedTest
    from laconic.code.lenses.affected.command import command
    from laconic.code.lenses.affected.reach import Reach
    from laconic.code.lenses.affected.suites import Suites

    if parameters.files and (parameters.git or parameters.base):
        raise LaconicError("usage", "either files are named or git is asked", "leave out one of them")
    engine = workspace.engine
    change = _named(workspace, parameters.files) if parameters.files else _of_git(workspace, parameters.base)
    users, suites = Users(engine.graph), Suites(engine.store.symbols_of, engine.source)
    found = Reach(users, engine.store, suites, MAX_SEARCHED_SYMBOLS).search(
        change.symbols[:MAX_CHANGED_SYMBOLS], _users_of_gone(change.gone, users)
    )
    languages = {file.path: file.language for file in engine.store.files()}
    importing = _importing(workspace, change, found, suites)
    affected = sorted(found.tests, key=_order)
    page = page_of(affected, parameters.limit, parameters.offset)
    imports = page_of(importing, parameters.limit, parameters.offset)
    return ChangeImpact(
        change.base,
        tuple(symbol.id for symbol in change.symbols),
        tuple(f"{one.path}:{one.qualname}" if one.qualname else one.path for one in change.gone),
        Page(tuple(map(_test, page.items)), page.total, page.offset, page.more),
        imports,
        command([one.test for one in affected], languages.__getitem__, workspace.root),
        command([SelectedTest(one.file) for one in importing], languages.__getitem__, workspace.root),
        found.cut or len(change.symbols) > MAX_CHANGED_SYMBOLS,
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """What has changed: symbols, definitions that are gone, and the indexed files that differ."""

    symbols: list[Symbol]
    gone: list[Gone]
    files: list[str]
    base: str = ""


def _named(workspace: Workspace, named: tuple[str, ...]) -> _Change:
    """Everything in the files, or the symbols, that somebody names."""
    engine = workspace.engine
    symbols: dict[str, Symbol] = {}
    files: dict[str, None] = {}
    for text in named:
        if ":" in text:
            symbol = engine.symbol(text)
            found = [symbol]
        else:
            paths = [file.path for file in files_below(workspace, text)]
            found = [symbol for path in paths for symbol in engine.store.symbols_of(path) if symbol.kind != Kind.LAMBDA]
        symbols.update((symbol.id, symbol) for symbol in found)
        files.update((symbol.path, None) for symbol in found)
    return _Change(list(symbols.values()), [], list(files))


def _of_git(workspace: Workspace, base: str) -> _Change:
    """What git says differs."""
    from laconic.code.index.changes import Changes
    from laconic.code.lenses.affected.changed import changed_symbols

    store = workspace.engine.store
    changes = Changes(workspace.root, base)
    files = [file for file in changes.files() if store.file(file.path or file.old_path) or file.old_path]
    symbols = [symbol for file in files for symbol in changed_symbols(file, store.symbols_of)]
    lost = [one for file in files if file.old_path for one in _lost(file, changes.before(file.old_path), workspace)]
    differing = [file.path for file in files if file.path and store.file(file.path)]
    return _Change(symbols, lost, differing, changes.commit)


def _lost(file: ChangedFile, before: bytes, workspace: Workspace) -> list[Gone]:
    from laconic.code.lenses.affected.changed import gone

    return gone(file, before, workspace.engine.store.symbols_of(file.path) if file.path else [])


def _users_of_gone(gone: list[Gone], users: Users) -> list[User]:
    from laconic.code.languages.registry import language_of_path

    return [user for one in gone if one.qualname for user in users.of_gone(one.name, language_of_path(one.path) or "")]


def _importing(workspace: Workspace, change: _Change, found: Reaching, suites: Suites) -> list[ImportingTests]:
    """Files of tests that import a changed file and hold a test that is not found already, nearest first."""
    from laconic.code.lenses.affected.importing import importers_of_gone, importing

    engine = workspace.engine
    imports = engine.store.every_import()
    languages = {file.path: file.language for file in engine.store.files()}
    graph = engine.imports
    changed = {*change.files, *importers_of_gone(change.gone, imports)}
    reached = {affected.test for affected in found.tests}
    return [
        ImportingTests(one.file, len(one.path) - 1, one.path)
        for one in importing(changed, graph.edges(imports), engine.graph.program.under)
        if suites.has_others(one.file, languages[one.file], reached)
    ]


def _order(affected: Affected) -> tuple[int, int, str, str]:
    return list(Grade).index(affected.grade), len(affected.steps), affected.test.path, affected.test.name


def _test(affected: Affected) -> ReachingTest:
    test = affected.test
    path = tuple(OnTheWay(step.id, step.way) for step in affected.steps)
    symbol_id = f"{test.path}:{test.name}" if test.name else test.path
    return ReachingTest(symbol_id, affected.grade, len(path) - 1, path)


def text(impact: ChangeImpact, style: Style) -> str:
    """What has changed, the tests by calls with the way there, the files by imports, and the commands."""
    changed = counted(len(impact.changed), "symbol")
    lost = f", {len(impact.gone):,} gone" if impact.gone else ""
    since = f" since {impact.base[:10]}" if impact.base else ""
    blocks = [style.heading(f"{changed} changed{since}{lost}")]
    if not impact.tests.total and not impact.imports.total:
        return "\n".join([*blocks, "no test reaches this"])
    if impact.tests.total:
        blocks.append(
            f"{counted(impact.tests.total, 'test reaches', 'tests reach')} it by calls  {style.faint(UNSAID)}"
        )
        blocks += listed([Row(one.id, one.grade, (_way(one),)) for one in impact.tests.items], style)
        blocks += rest_line(impact.tests, "test", style)
    if impact.cut:
        blocks.append(style.doubtful("… the search stopped at its bound: there may be more"))
    if impact.imports.total:
        blocks += _imports_text(impact.imports, style)
    return "\n".join([*blocks, *_commands_text(impact, style)])


def _imports_text(imports: Page[ImportingTests], style: Style) -> list[str]:
    head = f"{counted(imports.total, 'file')} of tests with others that import it"
    rows = [(one.file, f"via {' → '.join(one.path[1:-1])}" if one.distance > 1 else "") for one in imports.items]
    lines = aligned(rows, [style.symbol, style.faint])
    return [head, *(f"  {line}" for line in lines), *rest_line(imports, "file", style)]


def _commands_text(impact: ChangeImpact, style: Style) -> list[str]:
    lines = [f"{style.heading('run')}  {impact.command}"] if impact.command else []
    return lines + ([f"{style.heading('and by imports')}  {impact.imports_command}"] if impact.imports_command else [])


def _way(test: ReachingTest) -> str:
    """The symbols between a test and the change; the last is the change."""
    between = [name_of(step.id) for step in test.path[1:]]
    return f"→ {' → '.join(between)}" if between else "changed itself"


CAPABILITY = Capability(
    name="code.change_impact",
    summary="Which tests reach a change, and the command that runs them",
    description="Without FILES the change is what git says differs from the last commit, staged or not, new files "
    "included, or from where the working tree and --base part; only the symbols whose lines differ count. Of FILES "
    "all symbols count; `path:name` names a single one.\n\n"
    "Tests that reach the change by calls come first, the surest and nearest before the others, each with its way "
    "there. Beside calls count what a framework passes to a test by name, what is passed on to other functions, and, "
    "graded by name, methods that code outside the repository may call on an object. Then come the files of tests "
    "that import a changed file.",
    parameters=Parameters,
    run=run,
    text=text,
    cacheable=False,  # what git compares with is no part of the revision
    examples=("change-impact", "change-impact --base main", "change-impact src/app.py"),
)
