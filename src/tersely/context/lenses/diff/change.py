"""The change that is meant: what git knows of, or a patch; and its files with both their sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.code.index.content import name_in_text, read_below
from tersely.code.index.history.changes import Changes
from tersely.code.index.history.patch import LINK_MODE, FileDiff, patched, read_patch, reversed_diff
from tersely.code.index.storage.store import Store
from tersely.code.languages.registry import language_of_path, source_in
from tersely.context.lenses.diff.changed_symbols import (
    ChangedSymbol,
    FileChange,
    Side,
    changed_symbols,
    file_symbol,
    plain_side,
    scopes_of,
    side_of,
)
from tersely.context.lenses.diff.notes import note_of, without_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import in_repository
from tersely.foundation.storage.hashing import content_hash
from tersely.foundation.types import frozen, replace

if TYPE_CHECKING:
    from tersely.code.index.history.history import Commit
    from tersely.code.nodes import Invocation
    from tersely.code.search.lexical import Lexicon
    from tersely.code.symbols import Edge, Symbol, SymbolsOf

MAX_PLACED_FILES = 400  # of a change, that are read on both sides
INDEX, TREE, PATCH = "index", "worktree", "patch"
LAST_COMMIT = "HEAD"
# what git writes around the two sides of lines that it could not merge
_UNMERGED = re.compile(rb"^<{7} .*^>{7} ", re.MULTILINE | re.DOTALL)


@frozen
class ChangeSources:
    """The questions about the repository. Files that have changed are as the change leaves them."""

    symbols_of: SymbolsOf
    text_of: Callable[[str], bytes]  # nothing for a file that cannot be read
    files_mentioning: Callable[[str], Collection[str]]
    # the calls that reach a symbol by value, each with its path and how many parameters the receiver
    # gives
    passings: Callable[[str], Iterable[tuple[str, Invocation, int]]]
    # the lines of a file that take a member of something that is known, and whether a class had it;
    # by the path, the id of the class and the name
    members: Callable[[str, str, str], Iterable[tuple[int, bool]]]
    callers_nearby: Callable[[str], Sequence[Edge]]  # those that cost little to find
    callees: Callable[[str], Sequence[Edge]]
    lexicon: Callable[[], Lexicon]
    commits: Callable[[], Sequence[Commit]]
    paths: Collection[str]  # of all files
    imports_of: Callable[[str], set[str]]  # the files that a file imports from
    defining: Callable[[str], set[str]]  # the files that define a name
    # what a function and those around it name by themselves, imports aside
    locals_of: Callable[[Symbol], Collection[str]]
    aliases_of: Callable[[str], set[str]]  # the names that a file imports
    imported: Callable[[str, str], set[str]]  # the files that such a name is imported from
    # the imports that name a file which has left, by file and line
    imports_of_left: Callable[[str], Iterable[tuple[str, int]]]


@frozen
class Change:
    """A change, each of its files with both sides."""

    # the revision that it leads from, as it was asked for; "HEAD" by itself, "" for a patch
    base: str
    head: str  # the revision that it leads to, as it was asked for; "index", "worktree" or "patch"
    tip: str  # the commit up to which history is told
    files: list[FileChange]
    commit: str = ""  # that it leads from


@frozen
class Revisions:
    """The change that git is asked for."""

    base: str = ""  # the commit where the main branch and HEAD part, if none
    head: str = ""  # the working tree if none
    staged: bool = False  # what is staged
    worktree: bool = False  # what the last commit does not have


def of_git(root: Path, store: Store, asked: Revisions) -> Change:
    """A change of which git knows; errors as `Changes` has them."""
    since_head = "" if asked.staged or asked.worktree else None
    changes = Changes(root, asked.base or since_head, asked.head, staged=asked.staged)
    diffs = changes.diffs()
    is_tree = not (asked.head or asked.staged)
    blobs = changes.blobs([name for one in diffs for name in _needed_blobs(one, from_tree=is_tree)])

    def source(path: str, blob: str) -> bytes | None:
        return source_in(path, blobs[blob]) if blob in blobs else None

    def after(one: FileDiff) -> bytes | None:
        if is_tree:
            return in_tree(root, one.path) if one.path else None
        return source(one.path, one.blob)

    files = [
        _placed(root, store, one, source(one.old_path, one.old_blob), after(one), number)
        for number, one in enumerate(diffs)
    ]
    head = asked.head or (INDEX if asked.staged else TREE)
    return Change(changes.base or LAST_COMMIT, head, changes.tip(), files, changes.commit)


def unread(change: Change) -> list[str]:
    """The files of a change whose lines are not known, or are those of two sides, each with the
    reason.
    """
    reasons = [(one.diff.name, one.why_apart or _why_unread(one)) for one in change.files]
    return [f"{name} ({why})" for name, why in reasons if why]


def _why_unread(file: FileChange) -> str:
    """Of a file that would be code: why it is not to be read as such, "" for others."""
    if file.diff.is_binary and language_of_path(file.diff.name):
        return note_of(file.diff)
    return "not merged" if file.after and _UNMERGED.search(file.after.text) else ""


def _needed_blobs(diff: FileDiff, *, from_tree: bool) -> list[str]:
    if not _has_lines(diff):
        return []
    return [*([diff.old_blob] if diff.old_path else []), *([] if from_tree else [diff.blob])]


def _has_lines(diff: FileDiff) -> bool:
    return bool(diff.hunks) and not (
        diff.is_submodule or diff.is_binary or LINK_MODE in {diff.old_mode, diff.mode}
    )


def in_tree(root: Path, path: str) -> bytes | None:
    """A file of the working tree, None for one that cannot be read or is outside of it."""
    try:
        return read_below(str(root), path)
    except (OSError, ValueError):
        return None


def of_patch(root: Path, store: Store, text: str) -> Change:
    """A patch is taken for what has been done if its new lines are in the files, else for what is
    to be done.
    """
    diffs = read_patch(text.encode("utf-8", "surrogateescape"))
    if not diffs and text.strip():
        raise TerselyError(
            "invalid_argument", "the patch is not a unified diff", "git diff and diff -u write one"
        )
    files = []
    for number, diff in enumerate(diffs):
        there = in_tree(root, diff.path) if _is_inside(diff.path) else None
        before = patched(there, reversed_diff(diff)) if there is not None else None
        if before is not None:
            files.append(_placed(root, store, diff, before, there, number))
            continue
        old = (
            in_tree(root, diff.old_path)
            if _is_inside(diff.old_path)
            else b""
            if not diff.old_path
            else None
        )
        after = patched(old, diff) if old is not None else None
        if after is None:
            files.append(_apart(diff, "does not apply"))
        else:
            files.append(_placed(root, store, diff, old, after if diff.path else None, number))
    tip = Changes(root).tip() if in_repository(str(root)) else ""
    return Change("", PATCH, tip, files)


def _is_inside(path: str) -> bool:
    return (
        bool(path) and not path.startswith("/") and ".." not in path.split("/") and "\0" not in path
    )


def _apart(diff: FileDiff, why: str) -> FileChange:
    return FileChange(diff, None, None, why)


def _placed(
    root: Path, store: Store, diff: FileDiff, before: bytes | None, after: bytes | None, number: int
) -> FileChange:
    """A file with both its sides. Of very many files only the first are read."""
    names = name_in_text(diff.old_path), name_in_text(diff.path)
    if names != (diff.old_path, diff.path):
        return _apart(replace(diff, old_path=names[0], path=names[1]), "its name is not UTF-8")
    if not _has_lines(diff) or number >= MAX_PLACED_FILES:
        return FileChange(diff, None, None)
    old = (
        _side(root, store, diff.old_path, before) if before is not None and diff.old_path else None
    )
    new = _side(root, store, diff.path, after) if after is not None and diff.path else None
    return FileChange(diff, old, new)


def _side(root: Path, store: Store, path: str, text: bytes) -> Side:
    """A file on one side: as the index has it, if it is that, else read anew; of what the index
    skips only lines.
    """
    indexed = store.file(path)
    if indexed is None and store.why_skipped(path) is not None:
        return plain_side(path, text)
    if indexed is not None and indexed.hash == content_hash(text):
        return Side(path, text, store.symbols_of(path), scopes_of(lambda: store.facts(indexed.id)))
    return side_of(path, text)


def symbols_changed(change: Change) -> list[ChangedSymbol]:
    """The symbols whose lines differ, each once, and the files of which something is to be said
    beside their lines.
    """
    return _each_once(
        [one for file in change.files for one in (*changed_symbols(file), *_noted(file))]
    )


def _noted(file: FileChange) -> list[ChangedSymbol]:
    """The remarks on a file beside its lines."""
    note = ", ".join(filter(None, [note_of(file.diff), file.why_apart]))
    if not note and (file.before or file.after):
        return []
    symbol = without_text(file_symbol(file.diff.name, b""))
    is_gone = not file.diff.path
    return [
        ChangedSymbol(symbol, is_gone=is_gone, note=note or ("deleted" if is_gone else "changed"))
    ]


def _each_once(changed: Sequence[ChangedSymbol]) -> list[ChangedSymbol]:
    """Every symbol once: what is to be said of a file is said where its lines are, if any of them
    are outside.
    """
    found: dict[tuple[str, bool], ChangedSymbol] = {}
    for one in changed:
        known = found.setdefault((one.symbol.id, one.is_gone), one)
        if known is not one:
            known.note = f"{one.note}, with changes" if one.note else known.note
    return list(found.values())
