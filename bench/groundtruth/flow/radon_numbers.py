"""McCabe's number beside radon's, on the programs of its own tests.

Those tests count that give the number of a module, of functions, methods or closures; sums over
several are left out, and what radon's option to skip assertions gives.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import Routine
from tersely.code.syntax.cfg.read import read_routines

TABLE = "test_complexity_visitor.py"
OF_MODULES, OF_FUNCTIONS, OF_BOTH = "_BLOCKS", "FUNCTIONS_CASES", "SINGLE_FUNCTIONS_CASES"
OF_CLASSES, OF_CLOSURES = "CLASSES_CASES", "CLOSURES_CASES"


def run(folder: Path) -> Iterator[CaseResult]:
    """Every program of radon's tests whose numbers are ours to give."""
    tree = ast.parse((folder / TABLE).read_text(encoding="utf-8"))
    for kind, row in _rows(tree):
        code, *rest = ast.literal_eval(row)
        expected = _expected(kind, rest)
        if expected is None:
            continue
        routines = read_routines(
            textwrap.dedent(code).strip().encode(), LANGUAGES["python"]
        ).routines
        functions = [routine.complexity for routine in _named(routines)]
        module = [routines[0].complexity]
        orders = {
            OF_FUNCTIONS: functions, OF_CLASSES: functions, OF_BOTH: module + functions,
            OF_CLOSURES: [*functions[1:], *functions[:1]],
        }  # fmt: skip
        yield compare(
            f"line {row.lineno}", _numbered(expected), _numbered(orders.get(kind, module))
        )


def _rows(tree: ast.Module) -> Iterator[tuple[str, ast.Tuple]]:
    """Each literal row of a list, with the name of the list."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            rows, name = node.value.elts, ast.unparse(node.targets[0])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".append"):
            rows, name = node.args, ast.unparse(node.func).removesuffix(".append")
        else:
            continue
        if name.endswith(OF_MODULES) or name in (OF_FUNCTIONS, OF_CLASSES, OF_CLOSURES, OF_BOTH):
            yield from ((name, row) for row in rows if isinstance(row, ast.Tuple))


def _expected(kind: str, rest: list[object]) -> list[int] | None:
    numbers = rest[-1]
    """The numbers of a row: of a class, those of its methods; None where options change them."""
    if isinstance(rest[0], int):
        return None if numbers else [rest[0]]
    given = list(numbers) if isinstance(numbers, tuple) else []
    return given[1:] if kind == OF_CLASSES else given


def _numbered(numbers: list[int]) -> list[str]:
    return [f"{at}: {number}" for at, number in enumerate(numbers, 1)]


def _named(routines: tuple[Routine, ...]) -> list[Routine]:
    """The functions that have a name."""
    named = [one for one in routines if one.kind == "function"]
    return [one for one in named if not one.name.rpartition(".")[2].startswith("<")]
