"""What a change of the core changes: `make compare BASE=revision FOLDER=repositories`.

Each repository in the folder is read by the Tersely of the revision and by that of this work tree,
each in an environment of its own. What differs is counted by kind: files, symbols, what their bodies
do (`scope`), imports, mentions, edges by caller and by callee, and edges that one direction lacks.
Examples of each kind stand below the table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.revisions import ROOT, checked_out

DUMP = ROOT / "tools" / "compare" / "dump.py"
MOST_SYMBOLS = 2_000  # of one repository whose callers are asked
MOST_SHOWN = 5  # examples of a kind

Dump = dict[str, dict[str, str]]  # by kind and key


class Difference(NamedTuple):
    """What two revisions know of one kind of thing."""

    kind: str
    before: int
    after: int
    gone: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]  # with both values

    @property
    def is_none(self) -> bool:
        """True if both know the same."""
        return not (self.gone or self.new or self.changed)


def main(words: Sequence[str]) -> int:
    """Compare and print; the exit status is 0 whatever differs."""
    asked = _asked(words)
    repositories = sorted(path for path in Path(asked.folder).iterdir() if path.is_dir())
    with checked_out(asked.base) as base, tempfile.TemporaryDirectory() as made:
        programs = (_python_of(base, Path(made)), base / "src"), (sys.executable, ROOT / "src")
        for repository in repositories:
            dumps = _dumped(repository, asked.symbols, programs)
            for line in table(repository.name, list(differences(*dumps)), asked.show):
                print(line, flush=True)
    return 0


def differences(before: Dump, after: Dump) -> Iterator[Difference]:
    """Each kind of thing with what differs."""
    for kind in dict.fromkeys([*before, *after]):
        old, new = before.get(kind, {}), after.get(kind, {})
        yield Difference(
            kind, len(old), len(new),
            tuple(key for key in old if key not in new),
            tuple(key for key in new if key not in old),
            tuple(
                f"{key}: {old[key]} ⇒ {value}"
                for key, value in new.items()
                if old.get(key, value) != value
            ),
        )  # fmt: skip


def table(name: str, found: Sequence[Difference], most: int = MOST_SHOWN) -> Iterator[str]:
    """The lines about one repository."""
    yield f"{name:<24}{'before':>9}{'after':>9}{'gone':>8}{'new':>8}{'changed':>9}"
    for each in found:
        counts = f"{len(each.gone):>8,}{len(each.new):>8,}{len(each.changed):>9,}"
        yield f"  {each.kind:<22}{each.before:>9,}{each.after:>9,}{counts}"
    for each in found:
        for mark, keys in ("-", each.gone), ("+", each.new), ("~", each.changed):
            yield from (f"    {mark} {each.kind}: {key}" for key in keys[:most])


def read(lines: Iterator[str]) -> Dump:
    """The rows that `dump.py` has printed. Of a key that comes twice the values stand together."""
    found: Dump = {}
    for line in lines:
        kind, key, value = line.rstrip("\n").split("\t")
        known = found.setdefault(kind, {})
        known[key] = f"{known[key]} {value}" if key in known else value
    return found


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make compare", description=__doc__)
    parser.add_argument("base", help="the revision to compare with")
    parser.add_argument("folder", help="a folder of repositories")
    parser.add_argument(
        "--symbols", type=int, default=MOST_SYMBOLS, metavar="N",
        help=f"of how many symbols of a repository callers are asked (default {MOST_SYMBOLS}; 0: all)",
    )  # fmt: skip
    parser.add_argument(
        "--show", type=int, default=MOST_SHOWN, metavar="N", help="how many examples of a kind"
    )
    return parser.parse_args(words)


def _dumped(
    repository: Path, symbols: int, programs: Sequence[tuple[str, Path]]
) -> tuple[Dump, Dump]:
    """What two programs know of a repository; they run beside each other."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("before", "after")]
        running = []
        for place, (python, source) in zip(places, programs, strict=True):
            variables = {"PYTHONPATH": os.fspath(source), "PYTHONHASHSEED": "0"}
            with place.open("w") as output:
                words = [python, os.fspath(DUMP), os.fspath(repository), str(symbols)]
                running.append(
                    subprocess.Popen(words, stdout=output, env={**os.environ, **variables})
                )
        statuses = [process.wait() for process in running]
        if any(statuses):
            raise RuntimeError(f"{repository.name} cannot be read by both")
        before, after = (read(iter(place.open(encoding="utf-8"))) for place in places)
    return before, after


def _python_of(base: Path, folder: Path) -> str:
    """A Python with the packages of a revision: this one where they are the same."""
    if _packages(base) == _packages(ROOT):
        return sys.executable
    place, pinned = os.fspath(folder / "venv"), os.fspath(base / "constraints.txt")
    python = f"{place}/bin/python"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    pip = (python, "-m", "pip", "install", "--quiet", "--constraint", pinned)
    subprocess.run([*pip, os.fspath(base)], check=True)
    return python


def _packages(root: Path) -> tuple[Any, Mapping[str, str]]:
    """What a revision depends on, and the versions that it pins of that."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = (root / "constraints.txt").read_text("utf-8").splitlines()
    return project["dependencies"], dict(line.split("==") for line in pinned if "==" in line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
