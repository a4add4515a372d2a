"""The files of tests that probably run some symbols, by the names that they write.

No call is resolved, so that it takes milliseconds in repositories of any size. A test that runs a
symbol mostly writes its name, or that of its class; a name that few files write says more (inverse
document frequency). Tests of a file are often called after it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tersely.code.languages.registry import family_of
from tersely.code.places import directory_of, file_name_of, is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Symbol

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.index.storage.store import Store
    from tersely.context.lenses.test_impact.suites import Suites

# How much counts beside the rarity of one name, which is 1 for a name that a single file writes.
# Chosen by the tests that commits of seventeen repositories changed together with the symbols.
CALLED_AFTER = 1.0  # the file is called after that of a symbol
SAME_DIRECTORY = 0.3

MAX_MEANINGS = 12  # definitions of one name, above which a test that writes it says nothing
LEAST_NAME_CHARACTERS = 3  # of a name that says anything
# of tests that are read for the names in them, those beside the symbols first
MAX_NAMING_FILES = 200
_WORD = re.compile(rb"\w+(?=\s*[({<])")  # what is called or constructed
_AFFIXES = re.compile(
    r"^(?:test|spec)s?[_\-.]|[_\-.](?:test|spec)s?$|(?:Tests?|Spec)$|^Test(?=[A-Z])"
)


def tests_naming(symbols: Sequence[Symbol], store: Store, suites: Suites, limit: int) -> list[str]:
    """The paths of at most `limit` files that hold tests, those that most speaks for first."""
    files = store.files()
    tests = {file.id: file for file in files if is_test(file.path)}
    families = {family_of(symbol.language) for symbol in symbols}
    worth: dict[str, float] = defaultdict(float)
    for name in _names_of(symbols):
        mentioning = store.files_mentioning(name)
        rarity = 1 - math.log(max(1, len(mentioning))) / math.log(max(2, len(files)))
        for file_id in mentioning:
            if file_id in tests:
                worth[tests[file_id].path] += rarity
    for file in tests.values():
        worth[file.path] += _place_worth(file.path, {symbol.path for symbol in symbols})
    kin = {
        file.path: file
        for file in tests.values()
        if family_of(file.language) in families and worth[file.path] > 0
    }
    ordered = sorted(kin.values(), key=lambda file: (-round(worth[file.path], 9), file.path))
    return _holding_tests(ordered, suites, limit)


class Naming(NamedTuple):
    """A test that writes the name of a symbol, and how many definitions have that name."""

    test: Symbol
    symbol: Symbol
    meanings: int


def naming_tests(
    symbols: Iterable[Symbol], store: Store, suites: Suites, source_of: Callable[[str], bytes]
) -> Iterator[Naming]:
    """The tests that write the name of one of these functions and classes, if few definitions have
    it.
    """
    by_name: dict[bytes, Symbol] = {}
    meanings: dict[bytes, int] = {}
    for symbol in symbols:
        is_telling = (
            symbol.kind in CALLABLE_KINDS | CLASS_KINDS
            and len(symbol.name) >= LEAST_NAME_CHARACTERS
        )
        number = len(store.places_named(symbol.name)) if is_telling else 0
        if 0 < number <= MAX_MEANINGS:
            by_name.setdefault(symbol.name.encode(), symbol)
            meanings[symbol.name.encode()] = number
    for path in _files_naming(by_name, store):
        source = source_of(path)
        for test in suites.tests(path):
            written = by_name.keys() & _WORD.findall(source, test.start_byte, test.end_byte)
            if written:
                best = min(written, key=lambda name: (meanings[name], name))
                yield Naming(test, by_name[best], meanings[best])


def _files_naming(by_name: dict[bytes, Symbol], store: Store) -> list[str]:
    """The files of tests that write some of the names, in the languages of their symbols; the
    nearest first.
    """
    tests = {file.id: file for file in store.files() if is_test(file.path)}
    families = {family_of(symbol.language) for symbol in by_name.values()}
    directories = {directory_of(symbol.path) for symbol in by_name.values()}
    times = Counter(
        file_id for name in by_name for file_id in store.files_mentioning(name.decode())
    )
    found = [tests[file_id] for file_id in times if file_id in tests]
    kin = [file for file in found if family_of(file.language) in families]
    kin.sort(
        key=lambda file: (directory_of(file.path) not in directories, -times[file.id], file.path)
    )
    return [file.path for file in kin[:MAX_NAMING_FILES]]


def _names_of(symbols: Sequence[Symbol]) -> list[str]:
    """The names of some symbols and of what stands around them, each once."""
    return list(
        dict.fromkeys(
            part for symbol in symbols for part in re.split(r"\W+", symbol.qualname) if part
        )
    )


def _place_worth(path: str, owners: Collection[str]) -> float:
    stems = {_stem(owner) for owner in owners}
    directories = {directory_of(owner) for owner in owners}
    return CALLED_AFTER * (_stem(path) in stems) + SAME_DIRECTORY * (
        directory_of(path) in directories
    )


def _stem(path: str) -> str:
    """The name of a file without what tells a test, in lower case: that of `test_app.py`,
    `app_test.go` is `app`.
    """
    name = file_name_of(path).rpartition(".")[0]
    return _AFFIXES.sub("", name).lower()


def _holding_tests(files: Sequence[IndexedFile], suites: Suites, limit: int) -> list[str]:
    """The first files that hold tests which can be run."""
    found: list[str] = []
    for file in files:
        if suites.holds_tests(file.path, file.language):
            found.append(file.path)
        if len(found) == limit:
            break
    return found
