"""Which tests tell whether a task is done: those that reach its symbols, else those that import its files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.code.graph.references import Users
from tersely.code.languages.runners.commands import SelectedTest
from tersely.code.lenses.affected.command import command
from tersely.code.lenses.affected.reach import Reach
from tersely.code.lenses.affected.suites import Suites
from tersely.code.symbols import CALLABLE_KINDS, Symbol

if TYPE_CHECKING:
    from tersely.code.graph.callgraph import CallGraph
    from tersely.code.index.store import Store
    from tersely.code.lenses.owners.look import Location

MAX_FOLLOWED_SYMBOLS = 3  # from which tests are looked for
MAX_REACHED_SYMBOLS = 60  # whose users are looked for on the way
MAX_TEST_FILES = 3


def tests_of(location: Location, store: Store, graph: CallGraph, suites: Suites) -> list[str]:
    """The files of tests that reach the best symbols, those that reach them most often first; at most three."""
    callables = (one.symbol for one in location.symbols if one.symbol.kind in CALLABLE_KINDS)
    followed: list[Symbol] = list(islice(callables, MAX_FOLLOWED_SYMBOLS))
    found = Reach(Users(graph), store, suites, MAX_REACHED_SYMBOLS).search(followed, ())
    worth: dict[str, float] = defaultdict(float)
    for affected in found.tests:
        worth[affected.test.path] += 1 / len(affected.steps)
    return [path for path, _ in sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:MAX_TEST_FILES]]


def command_of(files: Sequence[str], store: Store, root: Path) -> str:
    """The line that runs some files of tests, "" for none."""
    languages = {file.path: file.language for file in store.files()}
    return command([SelectedTest(path) for path in files], languages.__getitem__, root)
