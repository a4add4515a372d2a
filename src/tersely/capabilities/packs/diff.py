"""`code.diff_context`: the symbols that a change touches and what the rest of it needs, within a
token budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import budget_of
from tersely.capabilities.answers.text import Style
from tersely.capabilities.coverage.changes import ChangeCoverage, change_lines, with_coverage
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
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
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Numbers, Strings, by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tersely.context.lenses.diff.change import Change
    from tersely.context.pack.change import ChangeView
    from tersely.context.pack.model import Pack
    from tersely.workspace import Workspace


@frozen
class DiffContextParameters:
    """The change, how much to tell of it, in which form."""

    patch: str = positional(
        "a file with a unified diff, or - for one on standard input; without it git is asked",
        default="",
        role=Role.CONTENT,
        metavar="PATCH",
    )
    base: str = option(
        "",
        "what the change leads from: the commit where this and HEAD part; the main branch if none",
        metavar="REF",
    )
    head: str = option("", "what it leads to; the working tree if none", metavar="REF")
    staged: bool = option(False, "what is staged, against the last commit or the base")
    worktree: bool = option(
        False, "what the last commit does not have, staged or not, new files included"
    )
    coverage: str = option(
        "", "a report of coverage: say which changed lines no test ran, and which tests ran them",
        role=Role.REPORT, metavar="FILE",
    )  # fmt: skip
    budget: int | None = budget_option()
    packing: Packing = group(Packing)


@frozen
class ShownSymbol(PackedSymbol):
    """One symbol of the pack, with its changed lines."""

    # the lines of the file that its code is cut down to, none for all of them
    shown: tuple[tuple[int, int], ...]
    diff_lines: Numbers  # those that the change put in


@frozen
class DiffContext(Packed):
    """A pack about a change."""

    items: tuple[ShownSymbol, ...]
    # the revision that the change leads from, as it was asked for; "HEAD" by itself, "" for a patch
    base: str
    head: str  # the revision that it leads to, as it was asked for; "index", "worktree" or "patch"
    changed: Strings  # ids of symbols that differ
    deleted: Strings  # ids of those that are gone
    files: int  # that differ
    coverage: ChangeCoverage | None


def aside(found: DiffContext, style: Style) -> str:
    """The lines beside the answer: what no test ran, and what the session did."""
    said = change_lines(found.coverage, style) if found.coverage else []
    return "\n".join([*said, *session_lines(found.session, style)])


@capability(
    "code.diff_context",
    counted_text,
    "diff-context --base main --budget 2000",
    "diff-context --base HEAD~3 --head HEAD --format json",
    "diff-context --staged --format compact",
    "diff-context --worktree --coverage coverage.json",
    aside=aside,
    remembering=REMEMBERING | {"patch", "coverage"},  # files from anywhere
    cacheable=False,  # what git compares is no part of the revision
    depends_on_git=True,
)
def run(
    workspace: Workspace,
    *,
    parameters: DiffContextParameters = group(DiffContextParameters),
) -> DiffContext:
    """Build a context pack for a change: what it touches and what depends on it.

    First the changed symbols, with the lines that were added and removed. Then the code that is
    likely to change or to be read with them: callers, callees, tests, code with the same names or
    from the same commits, and neighbours. Each has its reason, and the budget counts every token
    that is printed. An explicit budget is filled; without one, only likely code is added.

    Without options the change is everything since this branch left the main one, uncommitted work
    and new files included. A patch is read from a file or, as -, from standard input, whether it
    has been applied or not.
    """
    from tersely.context.lenses.diff.change import symbols_changed
    from tersely.context.pack.change import around_change

    _check(parameters)
    budget = budget_of(workspace, parameters.budget)
    check(parameters.packing.memory.reader)
    change = _change(workspace, parameters)
    changed = symbols_changed(change)
    with_docs, fills = parameters.packing.wording.with_docs, parameters.budget is not None
    engine, root = workspace.engine, workspace.root
    around = around_change(engine, root, change, changed, budget, with_docs=with_docs, fills=fills)
    view, coverage = with_coverage(workspace, around.view, parameters.coverage)
    texts = around.texts_of(view)
    answer = answered(workspace, parameters.packing, view, texts, budget)
    engine.note_unread(one.symbol for one in changed)
    return DiffContext(
        **answer.fields() | {"items": tuple(_symbols_of(answer.pack))},
        base=change.base,
        head=change.head,
        changed=tuple(one.symbol.id for one in changed if not one.is_gone),
        deleted=tuple(one.symbol.id for one in changed if one.is_gone),
        files=len(change.files),
        coverage=coverage,
    )


def _symbols_of(pack: Pack) -> Iterator[ShownSymbol]:
    items = {item.symbol.id: item for item in pack.items}
    for one in packed(pack):
        item = items.get(one.id)
        lines = item.change.lines if item and item.change else ()
        yield ShownSymbol(**by_name(one), shown=item.parts if item else (), diff_lines=lines)


def _check(parameters: DiffContextParameters) -> None:
    of_git = parameters.base or parameters.head or parameters.staged or parameters.worktree
    if parameters.patch and of_git:
        raise TerselyError(
            "usage",
            "PATCH and the options that ask git exclude each other",
            "leave out one of them",
        )
    if sum(map(bool, (parameters.head, parameters.staged, parameters.worktree))) > 1:
        raise TerselyError(
            "usage", "--head, --staged and --worktree exclude each other", "leave out all but one"
        )


def change_view(
    workspace: Workspace, parameters: DiffContextParameters, budget: int
) -> ChangeView | None:
    """The view of what git says has changed; None where nothing has, or where there is no git to
    ask.
    """
    from tersely.context.lenses.diff.change import symbols_changed
    from tersely.context.pack.change import around_change
    from tersely.foundation.git.listing import in_repository

    if not in_repository(str(workspace.root)):
        return None
    change = _change(workspace, parameters)
    changed = symbols_changed(change)
    if not changed:
        return None
    with_docs = parameters.packing.wording.with_docs
    return around_change(
        workspace.engine, workspace.root, change, changed, budget, with_docs=with_docs
    )


def _change(workspace: Workspace, parameters: DiffContextParameters) -> Change:
    from tersely.context.lenses.diff.change import Revisions, of_git, of_patch

    root, store = workspace.root, workspace.engine.store
    if parameters.patch:
        return of_patch(root, store, parameters.patch)
    asked = Revisions(parameters.base, parameters.head, parameters.staged, parameters.worktree)
    return of_git(root, store, asked)
