"""`python -m bench.groundtruth DATA`: one line a suite."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench import results
from bench.groundtruth.report import (
    CASES,
    HEADER,
    TABLE,
    as_json,
    case_rows,
    differences,
    line,
    suite_row,
)
from bench.groundtruth.score import SuiteResult
from bench.groundtruth.suites import SUITES


def main(arguments: list[str]) -> int:
    """Run the chosen suites; 0 unless nothing at all could be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.groundtruth", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the clones, each named owner+repository")
    parser.add_argument(
        "--suite",
        action="append",
        default=[],
        help="only suites whose name or language contains this",
    )
    parser.add_argument("--verbose", action="store_true", help="list every case that differs")
    parser.add_argument(
        "--json", type=Path, help="write everything, differing cases included, to this file"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    options = parser.parse_args(arguments)
    chosen = [
        suite for suite in SUITES if _matches(f"{suite.name} {suite.language}", options.suite)
    ]
    print(HEADER)
    measured: list[SuiteResult] = []
    for suite in chosen:
        measured.append(suite.measure(options.data))
        print(line(measured[-1]), flush=True)
        if options.verbose:
            print(*differences(measured[-1]), sep="\n", flush=True)
    if options.json:
        options.json.write_text(
            json.dumps([as_json(result) for result in measured], indent=1) + "\n", encoding="utf-8"
        )
    if options.record:
        _keep(measured)
    return 0 if any(not result.skipped for result in measured) else 1


def _keep(measured: list[SuiteResult]) -> None:
    """Keep the figures, without the edges; a suite that was skipped keeps those it had."""
    done = [result for result in measured if not result.skipped]
    again = {(result.suite, result.language) for result in done}
    cases = [
        row
        for row in CASES.merged("groundtruth", ())
        if (row["suite"], row["language"]) not in again
    ]
    cases += [row for result in done for row in case_rows(result)]
    suites = TABLE.merged("groundtruth", map(suite_row, done))
    results.report("groundtruth", [TABLE.filled(suites), CASES.filled(cases)], keep=True)


def _matches(title: str, wanted: list[str]) -> bool:
    return not wanted or any(word.lower() in title.lower() for word in wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
