"""The tests that a change may break, and the commands that run them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tersely.code.engine import Engine
from tersely.code.graph.users import Users
from tersely.code.languages.runners.runner import SelectedTest
from tersely.code.places import is_test
from tersely.code.symbols import CLASS_KINDS, Grade, Kind, Symbol
from tersely.context.lenses.diff.change import Revisions, of_git, symbols_changed, unread
from tersely.context.lenses.diff.changed_symbols import file_symbol
from tersely.context.lenses.diff.features.words import names_of as changed_names
from tersely.context.lenses.test_impact.command import command
from tersely.context.lenses.test_impact.files import FileOfTests, order, ranked
from tersely.context.lenses.test_impact.importing import Importing, importing, imports_of_gone
from tersely.context.lenses.test_impact.naming import (
    names_of,
    worth_of_names,
    worth_of_places,
    worth_of_words,
)
from tersely.context.lenses.test_impact.reach import LIKELY, Affected, Reach, Step
from tersely.context.lenses.test_impact.suites import Suites
from tersely.foundation.types import Strings, frozen

MAX_CHANGED_SYMBOLS = 2_000  # from which the search for tests starts
MAX_RANKED_FILES = 500  # that write names of the change, the best
# of the files of tests, that are run first; more than these few where a share of all is more
FIRST_FILES, FIRST_SHARE = 3, 0.1


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
class TestedChange:
    """A change: symbols, definitions that are gone, and the indexed files that differ."""

    symbols: list[Symbol]
    gone: list[Symbol]
    files: list[str]
    templates: Sequence[str]  # which are no files of the index
    names: Collection[str] = ()  # that changed lines take away or bring
    base: str = ""


class Commands(NamedTuple):
    """The commands that run tests."""

    likely: str
    every: str
    others: str
    by_imports: str


class AffectedTests(NamedTuple):
    """The tests of a change, and the files of tests beside them that import it."""

    tests: int  # that reach it by calls
    likely: int  # of them, as likely as not or more
    files: Sequence[FileOfTests]  # the likeliest first
    routes: Sequence[Route]  # the surest and shortest first
    importing: Sequence[Importing]  # without files all of whose tests are found by calls
    commands: Commands
    limits: Strings  # at which the search was cut, in words
    links: Strings  # ids of the handlers that changed templates link to


def affected_tests(engine: Engine, change: TestedChange) -> AffectedTests:
    """The tests that reach a change by calls, by the names that they write, and by imports."""
    symbols = change.symbols[:MAX_CHANGED_SYMBOLS]
    engine.note_unread(symbols)
    users, suites = Users(engine.graph), Suites(engine.store.symbols_of, engine.source)
    gone = [one for one in change.gone if one.id != one.path]  # else it is a file
    before = [user for one in gone for user in users.of_gone(one.name, one.language)]
    before += [user for path in change.templates for user in users.of_template(path)]
    found = Reach(users, engine.store, suites).search(symbols, before)
    every = [one.test for one in found.tests]
    reached = set(every)
    languages = {file.path: file.language for file in engine.store.files()}
    imported = [
        one
        for one in _importing(engine, change)
        if suites.has_others(one.file, languages[one.file], reached)
    ]
    names = sorted({*change.names, *names_of(symbols)})
    naming = worth_of_names(names, change.files, engine.store, suites, MAX_RANKED_FILES)
    beside = (
        worth_of_places(change.files, naming),
        worth_of_words(names, change.files, naming.keys() | {test.path for test in every}),
    )
    files = ranked(found.tests, naming, beside, lambda path: len(suites.tests(path)))
    likely = {one.test for one in found.tests if one.certainty >= LIKELY}
    first = _first(files, likely, sum(map(is_test, languages)))
    by_imports = [SelectedTest(one.file) for one in imported]
    all_files = _all_files([*every, *by_imports], languages, suites)
    others = sorted(reached.difference(first))
    commands = Commands(
        *(
            command(tests, languages.__getitem__, engine.root, all_files)
            for tests in (first, every, others, by_imports)
        )
    )
    return AffectedTests(
        len(every),
        len(likely),
        files,
        _routes(found.tests),
        imported,
        commands,
        tuple(filter(None, (found.limit, _changed_beyond(change)))),
        tuple(dict.fromkeys(chain.from_iterable(map(users.linked_from, change.templates)))),
    )


def changed_by_git(engine: Engine, base: str) -> tuple[TestedChange, list[str]]:
    """The change since a base, HEAD if none, without its templates, and the paths of all files that
    differ.
    """
    store = engine.store
    change = of_git(engine.root, store, Revisions(base, worktree=not base))
    engine.note_incomplete(unread(change))
    diffs = [file.diff for file in change.files]
    paths = [diff.path for diff in diffs if diff.path]
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
    return TestedChange(
        sorted(symbols.values(), key=lambda one: (one.path, one.start_byte, -one.end_byte)),
        lost,
        [path for path in paths if store.file(path)],
        (),
        said.gone | said.brought,
        change.commit,
    ), paths


def _first(
    files: Sequence[FileOfTests], likely: Collection[SelectedTest], suite: int
) -> list[SelectedTest]:
    """The tests to run first: the likely ones of the first files, all of these where none is known by
    calls. `suite` is how many files of tests there are.
    """
    first = files[: max(FIRST_FILES, int(FIRST_SHARE * suite))]
    if not any(one.tests for one in files):
        return [SelectedTest(one.file) for one in first]
    return [each.test for one in first for each in one.tests if each.test in likely]


def test_file(one: FileOfTests) -> TestFile:
    """What is told of a file of tests."""
    if not one.tests:
        return TestFile(one.file, (), 0.0, (), ())
    surest = _route(one.tests[:1])
    tests = tuple(map(_id_of, (each.test for each in one.tests)))
    return TestFile(one.file, tests, surest.certainty, surest.way, surest.through)


def _changed_beyond(change: TestedChange) -> str:
    """The remark where not all changed symbols were followed."""
    followed = f"{MAX_CHANGED_SYMBOLS:,} of {len(change.symbols):,} changed symbols"
    return followed if len(change.symbols) > MAX_CHANGED_SYMBOLS else ""


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
        (at for at, step in enumerate(steps) if not is_test(step.id.partition(":")[0])),
        len(steps) - 1,
    )
    return steps[max(left, 1) :]


def _route(group: Sequence[Affected]) -> Route:
    one, shared = group[0], _outside_tests(group[0])
    between = (step.id for each in group for step in each.steps[1 : len(each.steps) - len(shared)])
    ids = tuple(map(_id_of, sorted(each.test for each in group)))
    return Route(round(one.certainty, 3), one.grade, shared, tuple(dict.fromkeys(between)), ids)


def _id_of(test: SelectedTest) -> str:
    return f"{test.path}:{test.name}" if test.name else test.path


def _importing(engine: Engine, change: TestedChange) -> list[Importing]:
    """All files that import a changed one, nearest first."""
    imports = engine.store.every_import()
    left = [one.path for one in change.gone if one.kind is Kind.MODULE]
    changed = {*change.files, *(to for path in left for to, _ in imports_of_gone(path, imports))}
    return importing(changed, engine.imports.edges(imports), engine.graph.program.under)
