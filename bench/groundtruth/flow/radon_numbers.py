"""McCabe's number beside radon's: the programs of its own tests, and every function of a source tree.

Of its tests those count that give the number of a module, of functions, methods or closures; sums over several are
left out, and what radon's option to skip assertions gives. In a tree, functions are matched by the line of their `def`;
what radon does not list (methods of classes inside functions) and files that it cannot read are left out.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path

from bench.groundtruth.score import CaseResult, compare, failed
from tersely.code.languages.registry import LANGUAGES
from tersely.code.routines import Routine
from tersely.code.syntax.control.read import read_routines

TABLE = "test_complexity_visitor.py"
OF_MODULES, OF_FUNCTIONS, OF_BOTH = "_BLOCKS", "FUNCTIONS_CASES", "SINGLE_FUNCTIONS_CASES"
OF_CLASSES, OF_CLOSURES = "CLASSES_CASES", "CLOSURES_CASES"


def run_table(folder: Path) -> Iterator[CaseResult]:
    """Every program of radon's tests whose numbers are ours to give."""
    tree = ast.parse((folder / TABLE).read_text(encoding="utf-8"))
    for kind, row in _rows(tree):
        code, *rest = ast.literal_eval(row)
        expected = _expected(kind, rest)
        if expected is None:
            continue
        routines = read_routines(textwrap.dedent(code).strip().encode(), LANGUAGES["python"]).routines
        functions = [routine.complexity for routine in _named(routines)]
        module = [routines[0].complexity]
        orders = {
            OF_FUNCTIONS: functions, OF_CLASSES: functions, OF_BOTH: module + functions,
            OF_CLOSURES: [*functions[1:], *functions[:1]],
        }  # fmt: skip
        yield compare(f"line {row.lineno}", _numbered(expected), _numbered(orders.get(kind, module)))


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


def installed() -> bool:
    """Whether there is a radon to ask."""
    return importlib.util.find_spec("radon") is not None


def run_tree(folder: Path) -> Iterator[CaseResult]:
    """Every file below the folder that has functions."""
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        expected = _asked(source)
        if not expected:
            continue
        try:
            yield compare(path.relative_to(folder).as_posix(), _facts(expected), _facts(_found(source, set(expected))))
        except Exception as error:  # noqa: BLE001 - a crash on a case is a result of the suite
            yield failed(path.relative_to(folder).as_posix(), _facts(expected), error)


def _asked(source: bytes) -> dict[int, int]:
    """What radon says of the functions of a file, by the line of their `def`."""
    visit = importlib.import_module("radon.complexity").cc_visit
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pending = list(visit(source.decode()))
    except (SyntaxError, ValueError):
        return {}
    numbers: dict[int, int] = {}
    while pending:
        block = pending.pop()
        for inside in ("closures", "methods", "inner_classes"):
            pending += getattr(block, inside, ())
        if block.letter in "FM":
            numbers[block.lineno] = block.complexity
    return numbers


def _found(source: bytes, lines: set[int]) -> dict[int, int]:
    """Our numbers of the functions on these lines."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    written = {min([node.lineno, *(one.lineno for one in node.decorator_list)]): node.lineno for node in functions}
    named = _named(read_routines(source, LANGUAGES["python"]).routines)
    numbers = {written[routine.line]: routine.complexity for routine in named if routine.line in written}
    return {line: number for line, number in numbers.items() if line in lines}


def _facts(numbers: dict[int, int]) -> list[str]:
    return [f"line {line}: {number}" for line, number in numbers.items()]


def _named(routines: tuple[Routine, ...]) -> list[Routine]:
    """The functions that have a name."""
    named = [one for one in routines if one.kind == "function"]
    return [one for one in named if not one.name.rpartition(".")[2].startswith("<")]
