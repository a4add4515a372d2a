"""`python -m bench.change_impact REPOSITORY --python PYTHON`: tests that `change-impact` names
against those that run.

The repository's own suite is run once under coverage.py, which notes for each line the tests that
execute it. For functions picked evenly from all that some test executes, the tests that the
capability names are compared with these. What no static analysis can know is the price of the
comparison: a test that may reach an error path, and does not, is counted as wrong.

PYTHON is an interpreter that can run the suite, with pytest-cov. The repository is copied; it must
be one of Python with pytest.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import results
from bench.results import Row, Table
from bench.scratch import copied
from tersely.capabilities.invoke import ask
from tersely.context.lenses.test_impact.reach import LIKELY
from tersely.foundation.limits import MAX_BUDGET_TOKENS, MAX_PAGE_ENTRIES
from tersely.workspace import Workspace

SUITE_SECONDS = 1_200
DEFAULT_FUNCTIONS = 30
EVERYTHING = {"limit": MAX_PAGE_ENTRIES, "budget": MAX_BUDGET_TOKENS}
NOT_COPIED = (".tersely", "__pycache__", ".venv", "venv")
_PARAMETERS = re.compile(r"\[.*")


TABLE = Table(
    "Change impact",
    "python -m bench.change_impact REPOSITORY --python PYTHON --record",
    "named|precision:.3f|recall:.3f|pairs_run:,|pairs_named:,",
    "Tests, or files of tests, that are named for a function, compared with those that execute it.",
)


def main(arguments: list[str]) -> int:
    """Run the suite, ask about functions, compare."""
    options = _options(arguments)
    with copied(options.repository, *NOT_COPIED) as root:
        executed = _executed(root, options.python)
        picked = _picked(executed, options.functions or len(executed))
        named, likely, files, seconds = _asked(root, picked)
    run = {function: executed[function] for function in picked}
    known = {test for tests in executed.values() for test in tests}
    rows = [
        _score("tests, likely", likely, run, known),
        _score("tests, all by calls", named, run, known),
        _score("files of tests, by calls", _files(named), _files(run), _of_files(known)),
        _score("files of tests, by calls or imports", files, _files(run), _of_files(known)),
    ]
    ordered = sorted(seconds)
    taken = (
        f"a question takes {ordered[len(ordered) // 2]:.2f} s (median), at most {ordered[-1]:.2f} s"
    )
    about = f"{options.repository.name}: {len(picked)} functions, {len(known)} tests; {taken}."
    results.report("change_impact", [TABLE.filled(rows, about)], options.record)
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.change_impact", description=__doc__)
    parser.add_argument("repository", type=Path, help="a repository of Python with pytest, copied")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="an interpreter that can run its suite, with pytest-cov",
    )
    parser.add_argument(
        "--functions", type=int, default=DEFAULT_FUNCTIONS, help="how many to ask about, 0 for all"
    )
    parser.add_argument("--record", action="store_true", help="keep the scores in RESULTS.md")
    return parser.parse_args(arguments)


def _executed(root: Path, python: str) -> dict[str, set[str]]:
    """From the id of each function outside of tests to the ids of the tests that execute a line of
    it.
    """
    environment = {
        "PYTHONPATH": f"{root / 'src'}:{root}",
        "PATH": "/usr/bin:/bin",
        "HOME": str(root),
    }
    suite = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--cov=.",
        "--cov-context=test",
        "--cov-report=",
    ]
    done = subprocess.run(
        suite,
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SUITE_SECONDS,
    )
    print(done.stdout.strip().rpartition("\n")[2])
    report = root / "coverage.json"
    command = [python, "-m", "coverage", "json", "--show-contexts", "-i", "-q", "-o", str(report)]
    subprocess.run(command, cwd=root, env=environment, check=True, timeout=SUITE_SECONDS)
    measured: dict[str, Any] = json.loads(report.read_text("utf-8"))["files"]
    report.unlink()
    found: dict[str, set[str]] = {}
    for path, lines in sorted(measured.items()):
        if "test" not in path:
            found.update(_functions(path, (root / path).read_text("utf-8"), lines["contexts"]))
    return found


def _functions(
    path: str, source: str, contexts: dict[str, list[str]]
) -> Iterator[tuple[str, set[str]]]:
    for qualname, lines in _own_lines(ast.parse(source), ""):
        tests = {
            _test(context) for line in lines for context in contexts.get(str(line), ()) if context
        }
        if tests:
            yield f"{path}:{qualname}", tests


def _own_lines(tree: ast.AST, around: str) -> Iterator[tuple[str, set[int]]]:
    """Each function with the lines of its body, those of functions and classes inside of it left
    out.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            qualname = f"{around}.{node.name}" if around else node.name
            if not isinstance(node, ast.ClassDef):
                yield qualname, set(_lines(node.body))
            yield from _own_lines(node, qualname)
        else:
            yield from _own_lines(node, around)


def _lines(nodes: Iterable[ast.AST]) -> Iterator[int]:
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            if isinstance(node, ast.stmt | ast.expr):
                yield node.lineno
            yield from _lines(ast.iter_child_nodes(node))


def _test(context: str) -> str:
    """`tests/test_a.py::TestB::test_c[1]|run` as `tests/test_a.py:TestB.test_c`."""
    path, _, names = _PARAMETERS.sub("", context.partition("|")[0]).partition("::")
    return f"{path}:{names.replace('::', '.')}"


def _picked(executed: dict[str, set[str]], number: int) -> list[str]:
    names = sorted(executed)
    step = max(len(names) / number, 1)
    return [names[int(at * step)] for at in range(min(number, len(names)))]


Named = dict[str, set[str]]


def _asked(root: Path, functions: Iterable[str]) -> tuple[Named, Named, Named, list[float]]:
    """The tests that are named for each function, those of them without guesses, the files, and the
    seconds it took.

    Each is asked of a workspace opened anew, as a command is.
    """
    with Workspace.open(root) as workspace:
        workspace.refresh()
    named, likely, files = defaultdict(set), defaultdict(set), defaultdict(set)
    seconds = []
    for function in functions:
        start = perf_counter()
        with Workspace.open(root) as workspace:
            answer = ask(workspace, "code.change_impact", files=(function,), **EVERYTHING)
        seconds.append(round(perf_counter() - start, 3))
        for route in answer.routes.items:
            named[function].update(route.tests)
            if route.certainty >= LIKELY:
                likely[function].update(route.tests)
        files[function] = {test.partition(":")[0] for test in named[function]}
        files[function] |= {one.file for one in answer.imports.items}
    return dict(named), dict(likely), dict(files), seconds


def _files(tests: Named) -> Named:
    return {function: _of_files(found) for function, found in tests.items()}


def _of_files(tests: Iterable[str]) -> set[str]:
    return {test.partition(":")[0] for test in tests}


def _score(what: str, named: Named, run: Named, known: set[str]) -> Row:
    """Of all pairs of a function and a test, as far as tests were run at all: named, run, and both."""
    pairs = {(function, test) for function, tests in named.items() for test in tests & known}
    wanted = {(function, test) for function, tests in run.items() for test in tests}
    both = len(pairs & wanted)
    precision = both / len(pairs) if pairs else 1.0
    recall = both / len(wanted) if wanted else 1.0
    return {
        "named": what,
        "precision": precision,
        "recall": recall,
        "pairs_run": len(wanted),
        "pairs_named": len(pairs),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
