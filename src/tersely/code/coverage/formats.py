"""The format of a report, recognised by its content, since the names of reports vary."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tersely.code.coverage.model import Coverage
from tersely.code.coverage.readers.coveragepy import read_data, read_report
from tersely.code.coverage.readers.line_reports import read_coverprofile, read_lcov
from tersely.code.coverage.readers.xml_events import root_name
from tersely.code.coverage.readers.xml_reports import read_cobertura, read_jacoco
from tersely.foundation.errors import TerselyError

FORMATS = "coverage.py (.coverage, JSON), lcov, coverprofile, Cobertura, JaCoCo"

_DATABASE = b"SQLite format 3\x00"
_LCOV = re.compile(rb"(?m)^(?:TN:.*\r?\n)?(?:[A-Z]+:.*\r?\n)*?SF:")
_COVERPROFILE = re.compile(rb"mode: (?:set|count|atomic)\r?(?:\n|$)")
_PROBED_BYTES = 8_000
_CLOVER = re.compile(rb"<coverage\b[^>]*\bclover=|<project\b")


def read_coverage(texts: Sequence[bytes]) -> Coverage:
    """The coverage in the files of one report, more than one only of coverage.py data; raises
    `invalid_report`.
    """
    if texts and all(text.startswith(_DATABASE) for text in texts):
        return read_data(texts)
    text = texts[0]
    reader = _reader(text)
    if reader is None:
        raise TerselyError(
            "invalid_report", "the file is not a report of coverage", f"known: {FORMATS}"
        )
    return reader(text)


def _reader(text: bytes) -> Callable[[bytes], Coverage] | None:
    start = text[:_PROBED_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return read_report
    if start.startswith(b"<"):
        return _xml_reader(text)
    if _COVERPROFILE.match(start):
        return read_coverprofile
    return read_lcov if _LCOV.match(start) else None


def _xml_reader(text: bytes) -> Callable[[bytes], Coverage] | None:
    root = root_name(text)
    if root == "report":
        return read_jacoco
    is_other = root != "coverage" or _CLOVER.search(text[:_PROBED_BYTES])
    return None if is_other else read_cobertura
