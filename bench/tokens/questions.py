"""The questions of a case: what is given, and what has to be seen.

*symbol*: the first function that the commit touches is given; the others, but for namesakes, and
what the new lines call are to be seen. *subject*: the subject of the commit is given; all that it
touches and calls is to be seen. *half*: the changes of every other touched symbol are made in the
working tree; the others, and what their new lines call, are to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.tokens.cases import Case, called, with_given_half
from bench.tokens.covered import Marks, marks
from tersely.code.symbols import CALLABLE_KINDS, Symbol
from tersely.workspace import Workspace

SYMBOL, SUBJECT, HALF = KINDS = ("symbol", "subject", "half")


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a tree; `changed` are files of it in which the given half has been made,
    by path.
    """

    kind: str
    tree: Path
    subject: str
    symbol: Symbol
    changed: Mapping[str, bytes]
    touched: tuple[Marks, ...]  # to be seen
    called: tuple[Marks, ...]


def questions(case: Case, tree: Path, workspace: Workspace) -> Iterator[Question]:
    """The questions of a case whose parent is checked out and indexed; those that leave nothing to
    be seen are none.
    """
    given, hidden = case.half()
    store = workspace.engine.store
    symbol = next((one for one in case.touched if one.kind in CALLABLE_KINDS), case.touched[0])

    def question(
        kind: str,
        touched: Sequence[Symbol],
        called_: Sequence[Symbol],
        changed: Mapping[str, bytes],
    ) -> Question:
        return Question(
            kind, tree, case.subject, symbol, changed, _marks(touched, tree), _marks(called_, tree)
        )

    found = called(case, store)
    yield question(SYMBOL, [one for one in case.touched if one.name != symbol.name], found, {})
    yield question(SUBJECT, case.touched, found, {})
    changed = with_given_half(case)
    if changed and hidden:
        yield question(HALF, hidden, called(case, store, given), changed)


def _marks(symbols: Sequence[Symbol], tree: Path) -> tuple[Marks, ...]:
    return tuple(marks(symbol, (tree / symbol.path).read_bytes()) for symbol in symbols)


Ask = Callable[[Question, int], str]
