"""`python -m bench.broken_uses CLONES --path FOLDER`: the lines that `breaks` names of a change of
definitions, against those that the commit changed with them and those that a checker then refuses.

Of each commit in `commits.json` only the definitions are changed: those whose header is another
afterwards, or that are gone. A use is a word of code that is the name of one of them, with the
brackets behind it. It is broken if the commit changed it as well, and, where it is a call in Python
of what has another header, it cannot be bound to that; or if mypy, tsc or go/types find an error in
it that was not there before. `--make REPOSITORY` looks for commits, the newest first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import results
from bench.broken_uses.cases import Case, Place, case_of, mentions, refused, set_up
from bench.failing_tests.make import checked_out
from bench.results import Row, Table
from bench.scratch import clone_of, git

COMMITS = Path(__file__).with_name("commits.json")

TABLE = Table(
    "What a change breaks",
    "python -m bench.broken_uses CLONES --path FOLDER --record",
    "repository|commits:,|changed:,|named_of_changed:.3f|refused:,|named_of_refused:.3f|named:,|precision:.3f"
    "|cpu_s_most:.2f",
    "Of real commits only the definitions are changed that have another header afterwards or are gone."
    " Changed: the uses of them that the commit changed as well. Refused: those in which a checker of"
    " types (mypy, tsc, go/types) then finds an error. Precision: the share of the named lines that"
    " are one or the other.",
)


class Outcome(NamedTuple):
    """The places of one commit, by what is said of them."""

    changed: set[Place]
    refused: set[Place]
    named: set[Place]
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Score what is kept, or look for commits."""
    parser = argparse.ArgumentParser(prog="python -m bench.broken_uses", description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones, with their history")
    parser.add_argument("--path", action="append", default=[], help="a folder of programs; again")
    parser.add_argument("--make", default="", help="look for commits of a repository")
    parser.add_argument("--language", default="python", choices=("python", "typescript", "go"))
    parser.add_argument("--commits", type=int, default=12)
    parser.add_argument("--tries", type=int, default=500, help="commits that are looked at")
    parser.add_argument("--only", default="", help="of repositories with this in their name")
    parser.add_argument("--verbose", action="store_true", help="say what is missed, and what wrong")
    parser.add_argument("--record", action="store_true", help="keep the scores in RESULTS.md")
    options = parser.parse_args(arguments)
    kept: dict[str, Any] = json.loads(COMMITS.read_text("utf-8")) if COMMITS.exists() else {}
    if options.make:
        clone = clone_of(options.clones, options.make)
        assert clone is not None
        found = _commits(clone, options.commits, options.tries)
        kept[options.make] = {"language": options.language, "commits": found}
        COMMITS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
        return 0
    path = os.pathsep.join([*options.path, os.environ["PATH"]])
    rows = []
    for name, told in kept.items():
        clone = clone_of(options.clones, name)
        if clone is not None and options.only in name:
            rows.append(_row(name, told, clone, path, options.verbose))
    rows = TABLE.merged("broken_uses", rows) if options.record else rows
    results.report("broken_uses", [TABLE.filled(rows)], options.record)
    return 0


def _commits(clone: Path, most: int, tries: int) -> list[str]:
    found: list[str] = []
    log = git(clone, "log", "--no-merges", "--format=%H", f"-{tries}").decode().split()
    for commit in log:
        try:
            case = case_of(clone, commit)
        except subprocess.CalledProcessError:
            continue  # the first commit
        if case is not None:
            names = sorted({one.name for one in case.changed})
            print(commit[:10], len(case.uses), *names[:6], flush=True)
            found.append(commit)
        if len(found) == most:
            break
    return found


def _row(name: str, told: dict[str, Any], clone: Path, path: str, verbose: bool) -> Row:
    outcomes = []
    with checked_out(clone) as tree:
        for commit in told["commits"]:
            case = case_of(clone, commit)
            assert case is not None
            outcomes.append(_outcome(tree, case, told["language"], path))
            if verbose:
                _show(case, outcomes[-1])
    changed = sum(len(one.changed) for one in outcomes)
    failing = sum(len(one.refused) for one in outcomes)
    named = sum(len(one.named) for one in outcomes)
    right = sum(len(one.named & (one.changed | one.refused)) for one in outcomes)
    return {
        "repository": name,
        "commits": len(outcomes),
        "changed": changed,
        "named_of_changed": sum(len(one.changed & one.named) for one in outcomes) / max(1, changed),
        "refused": failing,
        "named_of_refused": sum(len(one.refused & one.named) for one in outcomes) / max(1, failing),
        "named": named,
        "precision": right / max(1, named),
        "cpu_s_most": max(one.seconds for one in outcomes),
    }


def _outcome(tree: Path, case: Case, language: str, path: str) -> Outcome:
    git(tree, "checkout", "--quiet", "--force", "--detach", f"{case.commit}~1")
    git(tree, "clean", "-fdq", "-e", "node_modules", "-e", ".mypy_cache")
    sides = {one.path: one for one in case.sides}
    before = {
        (path, sides[path].now(line) if path in sides else line)
        for path, line in refused(tree, language, path)
    }
    _told(tree, "index")
    set_up(tree, case)
    errors = refused(tree, language, path) - before
    since = _cpu()
    answer = json.loads(_told(tree, "breaks", "--json"))["result"]
    seconds = _cpu() - since
    named = {_place(one) for use in answer["uses"] for one in use["places"]}
    listed = git(tree, "ls-files", "-z", "-co", "--exclude-standard").decode().split("\0")
    texts = {path: (tree / path).read_bytes() for path in listed if (tree / path).is_file()}
    extents = {
        (path, first): last
        for name in sorted({one.name for one in case.changed})
        for path, text in texts.items()
        for first, last, _ in mentions(path, text, name)
    }
    failing = {
        (path, first)
        for (path, first), last in extents.items()
        if any((path, line) in errors for line in range(first, last + 1))
    }
    return Outcome(case.uses, failing, _at_uses(named, extents, case.uses), seconds)


def _at_uses(named: set[Place], extents: dict[Place, int], uses: set[Place]) -> set[Place]:
    """Named lines, each at the use that it is part of: a call may be named where it begins."""
    found = set()
    for path, line in named:
        around = [at for at, last in extents.items() if at[0] == path and at[1] <= line <= last]
        below = [at for at in extents if at[0] == path and line <= at[1] <= line + 3]
        places = [(path, line)] if (path, line) in extents else [*around, *below]
        found.add(next((one for one in places if one in uses), (places or [(path, line)])[0]))
    return found


def _place(text: str) -> Place:
    path, _, line = text.rpartition(":")
    return path, int(line)


def _show(case: Case, found: Outcome) -> None:
    names = sorted({f"{one.name}{'' if one.now else '-'}" for one in case.changed})
    print(case.commit[:10], *names[:12])
    both = found.changed | found.refused
    for mark, places in (("-", both - found.named), ("+", found.named - both)):
        for path, line in sorted(places):
            how = "r" if (path, line) in found.refused else ""
            print(f"  {mark}{how} {path}:{line}")
    print(f"  {len(both & found.named)} right, {found.seconds:.2f} s", flush=True)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _told(tree: Path, *words: str) -> str:
    command = [sys.executable, "-m", "tersely", *words]
    environment = {
        "TERSELY_DAEMON": "off",
        "TERSELY_KEPT_ANSWERS": "off",
        "PATH": "/usr/bin:/bin",
        "HOME": str(tree.parent),
    }
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
