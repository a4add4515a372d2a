"""`code.diff_context`: the symbols that a change touches and what the rest of it needs, within a token budget."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tersely.capabilities.coverage.changes import ChangeCoverage, change_lines, with_coverage
from tersely.capabilities.declaration import Capability, Role, group, option, positional
from tersely.capabilities.packs.budget import budget_of, budget_option
from tersely.capabilities.packs.sessions import (
    REMEMBERING,
    Packed,
    PackedSymbol,
    Packing,
    answered,
    check,
    counted_text,
    packed,
    session_lines,
)
from tersely.capabilities.text import Style
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tersely.code.index.patch import FileDiff
    from tersely.code.symbols import Symbol
    from tersely.context.lenses.candidate import View
    from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange, Side
    from tersely.context.pack.model import Pack
    from tersely.context.pack.texts import Texts
    from tersely.workspace import Workspace

MAX_PLACED_FILES = 400  # of a change, that are read on both sides
INDEX, TREE, PATCH = "index", "worktree", "patch"
LAST_COMMIT = "HEAD"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which change, how much to tell of it, in which form."""

    patch: str = positional(
        "a file with a unified diff, or - for one on standard input; without it git is asked",
        default="",
        role=Role.CONTENT,
        metavar="PATCH",
    )
    base: str = option(
        "", "what the change leads from: the commit where this and HEAD part; the main branch if none", metavar="REF"
    )
    head: str = option("", "what it leads to; the working tree if none", metavar="REF")
    staged: bool = option(False, "what is staged, against the last commit or the base")
    worktree: bool = option(False, "what the last commit does not have, staged or not, new files included")
    coverage: str = option(
        "", "a report of coverage: say which changed lines no test ran, and which tests ran them",
        role=Role.REPORT, metavar="FILE",
    )  # fmt: skip
    budget: int | None = budget_option()
    packing: Packing = group(Packing)


@dataclass(frozen=True, slots=True)
class ShownSymbol(PackedSymbol):
    """One symbol of the pack, with its changed lines."""

    shown: tuple[tuple[int, int], ...]  # the lines of the file that its code is cut down to, none for all of them
    diff_lines: tuple[int, ...]  # those that the change put in


@dataclass(frozen=True, slots=True)
class DiffContext(Packed):
    """A pack about a change."""

    items: tuple[ShownSymbol, ...]
    base: str  # the revision that the change leads from, as it was asked for; "HEAD" by itself, "" for a patch
    head: str  # the revision that it leads to, as it was asked for; "index", "worktree" or "patch"
    changed: tuple[str, ...]  # ids of symbols that differ
    deleted: tuple[str, ...]  # ids of those that are gone
    files: int  # that differ
    coverage: ChangeCoverage | None


@dataclass(frozen=True, slots=True)
class _Change:
    """A change, placed."""

    base: str  # as `DiffContext` has them
    head: str
    tip: str  # the commit up to which history is told
    files: list[FileChange]


def run(workspace: Workspace, parameters: Parameters) -> DiffContext:
    """Place the change, gather what belongs to it, fit and print."""
    from tersely.context.lenses.diff.changed_symbols import changed_symbols

    _check(parameters)
    budget = budget_of(workspace, parameters.budget)
    check(parameters.packing.memory.reader)
    change = _of_patch(workspace, parameters.patch) if parameters.patch else _of_git(workspace, parameters)
    changed = [one for file in change.files for one in (*changed_symbols(file), *_noted(file))]
    changed = _told_once(changed)
    with_docs, fills = parameters.packing.wording.with_docs, parameters.budget is not None
    looked = _looked(workspace, change, changed, budget, with_docs=with_docs, fills=fills)
    view, coverage = with_coverage(workspace, looked.view, parameters.coverage)
    texts = looked.texts_of(view)
    answer = answered(workspace, parameters.packing, view, texts, budget)
    return DiffContext(
        **answer.fields() | {"items": tuple(_shown(answer.pack))},
        base=change.base,
        head=change.head,
        changed=tuple(one.symbol.id for one in changed if not one.is_gone),
        deleted=tuple(one.symbol.id for one in changed if one.is_gone),
        files=len(change.files),
        coverage=coverage,
    )


def _shown(pack: Pack) -> Iterator[ShownSymbol]:
    items = {item.symbol.id: item for item in pack.items}
    for one in packed(pack):
        item = items.get(one.id)
        lines = item.change.lines if item and item.change else ()
        yield ShownSymbol(**asdict(one), shown=item.parts if item else (), diff_lines=lines)


def _check(parameters: Parameters) -> None:
    of_git = parameters.base or parameters.head or parameters.staged or parameters.worktree
    if parameters.patch and of_git:
        raise TerselyError("usage", "either a patch is given or git is asked", "leave out one of them")
    if sum(map(bool, (parameters.head, parameters.staged, parameters.worktree))) > 1:
        raise TerselyError("usage", "--head, --staged and --worktree exclude each other", "leave out all but one")


# Which change


def _of_git(workspace: Workspace, parameters: Parameters) -> _Change:
    from tersely.code.index.changes import Changes

    root = workspace.root
    base = parameters.base
    if not base and not (parameters.staged or parameters.worktree):
        base = Changes(root).main_branch()
    changes = Changes(root, base, parameters.head, staged=parameters.staged)
    diffs = changes.diffs()
    is_tree = not (parameters.head or parameters.staged)
    blobs = changes.blobs([name for one in diffs for name in _needed_blobs(one, from_tree=is_tree)])
    after = _after_in_tree(workspace) if is_tree else lambda one: blobs.get(one.blob)
    files = [_placed(workspace, one, blobs.get(one.old_blob), after(one), number) for number, one in enumerate(diffs)]
    head = parameters.head or (INDEX if parameters.staged else TREE)
    return _Change(base or LAST_COMMIT, head, changes.tip(), files)


def _needed_blobs(diff: FileDiff, *, from_tree: bool) -> list[str]:
    if not _has_lines(diff):
        return []
    needs_old = any(hunk.removed for hunk in diff.hunks)
    return [*([diff.old_blob] if needs_old else []), *([] if from_tree else [diff.blob])]


def _has_lines(diff: FileDiff) -> bool:
    from tersely.code.index.patch import LINK_MODE

    return bool(diff.hunks) and not (diff.is_submodule or diff.is_binary or LINK_MODE in {diff.old_mode, diff.mode})


def _after_in_tree(workspace: Workspace) -> Callable[[FileDiff], bytes | None]:
    return lambda diff: _in_tree(workspace, diff.path) if diff.path else None


def _in_tree(workspace: Workspace, path: str) -> bytes | None:
    """A file of the working tree, None for one that cannot be read or is outside of it."""
    from tersely.code.index.content import read_below

    try:
        return read_below(str(workspace.root), path)
    except (OSError, ValueError):
        return None


def _of_patch(workspace: Workspace, text: str) -> _Change:
    """A patch is taken for what has been done if its new lines are in the files, else for what is to be done."""
    from tersely.code.index.changes import Changes
    from tersely.code.index.patch import patched, read_patch, reversed_diff
    from tersely.foundation.git.listing import in_repository

    diffs = read_patch(text.encode("utf-8", "surrogateescape"))
    if not diffs and text.strip():
        raise TerselyError("invalid_argument", "the patch is not a unified diff", "git diff and diff -u write one")
    files = []
    for number, diff in enumerate(diffs):
        there = _in_tree(workspace, diff.path) if _is_inside(diff.path) else None
        before = patched(there, reversed_diff(diff)) if there is not None else None
        if before is not None:
            files.append(_placed(workspace, diff, before, there, number))
            continue
        old = _in_tree(workspace, diff.old_path) if _is_inside(diff.old_path) else b"" if not diff.old_path else None
        after = patched(old, diff) if old is not None else None
        if after is None:
            files.append(_apart(diff, "does not apply"))
        else:
            files.append(_placed(workspace, diff, old, after if diff.path else None, number))
    root = workspace.root
    tip = Changes(root).tip() if in_repository(str(root)) else ""
    return _Change("", PATCH, tip, files)


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith("/") and ".." not in path.split("/") and "\0" not in path


def _apart(diff: FileDiff, why: str) -> FileChange:
    from tersely.context.lenses.diff.changed_symbols import FileChange

    return FileChange(diff, None, None, why)


def _placed(workspace: Workspace, diff: FileDiff, before: bytes | None, after: bytes | None, number: int) -> FileChange:
    """A file with both its sides. Of very many files only the first are read."""
    from tersely.context.lenses.diff.changed_symbols import FileChange

    if not _has_lines(diff) or number >= MAX_PLACED_FILES:
        return FileChange(diff, None, None)
    old = _side(workspace, diff.old_path, before) if before is not None and diff.old_path else None
    new = _side(workspace, diff.path, after) if after is not None and diff.path else None
    return FileChange(diff, old, new)


def _side(workspace: Workspace, path: str, text: bytes) -> Side:
    """A file on one side: as the index has it, if it is that, else read anew; of what the index skips only lines."""
    from tersely.context.lenses.diff.changed_symbols import Side, plain_side, side_of

    store = workspace.engine.store
    indexed = store.file(path)
    if indexed is None and store.why_skipped(path) is not None:
        return plain_side(path, text)
    if indexed is not None and _in_tree(workspace, path) == text:
        return Side(path, text, store.symbols_of(path))
    return side_of(path, text)


def _noted(file: FileChange) -> list[ChangedSymbol]:
    """What is to be said of a file beside its lines."""
    from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, file_symbol
    from tersely.context.lenses.diff.notes import note_of, without_text

    note = ", ".join(filter(None, [note_of(file.diff), file.why_apart]))
    if not note and (file.before or file.after):
        return []
    symbol = without_text(file_symbol(file.diff.name, b""))
    is_gone = not file.diff.path
    return [ChangedSymbol(symbol, is_gone=is_gone, note=note or ("deleted" if is_gone else "changed"))]


def _told_once(changed: Sequence[ChangedSymbol]) -> list[ChangedSymbol]:
    """Every symbol once: what is to be said of a file is said where its lines are, if any of them are outside."""
    found: dict[tuple[str, bool], ChangedSymbol] = {}
    for one in changed:
        known = found.setdefault((one.symbol.id, one.is_gone), one)
        if known is not one:
            known.note = f"{one.note}, with changes" if one.note else known.note
    return list(found.values())


# What belongs to it


class Looked(NamedTuple):
    """A view of a change, and what reads the source of that view or of one that holds more."""

    view: View
    texts_of: Callable[[View], Texts]


def look_at(workspace: Workspace, parameters: Parameters, budget: int) -> Looked | None:
    """What belongs to what git says has changed; None where nothing has, or where there is no git to ask."""
    from tersely.context.lenses.diff.changed_symbols import changed_symbols
    from tersely.foundation.git.listing import in_repository

    if not in_repository(str(workspace.root)):
        return None
    change = _of_git(workspace, parameters)
    changed = _told_once([one for file in change.files for one in (*changed_symbols(file), *_noted(file))])
    if not changed:
        return None
    return _looked(workspace, change, changed, budget, with_docs=parameters.packing.wording.with_docs)


def _looked(
    workspace: Workspace,
    change: _Change,
    changed: Sequence[ChangedSymbol],
    budget: int,
    *,
    with_docs: bool,
    fills: bool = True,
) -> Looked:
    from tersely.code.index.history import history
    from tersely.context.lenses.diff.evidence import Sources
    from tersely.context.lenses.diff.rank import look

    engine, store = workspace.engine, workspace.engine.store
    sides = {side.path: side for file in change.files for side in (file.before, file.after) if side is not None}

    def text_of(path: str) -> bytes:
        if path in sides:
            return sides[path].text
        return _in_tree(workspace, path) or b""

    def symbols_of(path: str) -> Sequence[Symbol]:
        return sides[path].symbols if path in sides else store.symbols_of(path)

    paths = {file.id: file.path for file in store.files()}
    committed = sorted({file.diff.old_path for file in change.files if file.diff.old_path and file.before})
    graph = engine.graph

    def imports_of(path: str) -> set[str]:
        if path not in graph.program.by_path:
            return set()
        return {target for item in store.imports(path) for target in graph.imports.targets(path, item)}

    sources = Sources(
        symbols_of,
        text_of,
        lambda name: [paths[one] for one in store.files_mentioning(name) if one in paths],
        graph.callers,
        graph.callees,
        engine.search.searcher().lexicon,
        history(workspace.root, change.tip, committed, store.directory),
        set(paths.values()),
        cache(imports_of),
        lambda name: {symbol.path for symbol in store.symbols_named(name)},
    )
    view = look(change.files, changed, sources, budget, fills=fills)
    view = replace(view, base=change.base, head=change.head)
    return Looked(view, lambda seen: _texts(seen, change.files, text_of, symbols_of, with_docs=with_docs))


def _texts(
    view: View,
    files: Sequence[FileChange],
    text_of: Callable[[str], bytes],
    symbols_of: Callable[[str], Sequence[Symbol]],
    *,
    with_docs: bool,
) -> Texts:
    """The source of the candidates, cut down to their parts; of what is gone as it was."""
    from tersely.context.pack.excerpt import Line, lines_of
    from tersely.context.pack.texts import Texts, cut_to_parts

    before: Mapping[str, Side] = {file.before.path: file.before for file in files if file.before is not None}
    gone = {one.symbol.id for one in view.candidates if one.is_gone and one.parts}

    def body_of(symbol: Symbol) -> Sequence[Line] | None:
        if symbol.id not in gone:
            return None
        text = before[symbol.path].text
        return lines_of(text, 0, len(text), 1)[symbol.start_line - 1 : symbol.end_line]

    return cut_to_parts(Texts(text_of, symbols_of, body_of, with_docs), view)


def aside(found: DiffContext, style: Style) -> str:
    """What no test ran, and what the session did."""
    said = change_lines(found.coverage, style) if found.coverage else []
    return "\n".join([*said, *session_lines(found.session, style)])


CAPABILITY = Capability(
    name="code.diff_context",
    summary="Build a context pack for a change: what it touches and what depends on it, within a token budget",
    description="The symbols whose lines differ, with the lines that were put in and those that were taken out; then "
    "what else is likely to change or to be read with them: callers and callees, tests, code that uses the same names, "
    "code that was written in the same commits, and what is near. Each has its reason, and the budget counts every "
    "token that is printed. A budget that is asked for is filled; without one, only what is likely to be needed is "
    "added.\n\n"
    "Without options the change is everything since this branch left the main one, uncommitted work and new files "
    "included. A patch is read from a file or, as -, from standard input, whether it has been applied or not.",
    parameters=Parameters,
    run=run,
    text=counted_text,
    aside=aside,
    remembering=REMEMBERING | {"patch", "coverage"},  # files from anywhere
    cacheable=False,  # what git compares is no part of the revision
    depends_on_git=True,
    examples=(
        "diff-context --base main --budget 2000",
        "diff-context --base HEAD~3 --head HEAD --format json",
        "diff-context --staged --format compact",
        "diff-context --worktree --coverage coverage.json",
    ),
)
