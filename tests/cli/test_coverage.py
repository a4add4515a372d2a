"""Coverage through the command line: the fault comes first, and programs are run only for whoever
may run them.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tersely.capabilities import catalogue
from tersely.capabilities.declaration.declaration import Effect, Tier
from tersely.capabilities.invoke import invoke
from tersely.cli.main import main
from tersely.workspace import Workspace

SOURCE = '''"""A till."""


def total(prices):
    return sum(prices)


def discount(price, percent):
    if percent > 50:
        price = price - percent
    else:
        price = price * (100 - percent) / 100
    return price


def unused():
    return 0
'''
TESTS = """import pytest

from till import discount, total


def test_total():
    assert total([1, 2]) == 3


def test_small_discount():
    assert discount(total([200]), 10) == 180


def test_large_discount():
    assert discount(total([200]), 60) == 80
"""
JUNIT = """<testsuite><testcase classname="test_till" name="test_large_discount"><failure message="assert 140 == 80">
test_till.py:15: AssertionError
</failure></testcase></testsuite>"""


def run(*words: str) -> int:
    return main(list(words))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "till.py").write_text(SOURCE, "utf-8")
    (tmp_path / "test_till.py").write_text(TESTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def report(shop: Path) -> str:
    """A report with contexts, as `coverage json --show-contexts` writes it, and the failures beside
    it.
    """
    ran = {
        "total": (5, ["total", "small_discount", "large_discount"]),
        "9": (9, ["small_discount", "large_discount"]),
    }
    lines = {
        5: ran["total"][1],
        9: ran["9"][1],
        10: ["large_discount"],
        12: ["small_discount"],
        13: ran["9"][1],
    }
    contexts = {
        str(line): [f"test_till.py::test_{test}|run" for test in tests]
        for line, tests in lines.items()
    }
    file = {"executed_lines": [1, 4, 8, 16, *lines], "missing_lines": [17], "contexts": contexts}
    (shop / "coverage.json").write_text(json.dumps({"files": {"/app/till.py": file}}), "utf-8")
    (shop / "junit.xml").write_text(JUNIT, "utf-8")
    return "coverage.json"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(*words, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["result"]
    return found


def test_the_failed_test_and_the_fault_come_first(
    shop: Path, report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "coverage-context",
        "--coverage-file",
        report,
        "--failures",
        "junit.xml",
        "--failures-only",
    )
    found = answer(capsys, *words, "--budget", "400")
    told = {item["id"]: item for item in found["items"]}
    assert told["test_till.py:test_large_discount"]["reason"] == "failed test"
    assert told["till.py:discount"]["evidence"] == "1.00, line 10: 1 failing, 0 passing"
    assert found["used"] <= 400
    assert "price = price - percent" in found["text"]
    assert "unused" not in found["text"]
    assert found["about"]["failed"] == ["test_till.test_large_discount"]
    assert found["about"]["unmatched"] == []


def test_failed_tests_stand_before_all_else(
    shop: Path, report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for budget in ("120", "400", "4000"):
        words = (
            "coverage-context",
            "--coverage-file",
            report,
            "--failures",
            "junit.xml",
            "--budget",
            budget,
        )
        text = answer(capsys, *words)["text"]
        assert text.startswith("=== test_till.py\n"), budget


def test_what_a_test_without_a_name_calls_is_found(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "pay.js").write_text("export function pay() {\n  return 1;\n}\n", "utf-8")
    test = 'import { pay } from "./pay.js";\n\nit("pays", () => {\n  expect(pay()).toBe(2);\n});\n'
    (shop / "pay.test.js").write_text(test, "utf-8")
    (shop / "lcov.info").write_text("SF:pay.js\nDA:1,1\nDA:2,1\nend_of_record\n", "utf-8")
    (shop / "out.txt").write_text(
        " FAIL  pay.test.js > pays\nAssertionError: no\n ❯ pay.test.js:4:5\n", "utf-8"
    )
    words = (
        "coverage-context",
        "--coverage-file",
        "lcov.info",
        "--failures",
        "out.txt",
        "--failures-only",
    )
    assert "return 1;" in answer(capsys, *words)["text"]


def test_files_and_lines_are_ranked_and_shown(
    shop: Path, report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "rank-files", "--coverage-file", report, "--failures", "junit.xml")
    (file,) = found["page"]["items"]
    assert (file["path"], file["suspicion"], file["suspicious_lines"]) == ("till.py", 1.0, [10])
    sliced = answer(
        capsys, "coverage-slice", "till.py", "--coverage-file", report, "--test", "test_total"
    )
    assert [line["number"] for line in sliced["lines"]] == [5]
    missed = answer(capsys, "coverage-slice", "till.py", "--coverage-file", report, "--missed")
    assert [line["text"].strip() for line in missed["lines"]] == ["return 0"]
    assert run("coverage-slice", "till.py", "--coverage-file", report, "--no-hit-lines-only") == 0
    assert "\n-    return 0" in capsys.readouterr().out


def test_a_change_is_joined_with_what_ran(
    shop: Path, report: str, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = shop / "change.diff"
    patch.write_text(
        "--- a/till.py\n+++ b/till.py\n@@ -10,1 +10,1 @@\n-        price = 0\n+        price = price - percent\n"
        "@@ -17,1 +17,1 @@\n-    return 1\n+    return 0\n", "utf-8")  # fmt: skip
    found = answer(capsys, "diff-context", str(patch), "--coverage", report)
    coverage = found["coverage"]
    assert coverage["not_run"] == [{"symbol": "till.py:unused", "lines": [17]}]
    assert (coverage["lines"], coverage["ran"]) == (2, 1)
    assert coverage["tests"] == ["test_till.py::test_large_discount"]
    assert "no test ran 17" in found["text"]


def test_pytest_is_recorded_test_by_test(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("coverage")
    command = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    found = answer(
        capsys, "coverage-context", "--run", command, "--failures-only", "--budget", "500"
    )
    assert found["run"]["exit_status"] == 1
    assert "1 failed, 2 passed" in (shop / found["run"]["output"]).read_text("utf-8")
    told = {item["id"]: item for item in found["items"]}
    assert told["till.py:discount"]["evidence"].startswith("1.00, line 10")
    assert found["about"]["stale"] == []
    (shop / "till.py").write_text(SOURCE.replace("return 0", "return 1"), "utf-8")
    later = answer(capsys, "rank-files")
    assert later["about"]["stale"] == [{"path": "till.py", "why": "changed since the run"}]


def test_another_program_is_asked_for_its_report(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "open('cover.out', 'w').write('mode: set\\ntill.py:5.1,5.9 1 1\\n'); print('x' * 10); raise SystemExit(3)"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    assert run("coverage-context", "--run", command) == 3
    assert capsys.readouterr().err.startswith("program_failed: the program left no coverage")
    found = answer(capsys, "coverage-context", "--run", command, "--coverage-file", "cover.out")
    assert found["run"]["exit_status"] == 3
    assert [item["id"] for item in found["items"]] == ["till.py:total"]
    assert (
        run(
            "coverage-context",
            "--run",
            f"{shlex.quote(sys.executable)} -c 0",
            "--coverage-file",
            "cover.out",
        )
        == 3
    )
    assert capsys.readouterr().err.startswith("program_failed: the program did not write cover.out")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("no-such-program-at-all", "program_failed"),
        ("'", "invalid_argument"),
        ("  ", "invalid_argument"),
    ],
)
def test_what_cannot_be_run_is_said(
    shop: Path, capsys: pytest.CaptureFixture[str], command: str, code: str
) -> None:
    assert run("coverage-context", "--run", command) != 0
    assert capsys.readouterr().err.startswith(f"{code}: ")


def test_only_a_trusted_door_runs_programs_and_reads_elsewhere(
    shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "lcov.info"
    outside.write_text("SF:till.py\nDA:5,1\nend_of_record\n", "utf-8")
    (shop / "link.info").symlink_to(outside)
    capability = catalogue.load("code.coverage.context")
    mark = shop / "ran"
    with Workspace.open(shop) as workspace:
        for arguments in (
            {"run": f"touch {mark}"},
            {"coverage_file": str(outside)},
            {"coverage_file": os.path.relpath(outside, shop)},
            {"coverage_file": "till.py", "failures": [str(outside)]},
        ):
            failure = invoke(capability, workspace, arguments).failure
            assert failure is not None
            assert failure.code == "not_permitted", arguments
        inside = invoke(capability, workspace, {"coverage_file": "link.info"}).failure
        assert inside is not None
        assert inside.code == "path_not_found"
        trusted = invoke(capability, workspace, {"coverage_file": str(outside)}, Tier.SYSTEM)
        assert trusted.failure is None
    assert not mark.exists()


def test_no_other_capability_does_more_than_read() -> None:

    beyond = {
        (one.name, parameter.name)
        for one in catalogue.every(catalogue.CODE_NAMES)
        for parameter in one.parameters
        if parameter.effect is not Effect.READ
    }
    assert {one for one in beyond if one[1] != "output"} == {("code.coverage.context", "run")}


def test_the_command_line_reads_a_report_anywhere(
    shop: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "lcov.info"
    outside.write_text("SF:/ci/shop/till.py\nDA:5,7\nend_of_record\n", "utf-8")
    found = answer(
        capsys, "rank-files", "--coverage-file", os.path.relpath(outside), "--map", "/ci/shop="
    )
    assert [(file["path"], file["hits"]) for file in found["page"]["items"]] == [("till.py", 7)]
    assert run("rank-files", "--coverage-file", "till.py") == 3
    assert capsys.readouterr().err.startswith("invalid_report: ")
    assert run("rank-files") == 2
    assert run("coverage-context", "--coverage-file", str(outside), "--failures-only") == 2
