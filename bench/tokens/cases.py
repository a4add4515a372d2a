"""Real commits as cases: the tree before a commit, what the commit touched, and what its new lines
call.

*Touched* are the functions, methods and types outside of tests in which the commit puts in or takes
out lines, as they were before it: each line counts for the innermost named symbol around it.
*Called* are those that a line which the commit puts in names right before an opening parenthesis,
where the repository before the commit defines that name once outside of tests; what is touched is
not counted again. Together they are what somebody who makes this change has to see.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bench.retrieval.queries import telling_commits
from bench.scratch import git
from tersely.code.index.history.patch import FileDiff, Hunk, patched, read_patch
from tersely.code.index.storage.store import Store
from tersely.code.languages.registry import language_of_path
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.context.lenses.diff.changed_symbols import FileChange, changed_symbols, side_of

WINDOW_COMMITS = 1_500  # the newest ones, among which cases are looked for
MAX_FILES = 8  # that a commit changes, tests and all
MAX_TOUCHED = 8  # symbols; a commit that touches more is no single change
MAX_CALLED = 12
MIN_NAME_CHARACTERS = 3
NEEDED_KINDS = (CALLABLE_KINDS | CLASS_KINDS) - {Kind.LAMBDA}

_CALL = re.compile(r"\b([^\W\d]\w+)!?\(")


class Change(NamedTuple):
    """One file of a commit, with both its sides."""

    diff: FileDiff
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Case:
    """A commit whose parent is the tree that is asked about."""

    commit: str
    parent: str
    subject: str
    changes: tuple[Change, ...]  # of code outside of tests
    touched: tuple[Symbol, ...]  # as they were before

    def half(self) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
        """What is given and what is hidden where half of the change is known: every other touched
        symbol.
        """
        return self.touched[::2], self.touched[1::2]


def cases(repository: Path, number: int, least_touched: int = 2) -> Iterator[Case]:
    """The newest commits with a telling subject that change a few symbols.

    A commit of which the clone lacks contents, as a clone that fetches them when asked may, is
    passed over.
    """
    found = 0
    for commit, parent, text in telling_commits(repository, WINDOW_COMMITS):
        try:
            changes = _changes(repository, parent, commit)
        except subprocess.CalledProcessError:
            continue
        touched = _touched(changes)
        if least_touched <= len(touched) <= MAX_TOUCHED:
            yield Case(commit, parent, text, tuple(changes), tuple(touched))
            found += 1
        if found == number:
            return


def _changes(repository: Path, parent: str, commit: str) -> list[Change]:
    patch = git(
        repository,
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-renames",
        parent,
        commit,
    )
    diffs = read_patch(patch) if patch else []
    if len(diffs) > MAX_FILES:
        return []
    changes = []
    for diff in diffs:
        if (
            diff.path
            and diff.path == diff.old_path
            and language_of_path(diff.path)
            and not is_test(diff.path)
        ):
            before = git(repository, "show", f"{parent}:{diff.path}")
            after = patched(before, diff)
            if diff.hunks and after is not None:
                changes.append(Change(diff, before, after))
    return changes


def _touched(changes: Sequence[Change]) -> list[Symbol]:
    found: dict[str, Symbol] = {}
    for change in changes:
        found |= {symbol.id: symbol for symbol in _symbols_of(change)}
    return sorted(found.values(), key=lambda one: (one.path, one.start_byte))


def _symbols_of(change: Change) -> list[Symbol]:
    """The symbols of one change as they were before it; new ones are none of them."""
    before, after = (
        side_of(change.diff.path, change.before),
        side_of(change.diff.path, change.after),
    )
    was = {
        one.qualname: one
        for one in before.symbols
        if one.kind in NEEDED_KINDS and one.name.isidentifier()
    }
    changed = [
        one.symbol.qualname for one in changed_symbols(FileChange(change.diff, before, after))
    ]
    return [was[qualname] for qualname in changed if qualname in was]


def called(case: Case, store: Store, given: Sequence[Symbol] = ()) -> list[Symbol]:
    """What the new lines of a case call; of the lines that are not in what is `given`."""
    known = {symbol.id for symbol in (*case.touched, *given)}
    found: dict[str, Symbol] = {}
    for change in case.changes:
        for hunk in change.diff.hunks if not given else _hunks(change, given, within=False):
            for name in _CALL.findall(b"".join(hunk.added).decode("utf-8", "replace")):
                for symbol in _only_one(name, store):
                    if symbol.id not in known:
                        found.setdefault(symbol.id, symbol)
    return list(found.values())[:MAX_CALLED]


def _only_one(name: str, store: Store) -> list[Symbol]:
    named = [one for one in store.symbols_named(name) if not is_test(one.path)]
    fits = len(named) == 1 and named[0].kind in NEEDED_KINDS and len(name) >= MIN_NAME_CHARACTERS
    return named if fits else []


def with_given_half(case: Case) -> dict[str, bytes]:
    """The files in which the given half of a change is applied, by path."""
    given, _ = case.half()
    texts = {}
    for change in case.changes:
        hunks = _hunks(change, given, within=True)
        text = patched(change.before, replace(change.diff, hunks=hunks)) if hunks else None
        if text is not None:
            texts[change.diff.path] = text
    return texts


def _hunks(change: Change, given: Sequence[Symbol], *, within: bool) -> tuple[Hunk, ...]:
    """The hunks that touch nothing but what is given, or else all others."""
    ids = {symbol.id for symbol in given}
    own = []
    for hunk in change.diff.hunks:
        diff = replace(change.diff, hunks=(hunk,))
        after = patched(change.before, diff)
        assert after is not None
        touched = {symbol.id for symbol in _symbols_of(Change(diff, change.before, after))}
        if bool(touched and touched <= ids) is within:
            own.append(hunk)
    return tuple(own)
