"""stack-graphs' tests: `^ defined: 3, 5` below a name says on which lines it is defined.

One file may hold several, each behind a comment `--- path: x ---`; lines keep counting through the
whole text. Each assertion is a case. Two figures are its own: `any` (one of the lines is found;
none where none is expected) and `exact` (the lines are equal).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.groundtruth.score import CaseResult, SuiteResult, compare, failed, ratio
from bench.groundtruth.subject import written

FRAGMENT = re.compile(r"---\s*path:\s*(\S+)\s*---")
SETTING = re.compile(r"---\s*global:\s*\S+=\S+\s*---")
ASSERTION = re.compile(r"(\^)\s*(\w+):\s*((?:[^\s,]+(?:\s*,\s*[^\s,]+)*)?)")


@dataclass(frozen=True, slots=True)
class Assertion:
    """The name at (line from 1, column from 0) of `path` is defined on `lines`."""

    path: str
    line: int
    column: int
    lines: frozenset[int]


def suite(suffixes: tuple[str, ...]) -> Callable[[Path], Iterable[CaseResult]]:
    """All test files of one language."""
    return lambda folder: (
        case
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in suffixes
        for case in score(path, path.relative_to(folder).as_posix())
    )


def score(path: Path, name: str) -> list[CaseResult]:
    """Every assertion of one test file."""
    text = path.read_text(encoding="utf-8")
    files = fragments(text, path.name)
    assertions = [
        assertion for file, source in files.items() for assertion in assertions_of(file, source)
    ]
    titles = [f"{name}:{assertion.line}:{assertion.column + 1}" for assertion in assertions]
    expected = [{str(line) for line in assertion.lines} for assertion in assertions]
    try:
        with written(files) as subject:
            return [
                compare(
                    title,
                    lines,
                    found_lines(subject.definition_lines(at.path, at.line, at.column), files),
                )
                for title, lines, at in zip(titles, expected, assertions, strict=True)
            ]
    except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
        return [failed(title, lines, error) for title, lines in zip(titles, expected, strict=True)]


def found_lines(places: Iterable[tuple[str, int]], files: Mapping[str, str]) -> set[str]:
    """Our places as lines of the test; a module begins where its fragment has text, not in the
    blank lines above.
    """
    return {str(max(line, _first_line(files.get(path, "")))) for path, line in places}


def _first_line(source: str) -> int:
    return next((number for number, line in enumerate(source.splitlines(), 1) if line.strip()), 1)


def fragments(text: str, default_path: str) -> dict[str, str]:
    """The files in a test, each padded with blank lines so that its lines are numbered as in the
    test.
    """
    files: dict[str, list[str]] = {}
    current = default_path
    for number, line in enumerate(text.splitlines()):
        if match := FRAGMENT.search(line):
            if not any(FRAGMENT.search(before) for before in text.splitlines()[:number]):
                files.clear()  # what precedes the first fragment is ignored
            current = match[1]
            files[current] = [""] * (number + 1)
        else:
            files.setdefault(current, [""] * number).append("" if SETTING.search(line) else line)
    return {path: "\n".join(lines) + "\n" for path, lines in files.items()}


def assertions_of(path: str, source: str) -> Iterator[Assertion]:
    """The `defined` assertions of one file; each speaks of the last line that is not an assertion."""
    code_line = 0
    for number, line in enumerate(source.splitlines(), 1):
        match = ASSERTION.search(line)
        if match is None:
            code_line = number
        elif match[2] == "defined":
            lines = frozenset(int(found) for found in re.findall(r"\d+", match[3]))
            yield Assertion(path, code_line, match.start(1), lines)


def figures(result: SuiteResult) -> dict[str, float]:
    """How many assertions hold, by the two readings."""
    touched = sum(case.agreed > 0 or (case.sound and case.complete) for case in result.cases)
    exact = sum(case.sound and case.complete for case in result.cases)
    return {"any": ratio(touched, len(result.cases)), "exact": ratio(exact, len(result.cases))}
