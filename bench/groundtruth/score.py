"""The one scorer: sets of expected and found facts in, precision and recall out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case compared. Facts are spelled so that a reader understands a difference without the
    case at hand.
    """

    name: str
    agreed: int
    missing: tuple[str, ...] = ()  # expected, not found
    extra: tuple[str, ...] = ()  # found, not expected
    error: str = ""  # the engine failed on the case; everything expected is then missing

    @property
    def sound(self) -> bool:
        """Nothing expected is missing."""
        return not self.missing and not self.error

    @property
    def complete(self) -> bool:
        """Nothing is found that is not expected."""
        return not self.extra and not self.error


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """All cases of one suite. `figures` holds measures that only this suite has."""

    suite: str
    language: str
    cases: tuple[CaseResult, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    skipped: str = ""  # why nothing was measured
    seconds: float = 0.0

    @property
    def agreed(self) -> int:
        """Facts both expected and found."""
        return sum(case.agreed for case in self.cases)

    @property
    def expected(self) -> int:
        """Facts expected."""
        return self.agreed + sum(len(case.missing) for case in self.cases)

    @property
    def precision(self) -> float:
        """Share of the found facts that are expected."""
        return ratio(self.agreed, self.agreed + sum(len(case.extra) for case in self.cases))

    @property
    def recall(self) -> float:
        """Share of the expected facts that are found."""
        return ratio(self.agreed, self.expected)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.precision * self.recall, self.precision + self.recall)

    @property
    def complete(self) -> int:
        """Cases in which nothing is too much."""
        return sum(case.complete for case in self.cases)

    @property
    def sound(self) -> int:
        """Cases in which nothing is missing."""
        return sum(case.sound for case in self.cases)


def ratio(part: float, whole: float) -> float:
    """`part / whole`, 0 when there is nothing to divide by."""
    return part / whole if whole else 0.0


def compare(name: str, expected: Iterable[str], found: Iterable[str]) -> CaseResult:
    """Two sets of facts of one case."""
    wanted, got = set(expected), set(found)
    return CaseResult(
        name, len(wanted & got), tuple(sorted(wanted - got)), tuple(sorted(got - wanted))
    )


def failed(name: str, expected: Iterable[str], error: Exception) -> CaseResult:
    """A case on which the engine raised: nothing found."""
    return CaseResult(name, 0, tuple(sorted(set(expected))), (), f"{type(error).__name__}: {error}")


def judged(name: str, expected: Iterable[str], find: Callable[[], Iterable[str]]) -> CaseResult:
    """Compare with what is found; a crash on a case is a result of the suite."""
    try:
        return compare(name, expected, find())
    except Exception as error:  # noqa: BLE001
        return failed(name, expected, error)


def edge(caller: str, callee: str) -> str:
    """The spelling of one call edge as a fact."""
    return f"{caller} -> {callee}"
