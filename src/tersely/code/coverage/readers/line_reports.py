"""Reports of coverage that are lines of text: lcov, coverprofile.

lcov: geninfo(1), "Files". coverprofile: https://go.dev/src/cmd/cover/profile.go.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from tersely.code.coverage.model import (
    Coverage,
    FileCoverage,
    bits_of,
    invalid,
    line_number,
    slashed,
    union_of,
    whole_number,
)

LCOV, COVERPROFILE = "lcov", "coverprofile"

_BLOCK = re.compile(
    r"^(?P<path>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.(?P<end>\d+) \d+ (?P<times>\d+)$"
)
_MODE = re.compile(r"^mode: (?P<mode>set|count|atomic)$")


class _Draft:
    """The sums of the records of one file."""

    def __init__(self) -> None:
        self.hits: dict[int, int] = {}
        self.tests: dict[str, bytes] = {}
        self.checksums: dict[int, str] = {}


def read_lcov(text: bytes) -> Coverage:
    """lcov: records of one file and one test; those of one file are added up."""
    drafts: dict[str, _Draft] = defaultdict(_Draft)
    test, draft = "", None
    hits: dict[int, int] = {}
    for row in _rows(text):
        key, _, value = row.partition(":")
        if key == "TN":
            test = value.strip()
        elif key == "SF":
            draft, hits = drafts[slashed(value.strip())], {}
        elif key == "DA" and draft is not None:
            number, _, rest = value.partition(",")
            times, _, checksum = rest.partition(",")
            line = line_number(number, LCOV)
            hits[line] = hits.get(line, 0) + max(0, whole_number(_without_exponent(times), LCOV))
            if checksum:
                draft.checksums[line] = checksum
        elif row.strip() == "end_of_record" and draft is not None:
            _end_record(draft, test, hits)
            draft, hits = None, {}
    if draft is not None:
        raise invalid("it ends within a record", LCOV)
    files = (
        FileCoverage(path, one.hits, one.tests, one.checksums)
        for path, one in sorted(drafts.items())
    )
    return Coverage(LCOV, tuple(files))


def _without_exponent(times: str) -> str:
    """Some tools write large counts as `1.5e+06`, and `-` for none."""
    if times == "-":
        return "0"
    try:
        return times if times.lstrip("-").isdigit() else str(int(float(times)))
    except (ValueError, OverflowError):
        return times


def _end_record(draft: _Draft, test: str, hits: dict[int, int]) -> None:
    for line, times in hits.items():
        draft.hits[line] = draft.hits.get(line, 0) + times
    if test:
        ran = bits_of({line for line, times in hits.items() if times})
        draft.tests[test] = union_of(draft.tests.get(test, b""), ran)


def read_coverprofile(text: bytes) -> Coverage:
    """coverprofile: blocks from a place to a place. A line that blocks share ran as often as the
    most frequent one.
    """
    rows = _rows(text)
    mode = _MODE.match(next(rows, ""))
    if mode is None:
        raise invalid("it does not begin with a mode", COVERPROFILE)
    blocks: dict[str, dict[tuple[int, int, int], int]] = defaultdict(dict)
    for row in rows:
        found = _BLOCK.match(row)
        if found is None:
            if row.strip() and not _MODE.match(row):
                raise invalid(f"{row[:60]!r} is no block", COVERPROFILE)
            continue
        first = line_number(found["first"], COVERPROFILE)
        last = line_number(found["last"], COVERPROFILE)
        place, times = (first, last, int(found["end"])), whole_number(found["times"], COVERPROFILE)
        of_file = blocks[found["path"]]
        known = of_file.get(place, 0)  # listed once for every package whose tests were run
        of_file[place] = max(known, times) if mode["mode"] == "set" else known + times
    files = (FileCoverage(path, _lines_of_blocks(found)) for path, found in sorted(blocks.items()))
    return Coverage(COVERPROFILE, tuple(files), counts_times=mode["mode"] != "set")


def _lines_of_blocks(blocks: dict[tuple[int, int, int], int]) -> dict[int, int]:
    hits: dict[int, int] = {}
    for (first, last, end), times in blocks.items():
        last -= end == 1 and last > first  # it ends before the first character of that line
        for line in range(first, last + 1):
            hits[line] = max(hits.get(line, 0), times)
    return hits


def _rows(text: bytes) -> Iterator[str]:
    return (
        row.rstrip("\r")
        for row in text.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    )
