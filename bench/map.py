"""`python -m bench.map REPOSITORY [--aider PYTHON]`: how much of what matters a map of a budget mentions.

What matters is taken from the call graph, which the map does not use: the functions and classes outside of tests that
are called, beyond guesses, from the most files. Their share among what the text defines is given for each budget, with
tokens and processor seconds of a whole process; for aider's repository map too, where PYTHON can import it.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tersely.code.places import is_test
from tersely.foundation.tokens import count
from tersely.workspace import Workspace

BUDGETS = (1_000, 2_000, 4_000)
MATTERING = 100  # symbols
MAP_SECONDS = 400
_DEFINED = re.compile(r"\b(?:class|def|function|func|fn)\s+(\w+)")

AIDER = """
import sys
from pathlib import Path
from aider.repomap import RepoMap
from tersely.foundation.tokens import count

class Silent:
    def __getattr__(self, name): return lambda *words, **others: None
    def read_text(self, path, *words, **others): return Path(path).read_text(errors="ignore")

class Model:
    def token_count(self, text): return count(str(text))

files = sorted(map(str, Path.cwd().rglob("*.py")))
map_ = RepoMap(map_tokens=int(sys.argv[1]), root=str(Path.cwd()), main_model=Model(), io=Silent(), refresh="always")
print(map_.get_repo_map([], files))
"""


def main(arguments: list[str]) -> int:
    """Print a line for each budget and program."""
    parser = argparse.ArgumentParser(prog="python -m bench.map", description=__doc__)
    parser.add_argument("repository", type=Path, help="a source tree, copied")
    parser.add_argument("--aider", help="an interpreter that can import aider")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tersely-map-") as scratch:
        root = Path(scratch) / options.repository.name
        shutil.copytree(options.repository, root, ignore=shutil.ignore_patterns(".tersely", ".aider*"), symlinks=True)
        wanted = _mattering(root)
        for budget in BUDGETS:
            _measure("tersely", [sys.executable, "-m", "tersely", "map", "--quiet", "--budget"], root, budget, wanted)
            if options.aider:
                _measure("aider", [options.aider, "-c", AIDER], root, budget, wanted)
    return 0


def _mattering(root: Path) -> list[str]:
    """The names of what is called from the most files; indexes the repository on the way."""
    with Workspace.open(root) as workspace:
        workspace.refresh()
        names = {symbol.id: symbol.name for symbol in workspace.engine.store.symbols()}
        users: dict[str, set[str]] = defaultdict(set)
        for edge in workspace.engine.graph.edges(guesses=False):
            if edge.callee in names and not is_test(edge.callee.partition(":")[0]):
                users[edge.callee].add(edge.caller.partition(":")[0])
    order = sorted(users, key=lambda symbol: (-len(users[symbol]), symbol))
    return [names[symbol] for symbol in order if not names[symbol].startswith("__")][:MATTERING]


def _measure(program: str, command: list[str], root: Path, budget: int, wanted: list[str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, str(budget)], cwd=root, capture_output=True, text=True, check=False, timeout=MAP_SECONDS
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    defined = set(_DEFINED.findall(done.stdout))
    share = sum(name in defined for name in wanted) / max(len(wanted), 1)
    used = count(done.stdout)
    what = f"{program:<8} budget {budget:>5}  used {used:>5}  {len(defined):>4} symbols"
    print(f"{what}  {share:.2f} of what matters  {seconds:.1f} CPU s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
