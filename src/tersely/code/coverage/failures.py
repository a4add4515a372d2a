"""Failed tests, from reports in the XML of JUnit and from the printed output of test runners.

Printed text is cut at the headings under which runners print one failure each, and the frames of
the stack are read from the lines below. All runners share one reading: they differ in their
headings, and in whether the last or the first frame is the place of the failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tersely.code.coverage.model import FailedTest, FailureFrame, Tested, invalid, slashed
from tersely.code.coverage.naming import SpelledName, name_of
from tersely.code.coverage.readers.xml_events import UnreadableXmlError, read_xml, root_name
from tersely.foundation.limits import MAX_COVERED_LINE
from tersely.foundation.text.shortening import shortened
from tersely.foundation.types import field, record, replace

MAX_FAILURES = 1_000  # of one run
MAX_FAILURE_FRAMES = 200  # of one failure, the last ones
MAX_MESSAGE_CHARACTERS = 160  # of a failure
JUNIT = "JUnit XML"
_PROBED_BYTES = 8_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

# The headings of one failure. Nothing is read below a heading of a summary.
_HEADINGS = (
    re.compile(r"^_{3,} (?:ERROR at \w+ of )?(?P<test>\S.*?) _{3,}$"),  # pytest
    re.compile(r"^\s*--- FAIL: (?P<test>\S+)"),  # the testing package with `func SpelledName`
    re.compile(r"^---- (?P<test>\S+) stdout ----$"),  # libtest
    re.compile(r"^\s*(?:FAIL|×)\s+(?P<test>\S+\.\w+ (?:\|.*?\| )?> .+?)(?: \d+ms)?$"),  # vitest
    re.compile(r"^\s+● (?P<test>\S.* › .+)$"),  # jest
    re.compile(r"^(?:FAIL|ERROR): (?P<test>\w+ \([\w.]+\))"),  # unittest
)
_LISTED = (
    re.compile(r"^(?:FAILED|ERROR) (?P<test>\S+::.+?)(?: - (?P<message>.*))?$"),  # pytest
    re.compile(r"^test (?P<test>\S+) \.\.\. FAILED$"),  # libtest
)
_SECTION_END = re.compile(r"^={3,} .* ={3,}$|^-{60,}$|^failures:$")

# Places on a stack. Where the call that failed comes last, `_OUTER_FIRST` matches.
_FILE_LINE = re.compile(r'^\s*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,9})')
_START_OF_LINE = re.compile(r"^(?P<path>[^\s:][^:\n]{0,400}\.\w{1,8}):(?P<line>\d{1,9}): ?")
_QUALIFIED = re.compile(
    r"\bat (?:[^()\s]*/)?(?P<name>[\w.$<>]+)\((?P<file>[\w$-]+\.\w+):(?P<line>\d{1,9})\)"
)
_ANYWHERE = re.compile(
    r"(?:^|[\s(\"'])(?:file://)?(?P<path>(?:[A-Za-z]:)?[\w./\\@+~-]{1,400}\.[A-Za-z]\w{0,7}):(?P<line>\d{1,9})(?!\w)"
)
_OUTER_FIRST = (_FILE_LINE, _START_OF_LINE)
_MESSAGE = re.compile(
    r"^(?:E  +)?(?P<message>(?:[\w.]*(?:Error|Exception|Failure)\b|assert|panic|thread ').*)$"
)
# a place, then the error there
_LOGGED = re.compile(r"^[^\s:]+\.\w{1,8}:\d{1,9}: (?P<message>\S.*)$")


def read_failures(text: bytes) -> Tested:
    """The outcomes in a report of tests, none for text without failures. Raises `invalid_report`."""
    start = text[:_PROBED_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and root_name(text) in {"testsuites", "testsuite"}:
        return read_junit(text)
    return read_printed(text.decode("utf-8", "replace"))


@record
class _Case:
    """A test while its element is read."""

    name: str
    message: str = ""
    texts: list[str] = field(default_factory=list)
    has_failed: bool = False
    was_skipped: bool = False


def read_junit(text: bytes) -> Tested:
    """JUnit's XML, as many runners write it: a `testcase` that failed has a `failure` or an
    `error`.
    """
    cases: list[_Case] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "testcase":
            names = (attributes.get("classname", ""), attributes.get("name", ""))
            cases.append(_Case(".".join(filter(None, names))))
        elif cases and name in {"failure", "error"}:
            cases[-1].has_failed = True
            cases[-1].message = cases[-1].message or attributes.get("message", "")
        elif cases and name == "skipped":
            cases[-1].was_skipped = True

    def end(name: str, inside: str) -> None:
        if cases and name in {"failure", "error"}:
            cases[-1].texts.append(inside)

    try:
        read_xml(text, start, end)
    except UnreadableXmlError as error:
        raise invalid(str(error), JUNIT) from error
    failed = [one for one in cases if one.has_failed][:MAX_FAILURES]
    skipped = frozenset(one.name for one in cases if one.was_skipped and not one.has_failed)
    return Tested(tuple(map(_failure_of_case, failed)), skipped)


def _failure_of_case(case: _Case) -> FailedTest:
    lines = "\n".join(case.texts).splitlines()
    return FailedTest(case.name, first_line(case.message) or _message(lines), frames_of(lines))


def read_printed(text: str) -> Tested:
    """The outcomes in the printed output of a test runner."""
    listed: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for row in _COLOURS.sub("", text).splitlines():
        heading = next((found for found in (one.match(row) for one in _HEADINGS) if found), None)
        if heading is not None:
            current = sections.setdefault(heading["test"].strip(), [])
        elif current and _SECTION_END.match(row):
            current = []
        else:
            current.append(row)
        entry = next((found for found in (one.match(row) for one in _LISTED) if found), None)
        if entry is not None:
            listed.setdefault(entry["test"].strip(), entry.groupdict().get("message") or "")
    return Tested(tuple(_join_sections(listed, sections))[:MAX_FAILURES])


def _join_sections(
    listed: Mapping[str, str], sections: Mapping[str, Sequence[str]]
) -> Iterator[FailedTest]:
    """Each failure once: a section under the name by which the test is listed, if it is."""
    left = dict(sections)
    for test, message in listed.items():
        own = next((name for name in left if _is_same_name(test, name)), None)
        lines = left.pop(own) if own is not None else ()
        yield FailedTest(test, first_line(message) or _message(lines), frames_of(lines))
    for test, lines in left.items():
        yield FailedTest(test, _message(lines), frames_of(lines))


def _is_same_name(listed: str, heading: str) -> bool:
    return listed == heading or ".".join(listed.split("::")[1:]) == heading.replace("::", ".")


def frames_of(lines: Sequence[str]) -> tuple[FailureFrame, ...]:
    """The frames of the stack in a text, the place of the failure last."""
    found = [frame for frame in map(_outer_first, lines) if frame is not None]
    if not found:
        found = [frame for frame in map(_inner_first, lines) if frame is not None][::-1]
    return tuple(found[-MAX_FAILURE_FRAMES:])


def _outer_first(row: str) -> FailureFrame | None:
    for pattern in _OUTER_FIRST:
        found = pattern.match(row)
        if found is not None:
            return _frame(found["path"], found["line"])
    return None


def _inner_first(row: str) -> FailureFrame | None:
    found = _QUALIFIED.search(row)
    if found is not None:
        # only the name of the file is given, and its packages by the name of the method
        packages = found["name"].split(".")[:-2]
        return _frame("/".join([*packages, found["file"]]), found["line"])
    found = _ANYWHERE.search(row)
    return _frame(found["path"], found["line"]) if found is not None else None


def _frame(path: str, line: str) -> FailureFrame | None:
    number = int(line)
    return FailureFrame(slashed(path), number) if 0 < number <= MAX_COVERED_LINE else None


def _message(lines: Sequence[str]) -> str:
    rows = [row.strip() for row in lines]
    found = (pattern.match(row) for pattern in (_MESSAGE, _LOGGED) for row in rows)
    return first_line(next((one["message"] for one in found if one), ""))


def first_line(text: str) -> str:
    """The first line of a text that is not empty, shortened."""
    words = next((row.strip() for row in text.splitlines() if row.strip()), "")
    return shortened(words, MAX_MESSAGE_CHARACTERS)


def merge_runs(runs: Sequence[Tested]) -> Tested:
    """Several reports of one run, merged: for each test the report with the most detail."""
    best: dict[SpelledName, FailedTest] = {}
    for failure in (one for run in runs for one in run.failures):
        name = name_of(failure.test)
        known = best.get(name)
        if known is None or len(failure.frames) > len(known.frames):
            best[name] = replace(
                failure, message=failure.message or (known.message if known else "")
            )
    return Tested(tuple(best.values()), frozenset().union(*(run.skipped for run in runs)))
