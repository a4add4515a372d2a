"""Programs of coverage.py's tests with the arcs, from line to line, that control may take in them.

What counts alike in both notations is put the same way; no arc is left out on either side:

- Ways in and out are one place, whatever code object they are of: most programs of the truth write
  them so.
- A generator expression is a code object for coverage.py, entered and left at its statement, and no
  routine for us.
- So is a lambda for both; its lines count as the first of its statement, as coverage.py has it.
- A class body is entered at the line of its `class`, where its name is set; our routine begins with
  its statements.
- `global` and `nonlocal` make no code, so no line is passed there.
- A file without statements is one line that is entered and left.
- Code that is never reached has no arcs.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.code.flow.line_edges import line_edges

from bench.groundtruth.score import CaseResult, SuiteResult, edge, judged
from tersely.code.flow.blocks import basic_blocks
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import Routine
from tersely.code.syntax.cfg.read import read_routines

OUTSIDE = 0  # the line for what is before the first and after the last of a code object
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Arc = tuple[int, int]


def run(folder: Path) -> Iterator[CaseResult]:
    """Every program of the file."""
    for case in json.loads((folder / "arcs.json").read_text(encoding="utf-8")):
        expected = _facts(read_arcs(case["arcz"]))
        yield judged(f"line {case['line']}", expected, partial(_arc_facts, case["code"]))


def _arc_facts(code: str) -> set[str]:
    return _facts(arcs_of(code))


def figures(result: SuiteResult) -> dict[str, float]:
    """The share of programs that have just the arcs of the truth."""
    return {
        "exact": sum(case.sound and case.complete for case in result.cases)
        / max(1, len(result.cases))
    }


def read_arcs(written: str) -> set[Arc]:
    """`.1 12 2-1` as pairs: a digit or capital a line, `.` and what has a sign the outside."""
    arcs = set()
    for word in written.split():
        ends = []
        sign = 1
        for letter in word:
            if letter == "-":
                sign = -1
                continue
            ends.append(OUTSIDE if letter == "." or sign < 0 else DIGITS.index(letter))
            sign = 1
        arcs.add((ends[0], ends[1]))
    return arcs


def arcs_of(code: str) -> set[Arc]:
    """Our arcs, put as coverage.py puts them."""
    tree = ast.parse(code)
    first = _first_lines(tree)
    arcs: set[Arc] = set()
    for routine in read_routines(code.encode(), LANGUAGES["python"]).routines:
        arcs |= {
            (first.get(one, one), first.get(other, other)) for one, other in _of_routine(routine)
        }
    for line in _lines_without_code(tree):
        arcs = _passed_through(arcs, line)
    for node in ast.walk(tree):
        if isinstance(node, ast.GeneratorExp):
            line = first.get(node.lineno, node.lineno)
            arcs |= {(OUTSIDE, line), (line, OUTSIDE)}
    return arcs if tree.body else {(OUTSIDE, 1), (1, OUTSIDE)}


def _of_routine(routine: Routine) -> set[Arc]:
    blocks = basic_blocks(routine)
    alive = {point for block in blocks if block.reachable for point in block.points}
    reached = {routine.statements[routine.points[point].statement].line for point in alive} | {
        OUTSIDE
    }
    arcs = {(one, other) for one, other in line_edges(routine) if one in reached}
    if routine.kind != "class":
        return arcs
    entered = {(routine.line, other) for one, other in arcs if one == OUTSIDE}
    return (
        {(one, other) for one, other in arcs if one != OUTSIDE}
        | entered
        | {(OUTSIDE, routine.line)}
    )


def _first_lines(tree: ast.Module) -> dict[int, int]:
    """For the lines of a statement that has no statements inside, its first line."""
    return {
        line: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, ast.Match)
        and not hasattr(node, "body")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _lines_without_code(tree: ast.Module) -> list[int]:
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal)]


def _passed_through(arcs: set[Arc], line: int) -> set[Arc]:
    before = {one for one, other in arcs if other == line}
    after = {other for one, other in arcs if one == line}
    rest = {arc for arc in arcs if line not in arc}
    return rest | {(one, other) for one in before for other in after}


def _facts(arcs: set[Arc]) -> set[str]:
    return {edge(str(one or "in"), str(other or "out")) for one, other in arcs}
