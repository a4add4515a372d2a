"""What every lens yields: symbols worth showing, how much, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from laconic.code.symbols import Symbol

TARGET_SCORE = 1.0  # what the question is about; nothing else reaches it
NEAR_TARGET_SCORE = 0.99

# Reasons that several parts speak of. A lens may use words of its own beside them.
TARGET = "target"
CALLEE = "callee"
CALLER = "caller"
TEST = "test"  # a caller that is a test
ENCLOSING = "class"
MEMBER = "member"
BASE = "base"
TYPE = "type"
CONSTANT = "constant"
BY_NAME = " by name"  # ends the reason of an edge for which only the name agrees


class Twin(NamedTuple):
    """A candidate that is left out, as its code is nearly that of another: all that a pack says of it."""

    id: str
    reason: str
    line: int
    end_line: int
    similarity: float  # from 0 to 1
    differences: str  # on one line, what it has in place of the other's


@dataclass(frozen=True, slots=True)
class Candidate:
    """One symbol for a pack. `score` is in (0, 1], and `TARGET_SCORE` marks what was asked about.

    `reason` is a word or two that name a relation, `of` the id of the symbol it is a relation to.
    """

    symbol: Symbol
    score: float
    reason: str
    of: str = ""
    twins: tuple[Twin, ...] = ()

    @property
    def is_target(self) -> bool:
        """Whether the question is about this symbol."""
        return self.score >= TARGET_SCORE


@dataclass(frozen=True, slots=True)
class View:
    """What a lens saw: candidates, best first, and by reason how many more it saw but does not name."""

    candidates: tuple[Candidate, ...]
    beyond: Mapping[str, int] = field(default_factory=dict)


def ranked(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One candidate a symbol, the best found of each, best first; equals by id, so that the order is total."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.symbol.id)
        if known is None or candidate.score > known.score:
            best[candidate.symbol.id] = candidate
    return tuple(sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.symbol.id)))
