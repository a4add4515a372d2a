"""The conflicts of two working trees of a project, whether git would notice or not.

Each is compared with the commit in which both began. A symbol that both have changed is a conflict,
and so is a symbol that one has changed where the other has written a line that uses it: that line
was written for what it was. A class is compared by its members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from os import fsdecode
from pathlib import Path

from tersely.code.engine import Engine
from tersely.code.graph.users import Users
from tersely.code.symbols import CLASS_KINDS, Grade, Kind, Symbol
from tersely.context.lenses.diff.change import Revisions, of_git, symbols_changed, unread
from tersely.context.lenses.diff.changed_symbols import ChangedById, ChangedSymbol
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import GitUnavailableError, run
from tersely.foundation.types import frozen

MAX_COMPARED_SYMBOLS = 1_000  # of one tree, whose users in the other are looked for
MAX_WORKING_TREES = 20  # of one repository, beside that which is asked
_GRADES = list(Grade)  # the surest first
_BRANCHES = "refs/heads/"


class Side(StrEnum):
    """One of two trees."""

    HERE = "here"
    THERE = "there"


class Change(StrEnum):
    """The changes of a symbol, the worst first."""

    GONE = "gone"
    SIGNATURE = "signature"
    BODY = "body"


@frozen
class WorkingTree:
    """A checkout: where it is, and its branch, "" where it is on none."""

    root: Path
    branch: str = ""

    @property
    def name(self) -> str:
        """The name as people call it."""
        return self.branch or self.root.name


@frozen
class Conflict:
    """A symbol that was changed on one side, and who is touched by it on the other: a caller there,
    or itself.
    """

    symbol: str  # its id
    change: Change
    side: Side  # where it was changed
    other: str  # the id of what was changed on the other side
    grade: Grade  # how sure it is that the other uses it
    line: int = 0  # of the use, 0 where both have changed one symbol

    @property
    def is_same(self) -> bool:
        """True if both sides have changed one symbol."""
        return self.symbol == self.other


def working_trees(root: Path) -> list[WorkingTree]:
    """The other working trees of a repository, those that are there. Raises `git_unavailable`."""
    try:
        told = fsdecode(run(str(root), ["worktree", "list", "--porcelain"]))
    except (OSError, GitUnavailableError) as error:
        raise TerselyError(
            "git_unavailable",
            f"{root}: {error}",
            getattr(error, "hint", "") or "conflicts are between trees of one repository",
        ) from error
    found = []
    for block in told.split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        place, branch = fields.get("worktree", ""), fields.get("branch", "")
        tree = Path(place).resolve()
        if place and tree.is_dir() and tree != root:
            found.append(WorkingTree(tree, branch.removeprefix(_BRANCHES)))
    return found


def common_base(here: Path, there: Path) -> str:
    """The commit in which two trees began; raises `git_unavailable` where neither knows that of the
    other.
    """
    for one, other in ((here, there), (there, here)):
        try:
            tip = run(str(other), ["rev-parse", "--verify", "HEAD"]).decode().strip()
            return run(str(one), ["merge-base", "HEAD", tip]).decode().strip()
        except (OSError, GitUnavailableError):
            continue
    hint = "fetch the commits of one into the other"
    raise TerselyError(
        "git_unavailable", f"{here} and {there} have no commit in common that is known", hint
    )


def changed_since(engine: Engine, base: str, asked: Engine) -> ChangedById:
    """The symbols that a tree has changed since a commit, by id; what lies outside of definitions
    is left out. What was renamed is gone by the id that it had. Who is `asked` notes what is not
    known of the change.
    """
    change = of_git(engine.root, engine.store, Revisions(base=base))
    asked.note_incomplete(unread(change))
    changed = [one for one in symbols_changed(change) if one.symbol.kind is not Kind.MODULE]
    found = {one.symbol.id: one for one in changed}
    for one in changed:
        if one.was is not None and one.is_renamed:
            found.setdefault(one.was.id, ChangedSymbol(one.was, is_gone=True))
    return found


def conflicts(here: Engine, there: Engine, base: str) -> list[Conflict]:
    """The conflicts between the changes of two trees since a commit, the worst first."""
    ours, theirs = (changed_since(one, base, here) for one in (here, there))
    found = [*_same(ours, theirs, here, there)]
    found += _used(ours, Side.HERE, there, theirs)
    found += _used(theirs, Side.THERE, here, ours)
    return sorted(found, key=_order)


def _order(conflict: Conflict) -> tuple[int, bool, int, str, str]:
    badness = list(Change).index(conflict.change)
    return (
        badness,
        not conflict.is_same,
        _GRADES.index(conflict.grade),
        conflict.symbol,
        conflict.other,
    )


def _same(
    ours: ChangedById, theirs: ChangedById, here: Engine, there: Engine
) -> Iterator[Conflict]:
    for symbol_id in ours.keys() & theirs.keys():
        mine, other = ours[symbol_id], theirs[symbol_id]
        is_gone = mine.is_gone or other.is_gone
        is_by_members = mine.symbol.kind in CLASS_KINDS and not is_gone
        if is_by_members or _are_alike(mine, other, here, there):
            continue
        side = Side.HERE if mine.is_gone else Side.THERE
        change = Change.GONE if is_gone else Change.BODY
        yield Conflict(symbol_id, change, side, symbol_id, Grade.EXACT)


def _are_alike(mine: ChangedSymbol, other: ChangedSymbol, here: Engine, there: Engine) -> bool:
    """True if two trees have changed a symbol in the same way."""
    if mine.is_gone or other.is_gone:
        return mine.is_gone and other.is_gone
    return _text(here, mine.symbol) == _text(there, other.symbol)


def _text(engine: Engine, symbol: Symbol) -> bytes:
    return engine.source(symbol.path)[symbol.start_byte : symbol.end_byte]


def _used(
    changed: ChangedById,
    side: Side,
    other: Engine,
    others: ChangedById,
) -> Iterator[Conflict]:
    """The definitions of one tree that use what the other has changed."""
    users = Users(other.graph)
    for symbol_id in list(changed)[:MAX_COMPARED_SYMBOLS]:
        surest: dict[str, Grade] = {}
        for user in users.of(symbol_id):
            surest[user.id] = min(user.grade, surest.get(user.id, user.grade), key=_GRADES.index)
        for user_id, grade in surest.items():
            writer = others.get(user_id)
            if user_id == symbol_id or writer is None:
                continue
            if line := _line_of_use(writer, changed[symbol_id].symbol, other):
                change = _change_of(changed[symbol_id])
                yield Conflict(symbol_id, change, side, user_id, grade, line)


def _line_of_use(user: ChangedSymbol, used: Symbol, engine: Engine) -> int:
    """The first line that was put in and names a symbol, or what it is a member of; 0 for none."""
    words = "|".join(map(re.escape, used.qualname.split(".")[-2:]))
    named = re.compile(rf"\b(?:{words})\b".encode())
    rows = [] if user.is_gone else engine.source(user.symbol.path).split(b"\n")
    return next((line for line in user.lines if named.search(rows[line - 1])), 0)


def _change_of(changed: ChangedSymbol) -> Change:
    """The change of a symbol to who uses it."""
    if changed.is_gone:
        return Change.GONE
    return Change.SIGNATURE if changed.news else Change.BODY
