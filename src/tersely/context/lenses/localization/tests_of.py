"""The tests that tell whether a task is done: those that write the names of its symbols."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.code.languages.runners.runner import SelectedTest
from tersely.code.symbols import CALLABLE_KINDS
from tersely.context.lenses.test_impact.command import command
from tersely.context.lenses.test_impact.naming import tests_naming
from tersely.context.lenses.test_impact.suites import Suites

if TYPE_CHECKING:
    from tersely.code.index.storage.store import Store
    from tersely.context.lenses.localization.rank import Location

MAX_FOLLOWED_SYMBOLS = 3  # for which tests are looked for
MAX_TEST_FILES = 3


def tests_of(location: Location, store: Store, suites: Suites) -> list[str]:
    """The files of tests that probably run the best symbols, the likeliest first; at most three."""
    callables = (one.symbol for one in location.symbols if one.symbol.kind in CALLABLE_KINDS)
    found = tests_naming(
        list(islice(callables, MAX_FOLLOWED_SYMBOLS)), store, suites, MAX_TEST_FILES
    )
    return [path for path in found if path.isprintable() and not path.startswith("-")]


def command_of(files: Sequence[str], store: Store, root: Path) -> str:
    """The line that runs some files of tests, "" for none."""
    languages = {file.path: file.language for file in store.files()}
    return command([SelectedTest(path) for path in files], languages.__getitem__, root)
