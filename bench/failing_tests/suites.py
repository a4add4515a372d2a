"""How the suites of repositories are run, and which files of tests fail in a run.

`-k` of no runner is used: a run is the whole suite, as its authors run it, without what needs a
browser or the network.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

SUITE_SECONDS = 300
REPORT = "report-of-tests.xml"
_GO_TEST = re.compile(r"^func (Test\w+|Benchmark\w+|Example\w+)\(", re.MULTILINE)

Failing = dict[str, int]  # from the path of a file of tests to how many of its tests fail


class NotRunError(Exception):
    """The suite came to no result: what it tests could not be built, or it took too long."""


class Suite(NamedTuple):
    """The command of a suite, `{}` for what of it is run, what reads its result, and where its files
    of tests are.
    """

    command: str
    failing: Callable[[Path, Suite, Sequence[str], Mapping[str, str]], Failing]
    files: str  # a pattern for `git ls-files`
    whole: str = ""  # what `{}` is where everything is run; "" where files are run one by one


def _run(
    tree: Path, command: str, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            shell=True,
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=SUITE_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise NotRunError(f"more than {SUITE_SECONDS} s") from error


def _by_pytest(
    tree: Path, suite: Suite, files: Sequence[str], environment: Mapping[str, str]
) -> Failing:
    """pytest writes a report with the file of each test; a file that cannot be imported counts as
    one test.
    """
    report = tree / REPORT
    report.unlink(missing_ok=True)
    command = suite.command.replace("{}", " ".join(files) or suite.whole)
    done = _run(tree, command, environment)
    if not report.is_file():
        raise NotRunError(done.stdout[-300:])
    failed: Failing = Counter()
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            name = case.get("file") or case.get("name", "").replace(".", "/") + ".py"
            if (tree / name).is_file():  # else an error of pytest itself
                failed[name] += 1
    report.unlink()
    return failed


def _by_go(
    tree: Path, suite: Suite, files: Sequence[str], environment: Mapping[str, str]
) -> Failing:
    """`go test -json` names package and test; the file is the one of the package that has the test."""
    failed: set[tuple[str, str]] = set()
    packages = sorted({f"./{path.rpartition('/')[0]}" for path in files})
    command = suite.command.replace("{}", " ".join(packages) or suite.whole)
    for line in _run(tree, command, environment).stdout.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("Action") == "build-fail" or "build failed" in event.get("Output", ""):
            raise NotRunError("a package cannot be built")
        if event.get("Action") == "fail" and "Test" in event:
            failed.add((event["Package"], event["Test"].partition("/")[0]))
    module = re.search(r"^module (\S+)", (tree / "go.mod").read_text("utf-8"), re.MULTILINE)
    prefix = module[1] if module else ""
    return Counter(
        _go_file(tree, package.removeprefix(prefix).strip("/"), test) for package, test in failed
    )


def _go_file(tree: Path, package: str, test: str) -> str:
    for path in sorted((tree / package).glob("*_test.go")):
        if test in _GO_TEST.findall(path.read_text("utf-8")):
            return str(path.relative_to(tree))
    raise NotRunError(f"{test} of {package} is in no file")


def _file_by_file(
    tree: Path, suite: Suite, files: Sequence[str], environment: Mapping[str, str]
) -> Failing:
    """Each file is run alone: one that cannot be loaded stops no other."""
    failed: Failing = {}
    for path in files or listed(tree, suite.files):
        done = _run(tree, suite.command.replace("{}", path), environment)
        if done.returncode:
            number = re.search(r"^\s*(\d+) failing|^# fail (\d+)", done.stdout, re.MULTILINE)
            failed[path] = int(number[1] or number[2]) if number else 1
    return failed


def listed(tree: Path, pattern: str) -> list[str]:
    """The files of tests of a tree."""
    command = ["git", "-C", str(tree), "ls-files", "--cached", "--others", "--", *pattern.split()]
    return sorted(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    )


_PYTEST = (
    f"python -m pytest -q -p no:cacheprovider --continue-on-collection-errors -o junit_family=xunit1"
    f" --junitxml={REPORT} {{}}"
)
_GO = "go test -json {}"
_TEST_PY = ":(glob)tests/**/test_*.py"
_TEST_GO = ":(glob)**/*_test.go"

SUITES: Mapping[str, Suite] = {
    "pallets/flask": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "simonw/sqlite-utils": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "Textualize/rich": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "pallets/click": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "pallets/werkzeug": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "encode/starlette": Suite(_PYTEST, _by_pytest, _TEST_PY, "tests"),
    "gin-gonic/gin": Suite(_GO, _by_go, _TEST_GO, "./..."),
    "go-chi/chi": Suite(_GO, _by_go, _TEST_GO, "./..."),
    "labstack/echo": Suite(_GO, _by_go, _TEST_GO, "./..."),
    "axios/axios": Suite(
        "mocha {} --timeout 30000 --exit", _file_by_file, ":(glob)test/unit/**/*.js"
    ),
    "koajs/koa": Suite("node --test {}", _file_by_file, ":(glob)__tests__/**/*.test.js"),
}


def failing(name: str, tree: Path, path: Iterable[str], files: Sequence[str] = ()) -> Failing:
    """The files of tests that fail in a tree, of all or of some. `path` are the folders with the
    programs it is run by.

    Raises `NotRunError` where the suite came to no result.
    """
    suite = SUITES[name]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*path, os.environ["PATH"]]),
        "PYTHONPATH": f"{tree / 'src'}:{tree}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return suite.failing(tree, suite, files, environment)
