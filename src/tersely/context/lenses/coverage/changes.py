"""A change and what ran of it: changed lines that no test ran, and the tests that ran changed
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tersely.code.coverage.model import FileCoverage, lines_of_bits
from tersely.code.places import is_test
from tersely.code.symbols import Symbol
from tersely.context.lenses.candidate import TEST, Candidate, View, ranged_lines, ranked
from tersely.context.lenses.coverage.measured import Measured
from tersely.foundation.types import Numbers, Strings, frozen, replace

MAX_CHANGE_TESTS = 50  # that ran changed lines, and are offered to a pack
RAN_CHANGE_SCORE = 0.95  # of the test that ran most of the change, and little else
# How much less a test says that runs much beside the change: a test of everything runs every
# change.
BREADTH_POWER = 0.25


class UnrunLines(NamedTuple):
    """Changed lines of one symbol that no test ran."""

    symbol: str
    lines: Numbers


@frozen
class RanChange:
    """The part of a change that ran. Lines are those that tests can run, in code that is no test."""

    lines: int
    ran: int
    not_run: tuple[UnrunLines, ...]
    tests: Strings  # that ran some of it, what says most first
    outside: Strings  # changed files of which the report says nothing


StatementLines = Callable[[str], frozenset[int]]


def joined(
    view: View,
    found: Measured,
    test_of: Callable[[str], Symbol | None],
    statement_lines: StatementLines,
) -> tuple[View, RanChange]:
    """The view of a change with what ran of it said beside it, and the tests that ran it among the
    candidates.

    `test_of` finds the definition of a test by its name; `statement_lines` the lines of a file on
    which statements begin, for reports that do not tell what did not run.
    """
    changed = [
        one for one in view.candidates if one.change and one.change.lines and not one.is_gone
    ]
    product = [one for one in changed if not is_test(one.symbol.path)]
    told: list[Candidate] = []
    lines = ran = 0
    not_run = []
    for one in product:
        file = found.files.get(one.symbol.path)
        assert one.change is not None
        if file is None:
            continue
        known = _known(file, found, statement_lines)
        missed = tuple(
            line for line in one.change.lines if line in known and file.hits.get(line, 0) <= 0
        )
        number = sum(line in known for line in one.change.lines)
        lines, ran = lines + number, ran + number - len(missed)
        if missed:
            not_run.append(UnrunLines(one.symbol.id, missed))
            told.append(replace(one, evidence=f"no test ran {ranged_lines(missed)}"))
        elif number:
            told.append(replace(one, evidence="all of it ran"))
    outside = sorted(
        {
            one.symbol.path
            for one in product
            if one.symbol.path not in found.files and one.symbol.language
        }
    )
    tests = _tests(product, found)
    candidates = ranked([*_replaced(view, told), *_test_candidates(tests, test_of)])
    joined_view = replace(view, candidates=candidates)
    return joined_view, RanChange(
        lines, ran, tuple(not_run), tuple(name for name, _ in tests), tuple(outside)
    )


def _known(file: FileCoverage, found: Measured, statement_lines: StatementLines) -> frozenset[int]:
    return frozenset(file.hits) if found.knows_missed else file.covered | statement_lines(file.path)


def _replaced(view: View, told: list[Candidate]) -> Iterator[Candidate]:
    by_id = {one.symbol.id: one for one in told}
    return (
        by_id[one.symbol.id] if one.change and one.symbol.id in by_id else one
        for one in view.candidates
    )


def _tests(changed: list[Candidate], found: Measured) -> list[tuple[str, float]]:
    """The tests that ran changed lines with what each says, from 0 to 1, the most first."""
    touched: dict[str, int] = {}
    for one in changed:
        file = found.files.get(one.symbol.path)
        assert one.change is not None
        for test, bits in file.tests.items() if file is not None else ():
            number = sum(
                line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1
                for line in one.change.lines
            )
            if number:
                touched[test] = touched.get(test, 0) + number
    breadth = {test: sum(len(lines_of_bits(file.tests.get(test, b""))) for file in found.files.values())
               for test in touched}  # fmt: skip
    worth = {test: number / breadth[test] ** BREADTH_POWER for test, number in touched.items()}
    most = max(worth.values(), default=1.0)
    return sorted(
        ((test, worth[test] / most) for test in touched), key=lambda pair: (-pair[1], pair[0])
    )


def _test_candidates(
    tests: list[tuple[str, float]], test_of: Callable[[str], Symbol | None]
) -> Iterator[Candidate]:
    for name, worth in tests[:MAX_CHANGE_TESTS]:
        symbol = test_of(name)
        if symbol is not None:
            yield Candidate(symbol, RAN_CHANGE_SCORE * worth, TEST, evidence="that ran it")
