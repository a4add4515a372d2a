"""Spectrum-based fault localisation: code is suspicious if failing tests ran it and passing ones
did not.

The measure is Ochiai's coefficient (Abreu, Zoeteweij, van Gemund 2007): of a piece of code that ran
in `ef` of `nf` failing tests and in `ep` passing ones it is ef / √(nf · (ef + ep)), from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tersely.code.coverage.model import FileCoverage
from tersely.foundation.arrays import np
from tersely.foundation.types import frozen

Array = np.ndarray[Any, np.dtype[Any]]


@frozen
class Spectrum:
    """A table of the tests that ran lines of one file: a row a test, a column a line from 0;
    failing tests come first.
    """

    ran: Array  # bool
    failing: int  # the rows of failing tests
    failing_total: int  # all failing tests there are

    def suspicions(self) -> Array:
        """The suspicion of each line."""
        ef = self.ran[: self.failing].sum(axis=0)
        ep = self.ran[self.failing :].sum(axis=0)
        return ochiai(ef, ep, self.failing_total)

    def times(self, lines: Sequence[int]) -> tuple[int, int]:
        """The numbers of failing and of passing tests that ran at least one of some lines."""
        within = [line for line in lines if line < self.ran.shape[1]]
        touched = np.asarray(self.ran[:, within].any(axis=1))  # of no lines, none
        return int(touched[: self.failing].sum()), int(touched[self.failing :].sum())


def spectrum(file: FileCoverage, failing: Collection[str], passing: Collection[str]) -> Spectrum:
    """The spectrum of one file."""
    rows = [file.tests[test] for test in sorted(failing) if test in file.tests]
    number = len(rows)
    rows += [file.tests[test] for test in sorted(passing) if test in file.tests]
    width = max(map(len, rows), default=0)
    packed = np.zeros((len(rows), width), np.uint8)
    for at, bits in enumerate(rows):
        packed[at, : len(bits)] = np.frombuffer(bits, np.uint8)
    ran: Array = np.unpackbits(packed, axis=1, bitorder="little").astype(bool)
    return Spectrum(ran, number, len(failing))


def ochiai(ef: Array, ep: Array, failing: int) -> Array:
    """Ochiai's coefficient of each place; 0 where no failing test ran."""
    ran = np.maximum(ef + ep, 1)
    found: Array = ef / np.sqrt(max(failing, 1) * ran)
    return found
