"""`python -m bench.handchecked CLONES`: one line a language."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from bench import results
from bench.handchecked.cases import ANSWERS, Case, cases, languages
from bench.handchecked.judge import Verdict, judge
from bench.handchecked.report import HEADER, as_json, differences, line
from bench.machine import facts
from tersely.workspace import Workspace

NOT_COPIED = (".git", ".tersely", "node_modules")


def main(arguments: list[str]) -> int:
    """Judge the chosen languages; 0 unless nothing at all could be judged."""
    options = _options(arguments)
    print(HEADER)
    judged: dict[str, list[Verdict]] = {}
    for language in options.language or languages(options.answers):
        verdicts = list(_judged(cases(language, options.answers), options.clones))
        print(line(language, verdicts), flush=True)
        for told in differences(verdicts) if options.verbose else ():
            print(told, flush=True)
        judged[language] = verdicts
    if options.record:
        kept = {row["language"]: row for row in results.kept("handchecked").get("languages", [])}
        kept |= {language: as_json(language, verdicts) for language, verdicts in judged.items() if verdicts}
        results.keep("handchecked", {"machine": facts(), "languages": [kept[name] for name in sorted(kept)]})
    return 0 if any(judged.values()) else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.handchecked", description=__doc__)
    parser.add_argument("clones", type=Path, help="folder of the clones, each named owner+repository or repository")
    parser.add_argument("--language", action="append", default=[], help="only this language; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="list every answer that is not right")
    parser.add_argument("--record", action="store_true", help="keep the figures in RESULTS.md")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="folder of the true answers")
    return parser.parse_args(arguments)


def _judged(every: Iterable[Case], clones: Path) -> Iterator[Verdict]:
    """The cases of each repository, asked of a copy of it, so that nothing is written beside the data."""
    for (repository, commit), asked in groupby(every, key=lambda case: (case.repository, case.commit)):
        clone = _clone(clones, repository)
        if clone is None or _commit(clone) != commit:
            found = f"is at {_commit(clone)[:12]}" if clone else "is missing"
            print(f"{repository} {found}, the answers are those of {commit[:12]}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="tersely-handchecked-") as scratch:
            root = Path(scratch) / clone.name
            shutil.copytree(clone, root, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
            with Workspace.open(root) as workspace:
                yield from [judge(workspace, case) for case in asked]


def _clone(clones: Path, repository: str) -> Path | None:
    owner, _, name = repository.partition("/")
    return next((place for place in (clones / f"{owner}+{name}", clones / name) if place.is_dir()), None)


def _commit(clone: Path) -> str:
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
