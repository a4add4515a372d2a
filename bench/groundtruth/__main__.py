"""`python -m bench.groundtruth DATA`: one line a suite."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.groundtruth.report import HEADER, as_json, differences, line
from bench.groundtruth.suites import SUITES


def main(arguments: list[str]) -> int:
    """Run the chosen suites; 0 unless nothing at all could be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.groundtruth", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the clones, each named owner+repository")
    parser.add_argument("--suite", action="append", default=[], help="only suites whose name or language contains this")
    parser.add_argument("--cache", type=Path, help="folder for answers of slow checkers (default: DATA/.answers)")
    parser.add_argument("--verbose", action="store_true", help="list every case that differs")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args(arguments)
    chosen = [suite for suite in SUITES if _matches(f"{suite.name} {suite.language}", options.suite)]
    print(HEADER)
    results = []
    for suite in chosen:
        results.append(suite.measure(options.data, options.cache or options.data / ".answers"))
        print(line(results[-1]), flush=True)
        if options.verbose:
            print(*differences(results[-1]), sep="\n", flush=True)
    if options.json:
        options.json.write_text(json.dumps([as_json(result) for result in results], indent=1) + "\n", encoding="utf-8")
    return 0 if any(not result.skipped for result in results) else 1


def _matches(title: str, wanted: list[str]) -> bool:
    return not wanted or any(word.lower() in title.lower() for word in wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
