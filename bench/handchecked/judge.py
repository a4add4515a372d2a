"""What the program answers, and whether that is right.

An answer is right when it has all of the truth and nothing else that is graded exact or inferred. A
guess by name says of itself that it may be wrong, so one too many is counted but does not spoil an
answer. Only what is in the repository is compared. What an anonymous function calls counts for the
named one around it, so anonymous functions are left out where the truth does not name them, and so
are lines that import or export again a name whose definition was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bench.handchecked.cases import Case
from tersely.capabilities.invoke import ask
from tersely.code.symbols import Grade
from tersely.foundation.errors import TerselyError
from tersely.workspace import Workspace

LISTED = 5000  # the most that one page may have
EXTERNAL = "external:"
ANONYMOUS = "<"
NOTHING_FOUND = frozenset({"symbol_not_found"})


class Found(NamedTuple):
    """What the program is sure of, and what it guesses."""

    sure: frozenset[str]
    guessed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One case judged."""

    case: Case
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    guesses: int = 0  # that are not in the truth
    error: str = ""

    @property
    def right(self) -> bool:
        """Whether somebody may rely on the answer."""
        return not (self.missing or self.extra or self.error)


def judge(workspace: Workspace, case: Case) -> Verdict:
    """Ask and compare."""
    try:
        found = QUESTIONS[case.question](workspace, case)
    except TerselyError as error:
        return Verdict(case, error=str(error))
    missing = case.answer - found.sure - found.guessed
    extra = {one for one in found.sure - case.answer if not _is_anonymous(one)}
    return Verdict(
        case, tuple(sorted(missing)), tuple(sorted(extra)), len(found.guessed - case.answer)
    )


def _is_anonymous(symbol_id: str) -> bool:
    return symbol_id.rpartition(".")[2].rpartition(":")[2].startswith(ANONYMOUS)


def _callers(workspace: Workspace, case: Case) -> Found:
    calls = ask(workspace, "code.calls", symbol=case.of, direction="callers", limit=LISTED)
    return _graded((call.caller, call.grade) for call in calls.callers.items)


def _callees(workspace: Workspace, case: Case) -> Found:
    calls = ask(
        workspace, "code.calls", symbol=case.of, direction="callees", external=False, limit=LISTED
    )
    return _graded((call.callee, call.grade) for call in calls.callees.items)


def _impact(workspace: Workspace, case: Case) -> Found:
    impact = ask(workspace, "code.impact", symbol=case.of, depth=case.depth, limit=LISTED)
    return _graded((call.caller, call.grade) for call in impact.callers.items)


def _graded(rows: Iterable[tuple[str, Grade]]) -> Found:
    sure: set[str] = set()
    guessed: set[str] = set()
    for symbol_id, grade in rows:
        (guessed if grade is Grade.BY_NAME else sure).add(symbol_id)
    return Found(frozenset(sure), frozenset(guessed - sure))


def _definition(workspace: Workspace, case: Case) -> Found:
    try:
        defined = ask(workspace, "code.definition", place=case.of)
    except TerselyError as error:
        if error.code in NOTHING_FOUND:
            return Found(frozenset())
        raise
    places = {place for name in defined.names for place in name.places}
    binding = {
        place
        for path in {place.path for place in places}
        for place in _import_lines(workspace, path)
    }
    named = {f"{place.path}:{place.line}" for place in places}
    return Found(frozenset(named - (binding - case.answer)))


def _import_lines(workspace: Workspace, path: str) -> Iterator[str]:
    for imported in ask(workspace, "code.imports", file=path, limit=LISTED).imports.items:
        yield f"{path}:{imported.line}"


def _extract(workspace: Workspace, case: Case) -> Found:
    extraction = ask(workspace, "code.extract", path=case.of, limit=LISTED)
    return Found(frozenset(symbol.id for symbol in extraction.entries.items))


QUESTIONS: Mapping[str, Callable[[Workspace, Case], Found]] = {
    "callers": _callers,
    "callees": _callees,
    "impact": _impact,
    "definition": _definition,
    "extract": _extract,
}
