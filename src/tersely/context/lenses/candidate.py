"""The values that every lens yields: symbols worth showing, how much, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tersely.code.symbols import Range, Ranges, Symbol
from tersely.foundation.types import Numbers, Strings, field, frozen

TARGET_SCORE = 1.0  # what the question is about; nothing else reaches it
NEAR_TARGET_SCORE = 0.99

# Reasons that several parts speak of. A lens may use words of its own beside them.
TARGET = "target"
CALLEE = "callee"
CALLER = "caller"
TEST = "test"  # a caller that is a test
ENCLOSING = "class"
MEMBER = "member"
SIBLING = "sibling"
BASE = "base"
TYPE = "type"
CONSTANT = "constant"
DECORATOR = "decorator"
REFERENCE = "reference"  # a function that is named, not called
IMPORT = "import"  # a module that is named
DELETED = "deleted"  # what a change has taken away
CHANGED = "contains_diff"
STALE = "stale"  # it still uses something as it was before a change
MENTION = "mention"  # it uses names that the change takes away or brings
COCHANGE = "co-change"  # commits that wrote the changed lines wrote some of it, too
NEIGHBOUR = "neighbour"  # of the same file, or close by
WORDING = "wording"  # it is about the same words
RAISED = "failure"
STACK = "stack frame"
# from which chance on a task is about a symbol, and the word for it
CERTAINTIES = ((0.6, "very likely"), (0.2, "likely"), (0.0, "possible"))
BY_NAME = " by name"  # ends the reason of an edge for which only the name agrees


class Twin(NamedTuple):
    """A candidate that is folded into another, as its code is nearly the same: all that a pack says
    of it.
    """

    symbol: Symbol
    reason: str
    of: str
    differences: str  # on one line, what it has in place of the other's


class Edit(NamedTuple):
    """One place where a file differs: the line at which it begins now, and how many were put in and
    taken out.
    """

    line: int
    added: int
    removed: int


class Change(NamedTuple):
    """The change of a symbol: the lines that were put in, as numbered now, and those taken out,
    each with the line before which it stood.
    """

    lines: Numbers
    removed: tuple[tuple[int, str], ...]
    removed_more: int = 0  # of which only the number is told
    edits: tuple[Edit, ...] = ()  # of the whole file, in order


@frozen
class Candidate:
    """One symbol for a pack. `score` is in (0, 1], and `TARGET_SCORE` marks what was asked about.

    `reason` is a word or two that name a relation, `of` the id of the symbol it is a relation to.
    """

    symbol: Symbol
    score: float
    reason: str
    of: str = ""
    twins: tuple[Twin, ...] = ()
    change: Change | None = None
    whole_only: bool = False  # less than its body says too little to be worth its tokens
    outline_only: bool = False  # its body is worth less than it costs, however much room there is
    is_gone: bool = False  # the symbol is as it was before a change
    # lines of the file that its body is cut down to; all of it without any
    parts: Ranges = ()
    imports: Strings = ()  # what it takes from outside the repository
    waits: bool = False  # for a place in a pack until all that do not wait have one
    evidence: str = ""  # what is said beside the reason: figures, a message

    @property
    def is_target(self) -> bool:
        """True if the question is about this symbol."""
        return self.score >= TARGET_SCORE


@frozen
class View:
    """The view of a lens: candidates, best first, and by reason how many more it saw but does not
    name.
    """

    candidates: tuple[Candidate, ...]
    beyond: Mapping[str, int] = field(default_factory=dict)
    base: str = ""  # of a view of a change, what it leads from, and to
    head: str = ""
    apart: frozenset[str] = frozenset()  # files of which the parts say more than the whole would
    # candidates are shown in their order, whatever they cost, instead of by worth per byte
    in_order: bool = False
    # what looked, and how far: of equal ones the later sees all that there is to see of a target
    lens: str = ""


def ranked(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One candidate a symbol, the best found of each, best first; equals by id, so that the order
    is total.
    """
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.symbol.id)
        if known is None or candidate.score > known.score:
            best[candidate.symbol.id] = candidate
    return tuple(
        sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.symbol.id))
    )


def merged(ranges: Iterable[Range]) -> Ranges:
    """Ranges of lines in order, those that meet made one."""
    found: list[Range] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def ranged_lines(lines: Iterable[int], separator: str = ",", most: int | None = None) -> str:
    """`3-5,9 and 2 more`: numbers of lines, those that follow each other as one range; at most so
    many ranges, and the number of those that are left out.
    """
    found = merged((line, line) for line in lines)
    listed = separator.join(
        f"{first}-{last}" if last > first else f"{first}" for first, last in found[:most]
    )
    more = len(found) - len(found[:most])
    return f"{listed} and {more:,} more" if more else listed
