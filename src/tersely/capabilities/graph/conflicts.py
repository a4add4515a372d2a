"""`code.conflicts`: what the changes of other working trees of the project do to those of this one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.graph.listing import GRADE_WORDS
from tersely.code.symbols import Grade
from tersely.foundation.errors import TerselyError
from tersely.foundation.storage.roots import find_root
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.context.lenses.conflicts import Change, Conflict, Side, WorkingTree
    from tersely.workspace import Workspace

DEFAULT_CONFLICTS = 30


@frozen
class Told:
    """A conflict with one tree: a symbol that was changed on one side, and what was changed on the
    other that uses it, or is it.
    """

    tree: str
    symbol: str
    change: Change
    side: Side
    other: str
    grade: Grade
    line: int  # of the use, 0 without one


@frozen
class Compared:
    """A tree that was compared: since which commit, or why it was not."""

    name: str
    root: str
    base: str
    why_not: str


@frozen
class Conflicts:
    """The trees that were compared, and the conflicts with them, the worst first. `by_name` counts
    the uses by name alone that are left out.
    """

    trees: tuple[Compared, ...]
    conflicts: Page[Told]
    by_name: int


def text(found: Conflicts, style: Style) -> str:
    """The trees, then what is in conflict, a line each."""
    if not found.trees:
        return "there is no other working tree of this repository: name one, or make one with git worktree add"
    lines = []
    for tree in found.trees:
        since = f"not compared: {tree.why_not}" if tree.why_not else f"since {tree.base[:10]}"
        lines.append(f"{style.heading(tree.name)}  {style.faint(f'{tree.root}, {since}')}")
    total = found.conflicts.total
    lines.append(counted(total, "conflict") if total else "no conflicts found")
    lines += [f"  {_line(one, style)}" for one in found.conflicts.items]
    lines += rest_line(found.conflicts, "conflict", style)
    if found.by_name:
        uses = counted(found.by_name, "use")
        lines.append(
            style.faint(f"and {uses} by name alone, which may mean others: --all lists them")
        )
    return "\n".join(lines)


@capability("code.conflicts", text, "conflicts", cacheable=False)
def run(
    workspace: Workspace,
    *,
    trees: Strings = positional(
        "directories of other working trees or clones (default: all worktrees of this repository)",
        default=(),
        role=Role.DIRECTORY,
        metavar="DIRECTORY",
    ),
    all_: bool = option(False, "also uses of which nothing but a name says what they mean"),
    limit: int = limit_option(DEFAULT_CONFLICTS, "conflicts"),
    offset: int = offset_option("conflicts"),
) -> Conflicts:
    """Symbols changed here and in other working trees, and uses in one of what changed in the
    other.

    Each tree is compared with the commit in which both began, with what is not committed. Git
    merges most of it without a word: a function whose signature one tree changes while the other
    adds a call of it. Uses by name alone are counted, and listed with --all.
    """
    from tersely.context.lenses.conflicts import MAX_WORKING_TREES, working_trees

    others = _trees_of(workspace.root, trees) if trees else working_trees(workspace.root)
    compared, found = [], []
    for tree in others[:MAX_WORKING_TREES]:
        base, conflicts, why_not = _with(workspace, tree)
        compared.append(Compared(tree.name, str(tree.root), base, why_not))
        found += [
            Told(tree.name, one.symbol, one.change, one.side, one.other, one.grade, one.line)
            for one in conflicts
        ]
    compared += [
        Compared(tree.name, str(tree.root), "", f"more than {MAX_WORKING_TREES} trees")
        for tree in others[MAX_WORKING_TREES:]
    ]
    shown = [one for one in found if all_ or one.grade is not Grade.BY_NAME]
    page = page_of(shown, limit, offset)
    return Conflicts(tuple(compared), page, len(found) - len(shown))


def _trees_of(root: Path, places: Sequence[str]) -> list[WorkingTree]:
    """The trees that the directories lie in; raises for what is no other tree of this project."""
    from tersely.context.lenses.conflicts import WorkingTree
    from tersely.foundation.git.project import are_of_one_project

    trees = []
    for place in places:
        directory = (root / place).resolve()
        if not directory.is_dir():
            raise TerselyError(
                "root_not_found", f"{place} is not a directory", "name another checkout"
            )
        tree = find_root(directory)
        if tree == root:
            raise TerselyError(
                "invalid_argument",
                f"{place} is part of this working tree",
                "name another checkout of this project, or none for all its worktrees",
            )
        if not are_of_one_project(str(tree), str(root)):
            raise TerselyError(
                "invalid_argument",
                f"{place} is of another project",
                "name another checkout of this one",
            )
        trees.append(WorkingTree(tree))
    return trees


def _with(workspace: Workspace, tree: WorkingTree) -> tuple[str, list[Conflict], str]:
    """The base that both trees have in common, and the conflicts; or why there are none."""
    from tersely.context.lenses.conflicts import common_base, conflicts
    from tersely.workspace import Workspace as Opened

    try:
        base = common_base(workspace.root, tree.root)
        with Opened.open(tree.root) as other:
            other.check_freshness()
            with other.snapshot():
                return base, conflicts(workspace.engine, other.engine, base), ""
    except TerselyError as error:
        return "", [], error.message


def _line(one: Told, style: Style) -> str:
    changed_in, used_in = ("here", one.tree) if one.side == "here" else (one.tree, "here")
    if one.symbol == one.other:
        gone = f", gone {_at(changed_in)}" if one.change == "gone" else ""
        return f"{style.symbol(one.symbol)}  changed here and in {one.tree}{gone}"
    how = {"gone": "gone", "signature": "with another signature", "body": "changed"}[one.change]
    grade = "" if one.grade is Grade.EXACT else f"  {style.faint(GRADE_WORDS[one.grade])}"
    used = f"used {_at(used_in)} by {style.symbol(one.other)}:{one.line}{grade}"
    return f"{style.symbol(one.symbol)}  {how} {_at(changed_in)}, {used}"


def _at(place: str) -> str:
    return place if place == "here" else f"in {place}"
