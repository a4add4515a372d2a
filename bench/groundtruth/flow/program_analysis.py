"""python-program-analysis's tests: pairs of lines that depend on each other, what statements define
and use, slices.

Programs and expectations are read from the TypeScript of the tests. Each assertion is a fact, found
where our answer agrees with it; lists that are to be equal give a fact for each member. What counts
alike is put the same way:

- `else:` is a statement of its own there. Here the first statement after it stands for it.
- A loop decides whether it runs again; that it depends on itself is not counted.
- An update is a write of what the same statement reads, of a part, or of what is changed in place.
- A definition uses what its routines read of what is around it.

Left out are programs that come with a table of that tool's own about functions, or with its
annotations in strings, and where a definition ends (after the file's last line, there).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.groundtruth.score import CaseResult, compare, failed
from tersely.code.flow.dominance import control_dependences
from tersely.code.flow.effects import with_effects
from tersely.code.flow.lines import lines_of_all, routine_at, statements_at
from tersely.code.flow.reaching import data_flows
from tersely.code.flow.slicing import Direction, slice_of
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import ENTRY, OBJECT, Routine
from tersely.code.syntax.cfg.read import read_routines

FILES = ("analysis.test.ts", "slice.test.ts")
TEST = re.compile(r"^(?P<space> *)it\((?P<quote>['\"])(?P<title>.*?)(?P=quote), ", re.MULTILINE)
GROUP = re.compile(r"^describe\('(?P<title>.*?)'", re.MULTILINE)
PROGRAM = re.compile(r"\b(?:analyze|analyzeLineDeps|get\w+FromStatements?|getUseNames|parse)\(")
TOKEN = re.compile(r"/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[(){}]", re.DOTALL)
OWN_TABLES = ("functions: ['", "types:", "some_magic")

PAIR = re.compile(r"expect\(deps\)\.to\.(not\.)?deep\.include\(\[(\d+), (\d+)\]\)")
PAIRS = re.compile(r"expect\(deps\)\.to\.deep\.equal\((\[[\d\[\], ]*\])\)")
EXTENT = re.compile(
    r"expect\(deps\.items\[0\]\.(from|to)Node\.location\)\.to\.deep\.equal\(\{(.*?)\}\)"
)
LEVELS = re.compile(r"name: '(\w+)'(?:, level: ReferenceType\.(\w+))?")
LEVEL = re.compile(r"\.level\)\.to\.equal\(ReferenceType\.(\w+)\)")
NAME = re.compile(
    r"expect\((?:names|defs\[\d\]\.name|uses)\)\.to\.(not\.)?(?:include|equal)\('(\w+)'\)"
)
COUNT = re.compile(r"expect\(defs(?:\.length)?\)\.to\.(?:deep\.)?equal\((\d+|\[\])\)")
LINES = re.compile(
    r"\[([\d, ]+)\]\.forEach\(line => expect\(lineNums\)\.to\.(not\.)?(?:deep\.)?include\(line\)\)"
)
LINE = re.compile(
    r"expect\((?:lineNums|locations\.items)\)\.to\.(not\.)?(?:deep\.)?include\((?:loc\()?(\d+)"
)
CRITERION = re.compile(r"new LocationSet\(loc\((\d+),")


class Case(NamedTuple):
    """One test: its group, its program, and what it asserts, with single spaces."""

    name: str
    group: str
    program: str
    asserts: str


class Found(NamedTuple):
    """The facts of a case that the truth wants, and those that hold here."""

    expected: set[str]
    holding: set[str]

    def claim(self, fact: str, holds: bool) -> None:
        """The truth wants a fact."""
        self.expected.add(fact)
        if holds:
            self.holding.add(fact)


def run(folder: Path) -> Iterator[CaseResult]:
    """Every test of both files that needs nothing but a program."""
    for file in FILES:
        for case in cases_of((folder / file).read_text(encoding="utf-8")):
            found = Found(set(), set())
            try:
                JUDGES[case.group](case, found)
                yield compare(case.name, found.expected, found.holding)
            except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
                yield failed(case.name, found.expected, error)


def cases_of(text: str) -> Iterator[Case]:
    """The tests of a file, each with the group around it."""
    for test in TEST.finditer(text):
        end = text.index(f"\n{test['space']}}});", test.end())
        block = text[test.end() : end]
        group = [found["title"] for found in GROUP.finditer(text, 0, test.start())][-1]
        if not any(own in block for own in OWN_TABLES):
            asserts = re.sub(r"\s+", " ", block)
            yield Case(
                f"{group}: {test['title']}", group, program_of(block), asserts.replace("( ", "(")
            )


def program_of(block: str) -> str:
    """The strings that the call which reads the program is given, a line each."""
    call = PROGRAM.search(block)
    if call is None:
        return ""
    lines: list[str] = []
    round_, curly = 1, 0
    for token in TOKEN.finditer(block, call.end()):
        text = token[0]
        round_ += (text == "(") - (text == ")")
        curly += (text == "{") - (text == "}")
        if round_ == 0:
            break
        if text[0] in "'\"" and not curly and not block[: token.start()].endswith(".join("):
            lines.append(ast.literal_eval(text))
    return "\n".join(lines) + "\n"


def _module(program: str) -> Routine:
    return with_effects(read_routines(program.encode(), LANGUAGES["python"])).routines[0]


def _flows(case: Case, found: Found) -> None:
    routine = _module(case.program)
    pairs = set()
    for flow in data_flows(routine):
        definer, reader = (
            routine.points[flow.definer].statement,
            routine.points[flow.reader].statement,
        )
        if definer != reader:
            pairs.add((reader, definer))
    _judge_pairs(case, found, _lines(routine, pairs))
    for end, extent in EXTENT.findall(case.asserts):
        wanted = [int(number) for number in re.findall(r"\d+", extent)]
        extents = [_extent(case.program, routine, pair[end == "from"]) for pair in pairs]
        found.claim(f"flow {end} {wanted}", wanted in extents)


def _extent(program: str, routine: Routine, statement: int) -> list[int]:
    """First line and column, last line and column of a statement's head."""
    start, end = routine.statements[statement].start, routine.statements[statement].end
    source = program.encode()
    ends = [start, start + len(source[start:end].rstrip())]
    return [
        n
        for at in ends
        for n in (source.count(b"\n", 0, at) + 1, at - (source.rfind(b"\n", 0, at) + 1))
    ]


def _control(case: Case, found: Found) -> None:
    routine = _module(case.program)
    pairs = {
        (routine.points[point].statement, routine.points[other].statement)
        for point, others in enumerate(control_dependences(routine))
        for other in others
        if other != ENTRY
    }
    _judge_pairs(case, found, _lines(routine, {pair for pair in pairs if pair[0] != pair[1]}))


def _lines(routine: Routine, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(routine.statements[one].line, routine.statements[other].line) for one, other in pairs}


def _judge_pairs(case: Case, found: Found, ours: set[tuple[int, int]]) -> None:
    rows = case.program.split("\n")
    for unwanted, one, other in PAIR.findall(case.asserts):
        line = int(one) + rows[int(one) - 1].strip().startswith("else:")
        found.claim(
            f"{'no ' if unwanted else ''}{one} on {other}",
            ((line, int(other)) in ours) is not bool(unwanted),
        )
    for listed in PAIRS.findall(case.asserts):
        found.expected.update(f"{one} on {other}" for one, other in json.loads(listed))
        found.holding.update(f"{one} on {other}" for one, other in ours)


def _definitions(case: Case, found: Found) -> None:
    ours = _defined(_module(case.program))
    for count in COUNT.findall(case.asserts):
        found.claim(f"{count} definitions", len(ours) == (0 if count == "[]" else int(count)))
    for name, level in LEVELS.findall(case.asserts):
        found.claim(
            f"{level} {name}", any(one == name and level in ("", kind) for one, kind in ours)
        )
    for _, name in NAME.findall(case.asserts):
        levels = LEVEL.findall(case.asserts)
        found.claim(
            f"{levels} {name}",
            any(one == name and (not levels or kind in levels) for one, kind in ours),
        )


def _defined(routine: Routine) -> list[tuple[str, str]]:
    """The names that each statement defines or updates."""
    defined: dict[tuple[int, str, str], None] = {}
    for point in routine.points[2:]:
        for path in point.writes:
            is_update = len(path) > 1 or path in point.reads
            defined[point.statement, path[0], "UPDATE" if is_update else "DEFINITION"] = None
        for path in point.mutates:
            defined[point.statement, path[0], "UPDATE"] = None
    return [(name, level) for _, name, level in defined]


def _uses(case: Case, found: Found) -> None:
    routines = read_routines(case.program.encode(), LANGUAGES["python"]).routines
    used = {path[0] for point in routines[0].points for path in point.reads if path[-1] != OBJECT}
    used |= {name for routine in routines[1:] for name in routine.free}
    for unwanted, name in NAME.findall(case.asserts):
        found.claim(
            f"{'no ' if unwanted else ''}use of {name}", (name in used) is not bool(unwanted)
        )


def _slices(case: Case, found: Found) -> None:
    routines = with_effects(read_routines(case.program.encode(), LANGUAGES["python"]))
    criterion = CRITERION.search(case.asserts)
    line = int(criterion[1]) if criterion else 0
    routine = routines.routines[routine_at(routines, line)]
    kept = set(
        lines_of_all(routine, slice_of(routine, statements_at(routine, line), Direction.BACKWARD))
    )
    wanted = [(int(line), bool(unwanted)) for unwanted, line in LINE.findall(case.asserts)]
    for listed, unwanted in LINES.findall(case.asserts):
        wanted += [(int(line), bool(unwanted)) for line in listed.split(",")]
    for number, is_out in wanted:
        found.claim(f"{number} is {'out' if is_out else 'in'}", (number in kept) is not is_out)


JUDGES = {
    "detects dataflow dependencies": _flows,
    "detects control dependencies": _control,
    "getDefs": _definitions,
    "getUses": _uses,
    "slice": _slices,
}
