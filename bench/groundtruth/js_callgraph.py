"""js-callgraph's tests: `caller file:name:call line -> callee file:name:definition line` beside
each program.

Names of anonymous functions are that tool's own, so a call counts by its line and its callee by the
line of its definition. A program is judged with the files it requires and by the calls written in
its own file; calls of natives do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench.groundtruth.score import CaseResult, edge, judged
from bench.groundtruth.subject import Subject, written

SUFFIXES = (".js", ".ts", ".vue")
EDGE = re.compile(
    r"^(?P<file>[^:]+):[^:]*:(?P<line>\d+) -> (?P<to_file>[^:]+):[^:]*:(?P<to_line>\d+)$"
)
QUOTED = re.compile(r"""['"]([\w./-]+)['"]""")


def run(folder: Path) -> Iterator[CaseResult]:
    """Every truth below the folder."""
    for truth in sorted(folder.rglob("*.truth")):
        program = next(
            (path for path in (truth.with_suffix(suffix) for suffix in SUFFIXES) if path.is_file()),
            None,
        )
        if program is not None:
            yield score(program, truth, truth.relative_to(folder).with_suffix("").as_posix())


def score(program: Path, truth: Path, name: str) -> CaseResult:
    """One program against its truth."""
    expected = set(truth_edges(truth.read_text(encoding="utf-8")))
    files = closure(program)

    def find_edges() -> set[str]:
        with written(
            {path.relative_to(program.parent).as_posix(): text for path, text in files.items()}
        ) as subject:
            return set(found_edges(subject, program.name))

    return judged(name, expected, find_edges)


def truth_edges(text: str) -> Iterator[str]:
    """The edges of a truth file as facts; edges to natives have no callee line and fall out."""
    for line in text.splitlines():
        if match := EDGE.match(line.strip()):
            yield edge(f"{match['file']}:{match['line']}", f"{match['to_file']}:{match['to_line']}")


def closure(program: Path) -> dict[Path, str]:
    """A program and every file that it names in quotes, directly or through others."""
    texts: dict[Path, str] = {}
    pending = [program]
    while pending:
        path = pending.pop()
        if path in texts:
            continue
        texts[path] = path.read_text(encoding="utf-8")
        pending.extend(
            target for named in QUOTED.findall(texts[path]) if (target := _file(path.parent, named))
        )
    return texts


def _file(folder: Path, named: str) -> Path | None:
    endings = ("", *SUFFIXES, "/index.js")
    candidates = (folder / f"{named}{ending}" for ending in endings)
    return next((path for path in candidates if path.is_file() and path.suffix in SUFFIXES), None)


def found_edges(subject: Subject, program: str) -> Iterator[str]:
    """Our edges whose call is written in the program itself, as facts."""
    for found in subject.edges():
        callee = subject.symbols[
            subject.constructor(found.callee, ("constructor",)) or found.callee
        ]
        to_file = Path(callee.path).name
        for site in found.sites:
            if site.path == program:
                yield edge(f"{program}:{site.line}", f"{to_file}:{callee.name_line}")
