"""Coverage and failures as plain values, independent of the format of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_COVERED_LINE
from tersely.foundation.types import field, frozen

Bits = bytes  # a set of line numbers: bit n, the least significant of a byte first, is line n


@frozen
class FileCoverage:
    """One file in a report. `path` is as written, its separators turned to slashes.

    `hits` maps each executable line to its number of runs, 0 for none. `tests` has the
    lines that each test ran, where the report knows tests; `checksums` has a tool's checksums of
    the text of lines.
    """

    path: str
    hits: Mapping[int, int]
    tests: Mapping[str, Bits] = field(default_factory=dict)
    checksums: Mapping[int, str] = field(default_factory=dict)

    @property
    def covered(self) -> frozenset[int]:
        """The lines that ran."""
        return frozenset(line for line, times in self.hits.items() if times > 0)

    @property
    def missed(self) -> frozenset[int]:
        """The lines that did not."""
        return frozenset(line for line, times in self.hits.items() if times <= 0)


@frozen
class Coverage:
    """A whole report."""

    format: str
    files: tuple[FileCoverage, ...]
    counts_times: bool = True  # `hits` are times; False: only whether
    knows_missed: bool = True  # lines that did not run are listed, too

    @property
    def tests(self) -> frozenset[str]:
        """The names of the tests in the report."""
        return frozenset(test for file in self.files for test in file.tests)


class FailureFrame(NamedTuple):
    """A place on the stack of a failure; `path` as written."""

    path: str
    line: int


@frozen
class FailedTest:
    """A test that failed, its name as the runner writes it. The last frame is the place of the
    failure.
    """

    test: str
    message: str  # one line
    frames: tuple[FailureFrame, ...]


@frozen
class Tested:
    """The outcomes of a report of tests: the failed tests, and those that were not run."""

    failures: tuple[FailedTest, ...]
    skipped: frozenset[str] = frozenset()


def slashed(path: str) -> str:
    """A path with slashes, from any operating system."""
    return path.replace("\\", "/")


def invalid(what: str, format_name: str) -> TerselyError:
    """The error for a report with impossible content."""
    return TerselyError(
        "invalid_report", f"the report is no {format_name}: {what}", "have the tool write it anew"
    )


def line_number(text: str | int | None, format_name: str) -> int:
    """A line number of a report; raises `invalid_report`."""
    number = whole_number(text, format_name)
    if not 0 <= number <= MAX_COVERED_LINE:
        raise invalid(f"there is no line {number}", format_name)
    return number


def whole_number(text: str | int | None, format_name: str) -> int:
    """A number of a report; raises `invalid_report`."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    try:
        return (
            int(text or "", 10) if isinstance(text, str) and len(text) < 20 else int(float("nan"))
        )
    except ValueError:
        raise invalid(f"{str(text)[:40]!r} is no number", format_name) from None


def bits_of(lines: frozenset[int] | set[int]) -> Bits:
    """A set of lines as bits."""
    number = 0
    for line in lines:
        number |= 1 << line
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def lines_of_bits(bits: Bits) -> frozenset[int]:
    """Bits as a set of lines."""
    return frozenset(
        8 * place + bit
        for place, byte in enumerate(bits)
        if byte
        for bit in range(8)
        if byte >> bit & 1
    )


def union_of(left: Bits, right: Bits) -> Bits:
    """The union of two sets of lines."""
    number = int.from_bytes(left, "little") | int.from_bytes(right, "little")
    return number.to_bytes(max(len(left), len(right)), "little")
