"""`python -m bench.handchecked CLONES`: one line a language."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from bench import results
from bench.handchecked.cases import ANSWERS, Case, cases, languages
from bench.handchecked.judge import Verdict, judge
from bench.results import Row, Table
from bench.scratch import clone_of, copied
from tersely.workspace import Workspace

NOT_COPIED = (".git", ".tersely", "node_modules")
TABLE = Table(
    "Hand-checked answers",
    "python -m bench.handchecked CLONES --record",
    "language|repositories|right:,|asked:,|missing:,|too_much:,|guesses_too_many:,|errors:,|not_right",
)
ALL = "all"


def main(arguments: list[str]) -> int:
    """Judge the chosen languages; 0 unless nothing at all could be judged."""
    options = _options(arguments)
    rows = []
    for language in options.language or languages(options.answers):
        verdicts = list(_judged(cases(language, options.answers), options.clones))
        if options.verbose:
            print(*differences(verdicts), sep="\n", flush=True)
        if verdicts:
            rows.append(row(language, verdicts))
    every = (
        [one for one in TABLE.merged("handchecked", rows) if one["language"] != ALL]
        if options.record
        else rows
    )
    total = {name: sum(one[name] for one in every) for name in ("right", "asked")}
    results.report(
        "handchecked", [TABLE.filled([*every, {"language": ALL, **total}])], options.record
    )
    return 0 if rows else 1


def row(language: str, verdicts: Sequence[Verdict]) -> Row:
    """The figures of one language."""
    return {
        "language": language,
        "repositories": sorted({verdict.case.repository for verdict in verdicts}),
        "right": sum(verdict.right for verdict in verdicts),
        "asked": len(verdicts),
        "missing": sum(len(verdict.missing) for verdict in verdicts),
        "too_much": sum(len(verdict.extra) for verdict in verdicts),
        "guesses_too_many": sum(verdict.guesses for verdict in verdicts),
        "errors": sum(bool(verdict.error) for verdict in verdicts),
        "not_right": [f"`{verdict.case.name}`" for verdict in verdicts if not verdict.right],
    }


def differences(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Every answer that is not right, with what is missing (-) and what is too much (+)."""
    for verdict in verdicts:
        if not verdict.right:
            yield f"  {verdict.case.name}{f'  {verdict.error}' if verdict.error else ''}"
            yield from (f"    - {one}" for one in verdict.missing)
            yield from (f"    + {one}" for one in verdict.extra)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.handchecked", description=__doc__)
    parser.add_argument(
        "clones", type=Path, help="folder of the clones, each named owner+repository or repository"
    )
    parser.add_argument(
        "--language", action="append", default=[], help="only this language; may be repeated"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="list every answer that is not right"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="folder of the true answers")
    return parser.parse_args(arguments)


def _judged(every: Iterable[Case], clones: Path) -> Iterator[Verdict]:
    """The cases of each repository, asked of a copy of it, so that nothing is written beside the
    data.
    """
    for (repository, commit), asked in groupby(
        every, key=lambda case: (case.repository, case.commit)
    ):
        clone = clone_of(clones, repository)
        if clone is None or _commit(clone) != commit:
            found = f"is at {_commit(clone)[:12]}" if clone else "is missing"
            print(f"{repository} {found}, the answers are those of {commit[:12]}", file=sys.stderr)
            continue
        with copied(clone, *NOT_COPIED) as root, Workspace.open(root) as workspace:
            yield from [judge(workspace, case) for case in asked]


def _commit(clone: Path) -> str:
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
