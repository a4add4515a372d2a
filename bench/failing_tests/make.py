"""`python -m bench.failing_tests.make CLONES REPOSITORY --path FOLDER`: which files of tests fail
when a commit is taken back.

For the newest commits that change code and tests: the code of the commit is put back to what it
was before, the tests stay as the commit has them, and the suite is run. The tests that fail then
and pass with the commit are the truth. Commits none of whose own tests fails, and those that cannot
be built in one of the two states, are passed over. Written to `cases/`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.failing_tests.suites import SUITES, NotRunError, failing, listed
from bench.scratch import clone_of, git
from tersely.code.languages.registry import language_of_path
from tersely.code.places import is_test

CASES = Path(__file__).parent / "cases"
MAX_CHANGED_FILES = 30  # of a commit; above it is no change that somebody works on


def main(arguments: Sequence[str]) -> int:
    """Go through the commits until enough are found; print one line each."""
    options = _options(arguments)
    clone = clone_of(options.clones, options.repository)
    if clone is None:
        sys.exit(f"no clone of {options.repository} in {options.clones}")
    suite = SUITES[options.repository]
    record: dict[str, Any] = {
        "repository": options.repository,
        "command": suite.command.replace("{}", suite.whole or "{}"),
        "versions": options.versions.split("\n"),
        "tried": 0,
        "commits": [],
    }
    newest = "HEAD"
    if options.further:
        record = json.loads(_place(options.repository).read_text("utf-8"))
        newest = f"{record['commits'][-1]['commit']}~1"
    cases = record["commits"]
    with checked_out(clone) as tree:
        if options.modules:
            (tree / "node_modules").symlink_to(options.modules)
        for commit in _commits(clone, options.before or newest)[: options.tries]:
            if len(cases) == options.commits:
                break
            record["tried"] += 1
            try:
                case = _case(options.repository, tree, commit, options.path)
            except NotRunError as error:
                print(commit[:10], "passed over:", " ".join(str(error).split())[-200:], flush=True)
                continue
            print(commit[:10], case["failing"], flush=True)
            if case["failing"]:
                cases.append(case)
                _keep(record)
    return 0


def _keep(record: Mapping[str, Any]) -> None:
    CASES.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1) + "\n"
    _place(record["repository"]).write_text(text, encoding="utf-8")


def _place(repository: str) -> Path:
    return CASES / f"{repository.replace('/', '+')}.json"


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.failing_tests.make", description=__doc__)
    parser.add_argument("clones", type=Path, help="a folder of clones, with their history")
    parser.add_argument("repository", choices=sorted(SUITES))
    parser.add_argument("--path", action="append", default=[], help="a folder of programs; again")
    parser.add_argument("--modules", type=Path, help="the node_modules that the suite needs")
    parser.add_argument("--versions", default="", help="what the suite was run with, a line each")
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--tries", type=int, default=60, help="commits that are run at most")
    parser.add_argument("--before", default="", help="the newest commit; HEAD if none")
    parser.add_argument(
        "--further", action="store_true", help="keep the commits there are, and go on before them"
    )
    return parser.parse_args(arguments)


@contextmanager
def checked_out(clone: Path) -> Iterator[Path]:
    """A clone of a clone, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tersely-bench-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder).resolve() / clone.name
        subprocess.run(
            ["git", "clone", "--quiet", "--no-checkout", str(clone.resolve()), str(tree)],
            check=True,
        )
        yield tree


def _commits(clone: Path, newest: str) -> list[str]:
    log = git(clone, "log", "--no-merges", "--format=%H", newest).decode()
    return [commit for commit in log.split() if _is_fit(clone, commit)]


def _is_fit(clone: Path, commit: str) -> bool:
    changed = git(clone, "show", "--format=", "--name-only", commit).decode().split("\n")
    code = [path for path in changed if is_code(path)]
    return bool(code) and len(changed) <= MAX_CHANGED_FILES and any(map(is_test, changed))


def is_code(path: str) -> bool:
    """True for a file that the index reads and that belongs to no tests."""
    beside = ("docs/", "examples/", "bench", "dist/", "setup.py")
    return language_of_path(path) is not None and not is_test(path) and not path.startswith(beside)


def put_back(tree: Path, commit: str) -> None:
    """Make a tree that of a commit, with the code of the commit before."""
    git(tree, "checkout", "--quiet", "--force", "--detach", commit)
    git(tree, "clean", "-fdq", "-e", "node_modules")
    changed = git(tree, "diff", "--no-renames", "--name-status", f"{commit}~1", commit).decode()
    for line in changed.splitlines():
        status, path = line.split("\t")
        if not is_code(path):
            continue
        if status == "A":
            git(tree, "rm", "--quiet", "--cached", path)
            (tree / path).unlink()
        else:
            git(tree, "checkout", "--quiet", f"{commit}~1", "--", path)


def _case(name: str, tree: Path, commit: str, path: list[str]) -> dict[str, Any]:
    git(tree, "checkout", "--quiet", "--force", "--detach", commit)
    suite = listed(tree, SUITES[name].files)
    changed = git(tree, "diff", "--name-only", "--diff-filter=d", f"{commit}~1", commit).decode()
    own = sorted(set(changed.split()).intersection(suite))
    put_back(tree, commit)
    without = failing(name, tree, path) if own and failing(name, tree, path, own) else {}
    if not without:
        return {"commit": commit, "failing": {}}
    git(tree, "checkout", "--quiet", "--force", commit)
    anyway = failing(name, tree, path, list(without))
    broken = {
        path: number - anyway.get(path, 0)
        for path, number in sorted(without.items())
        if number > anyway.get(path, 0)
    }
    return {"commit": commit, "files": len(suite), "failing": broken}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
