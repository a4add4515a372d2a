"""The files of tests that probably run some symbols, by the names that they write.

No call is resolved, so that it takes milliseconds in repositories of any size. A test that runs a
symbol mostly writes its name, or that of its class; a name that few files write says more (inverse
document frequency). Tests of a file are often called after it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from math import fsum, log
from typing import TYPE_CHECKING

from tersely.code.languages.registry import family_of, language_of_path
from tersely.code.places import directory_of, file_name_of, is_test
from tersely.code.search.words import parts_of, words_of_text
from tersely.code.symbols import Symbol
from tersely.foundation.types import Sums

if TYPE_CHECKING:
    from tersely.code.index.storage.store import Store
    from tersely.context.lenses.test_impact.suites import Suites

# How much counts beside the rarity of one name, which is 1 for a name that a single file writes.
# Chosen by the tests that commits of seventeen repositories changed together with the symbols.
# (A word that the path of a single file has is 1 as well.)
CALLED_AFTER = 1.0  # the file is called after that of a symbol
SAME_DIRECTORY = 0.3
MAX_WEIGHED_FILES = 30  # of those that write the names, by the words in their paths

_AFFIXES = re.compile(
    r"^(?:test|spec)s?[_\-.]|[_\-.](?:test|spec)s?$|(?:Tests?|Spec)$|^Test(?=[A-Z])"
)


def tests_naming(symbols: Sequence[Symbol], store: Store, suites: Suites, limit: int) -> list[str]:
    """The paths of at most `limit` files that hold tests, those that most speaks for first: by what
    they write, and by words in their paths.
    """
    names, owners = names_of(symbols), {symbol.path for symbol in symbols}
    worth = worth_of_names(names, owners, store, suites, MAX_WEIGHED_FILES)
    words = worth_of_words(names, owners, worth)
    for path in worth:
        worth[path] += words[path] / log(len(worth) + 1)
    return sorted(worth, key=lambda path: (-round(worth[path], 9), path))[:limit]


def worth_of_names(
    names: Iterable[str], owners: Collection[str], store: Store, suites: Suites, limit: int
) -> Sums:
    """By path how much speaks for a file that holds tests: it writes some names, and is called after
    a file that owns them or stands beside it. At most `limit` files, the best first.
    """
    files = store.files()
    tests = {file.id: file for file in files if is_test(file.path)}
    families = {family_of(language_of_path(owner) or "") for owner in owners}
    worth: Sums = defaultdict(float)
    for name in names:
        mentioning = store.files_mentioning(name)
        rarity = 1 - log(max(1, len(mentioning))) / log(max(2, len(files)))
        for file_id in mentioning:
            if file_id in tests:
                worth[tests[file_id].path] += rarity
    for path, beside in worth_of_places(owners, (file.path for file in tests.values())).items():
        worth[path] += beside
    kin = [
        file
        for file in tests.values()
        if family_of(file.language) in families and worth[file.path] > 0
    ]
    kin.sort(key=lambda file: (-round(worth[file.path], 9), file.path))
    holding = (file.path for file in kin if suites.holds_tests(file.path, file.language))
    return {path: worth[path] for path in islice(holding, limit)}


def worth_of_places(owners: Collection[str], tests: Iterable[str]) -> Sums:
    """By path how much speaks for a file of tests by its name and place: it is called after one of
    some files, or stands beside one.
    """
    stems, directories = set(map(_stem, owners)), set(map(directory_of, owners))
    return {
        path: CALLED_AFTER * (_stem(path) in stems)
        + SAME_DIRECTORY * (directory_of(path) in directories)
        for path in tests
    }


def worth_of_words(names: Iterable[str], owners: Iterable[str], tests: Iterable[str]) -> Sums:
    """By path how much speaks for a file of tests by the words in its path: those that names and paths
    of the change have too, the rarer among the paths of tests the more.
    """
    changed = {part for text in (*names, *owners) for part in _parts(text)}
    shared = {path: changed.intersection(_parts(path)) for path in tests}
    often = Counter(part for parts in shared.values() for part in parts)
    return {
        path: fsum(log((len(shared) + 1) / often[part]) for part in parts)
        for path, parts in shared.items()
    }


def _parts(text: str) -> set[str]:
    return {part for word in words_of_text(text) for part in parts_of(word)}


def names_of(symbols: Sequence[Symbol]) -> list[str]:
    """The names of some symbols and of what stands around them, each once."""
    return list(
        dict.fromkeys(
            part for symbol in symbols for part in re.split(r"\W+", symbol.qualname) if part
        )
    )


def _stem(path: str) -> str:
    """The name of a file without what tells a test, in lower case: that of `test_app.py`,
    `app_test.go` is `app`.
    """
    name = file_name_of(path).rpartition(".")[0]
    return _AFFIXES.sub("", name).lower()
