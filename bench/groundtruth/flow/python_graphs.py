"""python-graphs's tests: which blocks of its sample functions lead to which, and how many writes
reach a place.

Samples and assertions are read from its Python sources. A source text in an assertion stands for
its first occurrence as an expression or statement. What counts alike is put the same way: a `try`
begins and ends blocks there and not always here, so a way to the next block also counts as taken
inside one block of ours, in the order of its steps; `break` and `continue` are edges there and
steps here, so blocks that hold nothing else are passed.

Left out are assertions on what was read last, which is no question here, and on errors of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.groundtruth.score import CaseResult, compare, failed
from tersely.code.flow.blocks import BasicBlock, basic_blocks
from tersely.code.flow.reaching import definitions_of, reaching_definitions
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import CfgNode, Routine
from tersely.code.syntax.cfg.read import read_routines

SAMPLES, CONTROL, DATA = (
    "control_flow_test_components.py",
    "control_flow_test.py",
    "data_flow_test.py",
)
WAYS = {
    "assertSameBlock",
    "assertExitsTo",
    "assertNotExitsTo",
    "assertRaisesTo",
    "assertNotRaisesTo",
}
WRITTEN = "write-"


class Sample(NamedTuple):
    """A program with its routines."""

    text: str
    routines: tuple[Routine, ...]


def run(folder: Path) -> Iterator[CaseResult]:
    """Every test of both files that asserts something of a sample."""
    samples = _texts_by_name((folder / SAMPLES).read_text(encoding="utf-8"))
    for file, judge in ((CONTROL, _ways), (DATA, _writes)):
        text = (folder / file).read_text(encoding="utf-8")
        for test in ast.walk(ast.parse(text)):
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test_"):
                continue
            sample = _sample(test, text, samples)
            expected: dict[str, bool] = {}
            try:
                expected.update(judge(test, sample) if sample else ())
            except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
                yield failed(test.name, expected, error)
                continue
            if expected:
                yield compare(
                    test.name, expected, [fact for fact, holds in expected.items() if holds]
                )


def _texts_by_name(text: str) -> dict[str, str]:
    """The sample functions and classes of a file."""
    definitions = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    return {node.name: ast.unparse(node) for node in definitions}


def _sample(test: ast.FunctionDef, text: str, samples: dict[str, str]) -> Sample | None:
    """What a test is about: a sample that it names, or a function of its own."""
    own = [ast.unparse(node) for node in test.body if isinstance(node, ast.FunctionDef)]
    named = [
        node.attr
        for node in ast.walk(test)
        if isinstance(node, ast.Attribute) and node.attr in samples
    ]
    if not own and not named:
        return None
    program = own[0] if own else samples[named[0]]
    return Sample(program, read_routines(program.encode(), LANGUAGES["python"]).routines)


def _ways(test: ast.FunctionDef, sample: Sample) -> Iterator[tuple[str, bool]]:
    """Assertions on two blocks."""
    names = {
        ast.unparse(node.targets[0]): node.value.value
        for node in test.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    for call in (node for node in ast.walk(test) if isinstance(node, ast.Call)):
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in WAYS:
            continue
        texts = [
            names[arg.id] if isinstance(arg, ast.Name) else ast.literal_eval(arg)
            for arg in call.args[1:]
        ]
        one, other = map(str, texts)
        yield f"{call.func.attr} {one!r} {other!r}", _holds(call.func.attr, sample, one, other)


def _holds(claim: str, sample: Sample, one: str, other: str) -> bool:
    place, (at, first), (other_at, second) = (
        sample.routines,
        _place(sample, one),
        _place(sample, other),
    )
    if at != other_at:
        return "Not" in claim
    blocks = basic_blocks(place[at])
    before, after = _block_of(blocks, first), _block_of(blocks, second)
    same, block = before == after, blocks[before]
    if "Same" in claim:
        return same
    if "Raises" in claim:
        return (after in block.raises) is not ("Not" in claim)
    inside = same and one != other and block.points.index(first) < block.points.index(second)
    leads = inside or after in _exits(place[at], blocks, before)
    return leads is not ("Not" in claim)


def _exits(routine: Routine, blocks: list[BasicBlock], number: int) -> set[int]:
    """Where a block leads, past blocks that only jump."""
    found: set[int] = set()
    for target, _ in blocks[number].exits:
        kinds = {
            routine.statements[routine.points[point].statement].kind
            for point in blocks[target].points
        }
        found |= (
            {target}
            if kinds - {"break", "continue"}
            else {after for after, _ in blocks[target].exits}
        )
    return found


def _block_of(blocks: list[BasicBlock], point: int) -> int:
    return next(number for number, block in enumerate(blocks) if point in block.points)


def _place(sample: Sample, text: str) -> tuple[int, int]:
    """The routine and the point of the first occurrence of a source text."""
    wanted = ast.unparse(ast.parse(text))
    nodes = [
        node
        for node in ast.walk(ast.parse(sample.text))
        if isinstance(node, ast.stmt | ast.expr | ast.arg)
    ]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    found = next(node for node in nodes if ast.unparse(node) == wanted)
    offset = (
        sum(len(row) + 1 for row in sample.text.split("\n")[: found.lineno - 1]) + found.col_offset
    )
    statements = [
        (statement.end - statement.start, at, number)
        for at, routine in enumerate(sample.routines)
        for number, statement in enumerate(routine.statements)
        if statement.start <= offset < statement.end and (at or number)
    ]
    _, at, statement = min(statements)
    points = sample.routines[at].points
    of_it = [number for number, point in enumerate(points) if point.statement == statement]
    return at, min(of_it, key=lambda number: _distance(points[number], offset))


def _distance(point: CfgNode, offset: int) -> int:
    """How far a step is from a place, 0 around it."""
    return max(0, point.start - offset, offset - point.end + 1)


def _writes(test: ast.FunctionDef, sample: Sample) -> Iterator[tuple[str, bool]]:
    """Assertions on how many writes of a variable reach a statement, or are in force after it."""
    source, labels = "", {}
    for node in test.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.targets[0], ast.Name)
        ):
            given = [arg.value for arg in node.value.args if isinstance(arg, ast.Constant)]
            if "by_source" in ast.unparse(node.value.func):
                source = str(given[0])
            elif given:
                labels[node.targets[0].id] = str(given[0])
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith("self.assertLen("):
            held, number = node.value.args  # type: ignore[attr-defined]
            label, key = labels[held.value.id], held.slice.value
            if key.startswith(WRITTEN):
                name = key.removeprefix(WRITTEN)
                count = _reaching_writes(sample, source, name, after=label.endswith("_out"))
                yield f"{number.value} writes of {name}, {label} {source!r}", count == number.value


def _reaching_writes(sample: Sample, source: str, name: str, *, after: bool) -> int:
    at, number = _place(sample, source)
    routine = sample.routines[at]
    definitions = definitions_of(routine)
    incoming = reaching_definitions(routine, definitions)[number]
    own = [one for one in definitions if one.point == number and one.path == (name,)]
    if after and own:
        return len(own)
    return sum(incoming >> at & 1 for at, one in enumerate(definitions) if one.path == (name,))
