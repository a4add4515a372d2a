"""Which slow tests a change can have broken: `python -m tools.slow_tests [REVISION]` prints their
files, or all tests without a revision.

A file of tests stands on the rooms of `src/tersely` that it and its helpers import, and on the
rooms below those by the map in `pyproject.toml`; where it starts the program or looks at the source
of the package, on all of them. It is printed when it, a helper of it or one of its rooms is
other than at the revision, or something that no file of tests can name (dependencies, the
Makefile). What is left out is named on the standard error.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

MAP = "The map"
# Whoever has one of these may run any room, or look at its source.
STARTS = re.compile(
    r"(?s)sys\.executable.*tersely|tersely.*sys\.executable|[\"/]tersely\"|^import tersely$",
    re.MULTILINE,
)
BESIDE = ("tests", "bench", "tools")
# A module that is run by its name, or one with a function that is handed over.
NAMED = re.compile(rf'"((?:{"|".join(BESIDE)})\.[\w.]+)"|"(tersely\.[\w.]+):\w+"')
# A program that is run by the name of its file, wherever that lies.
PROGRAM = re.compile(r"""["'/](\w+\.py)["']""")
SELECTED = ("-m", "slow or hypothesis")
ALL_PAGES = "*.md"


class Tests:
    """What each file of tests stands on."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self._root = root
        self._files = list(files)
        self._imported: dict[str, tuple[set[str], set[str]]] = {}

    @cached_property
    def below(self) -> Mapping[str, frozenset[str]]:
        """Each room with itself and all rooms that it may import by the map."""
        tables = tomllib.loads((self._root / "pyproject.toml").read_text("utf-8"))
        contracts = tables["tool"]["importlinter"]["contracts"]
        layers = next(each["layers"] for each in contracts if each["name"] == MAP)
        found: dict[str, frozenset[str]] = {}
        for layer in reversed(layers):
            lower = frozenset(found)
            together = ":" in layer  # siblings that may import each other
            rooms = [word for word in layer.split() if word not in {":", "|"}]
            for room in rooms:
                found[room] = lower | (set(rooms) if together else {room})
        found["__main__"] = frozenset({*found, "__main__"})
        return found

    @cached_property
    def standing(self) -> Mapping[str, tuple[set[str], set[str]]]:
        """The rooms and the files beside the package that each file of tests stands on."""
        return {file: self._stands_on(file) for file in self._files}

    def _stands_on(self, file: str) -> tuple[set[str], set[str]]:
        rooms: set[str] = set()
        files: set[str] = set()
        waiting = [file, *self._conftests(file)]
        while waiting:
            if (each := waiting.pop()) in files:
                continue
            files.add(each)
            named, helpers = self._imports(each)
            rooms |= named
            waiting += helpers
        every = frozenset(self.below)
        return set().union(*(self.below.get(room, every) for room in rooms)), files

    def _imports(self, file: str) -> tuple[set[str], set[str]]:
        """The rooms and the files beside the package that one file imports."""
        if file not in self._imported:
            text = self._text(file)
            names = set(_names(ast.parse(text)))
            names.update("".join(found) for found in NAMED.findall(text))
            rooms = {name.split(".")[1] for name in names if name.startswith("tersely.")}
            if STARTS.search(text):
                rooms.add("__main__")
            files = {path for name in names for path in self._modules(name)}
            files.update(*(self._programs.get(name, ()) for name in PROGRAM.findall(text)))
            self._imported[file] = rooms, files
        return self._imported[file]

    @cached_property
    def _programs(self) -> Mapping[str, set[str]]:
        """The files beside the package that are no tests, by their names."""
        found = defaultdict[str, set[str]](set)
        for folder in BESIDE:
            for path in (self._root / folder).rglob("*.py"):
                if not path.name.startswith(("test_", "__", "conftest")):
                    found[path.name].add(path.relative_to(self._root).as_posix())
        return found

    def _modules(self, name: str) -> Iterator[str]:
        """The file of a module beside the package, or of the module that a name is in."""
        words = name.split(".")
        if words[0] not in BESIDE:
            return
        for path in ("/".join(words), "/".join(words[:-1])):
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if (self._root / file).is_file():
                    yield file

    def is_module(self, path: str) -> bool:
        """Whether a path beside the package is that of tests, or of a module that one of the files of
        tests imports, and is still there; else it is data.
        """
        is_of_tests = path.endswith(".py") and Path(path).name.startswith(("test_", "conftest"))
        is_imported = any(path in beside for _, beside in self.standing.values())
        return (is_of_tests or is_imported) and (self._root / path).is_file()

    def reads(self, file: str, *names: str) -> bool:
        """Whether a file of tests may read a folder or a file of one of some names: it lies in the
        folder, or it or what it stands on has the name in a path.
        """
        named = re.compile(rf"""["'/]({"|".join(map(re.escape, names))})["'/]""")
        _, beside = self.standing[file]
        is_inside = any(f"/{name}/" in file for name in names)
        return is_inside or any(named.search(self._text(each)) for each in beside)

    def _text(self, file: str) -> str:
        return (self._root / file).read_text("utf-8")

    def _conftests(self, file: str) -> Iterator[str]:
        for folder in Path(file).parents:
            if (self._root / folder / "conftest.py").is_file():
                yield (folder / "conftest.py").as_posix()


def _names(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def chosen(root: Path, files: Iterable[str], changed: Iterable[str]) -> set[str]:
    """Those of the files of tests whose tests the changed paths can have broken."""
    changed = set(changed)
    tests = Tests(root, files)
    return {file for file in tests.standing if any(_touches(tests, file, path) for path in changed)}


def _touches(tests: Tests, file: str, path: str) -> bool:
    """Whether a changed path is one that a file of tests stands on."""
    rooms, beside = tests.standing[file]
    words = path.split("/")
    if path.startswith("src/tersely/"):
        room = words[2].removesuffix(".py")
        return room in rooms or room not in tests.below
    if path in beside:
        return True
    if words[0] in BESIDE:
        return not tests.is_module(path) and (len(words) == 2 or tests.reads(file, words[1]))
    if words[0] == "docs" or path.endswith(".md"):
        return tests.reads(file, words[0], ALL_PAGES)
    return True


def slow_files(root: Path) -> list[str]:
    """The files with slow tests, as pytest collects them."""
    words = [sys.executable, "-m", "pytest", "--collect-only", "-qq", *SELECTED]
    told = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    return [line.rpartition(": ")[0] for line in told.splitlines() if line.startswith("tests/")]


def changed_since(root: Path, revision: str) -> list[str]:
    """The paths that are other than at a revision, or that it does not have: committed or not, and
    whether git was told of them or not.
    """
    changed = _git(root, "diff", "--name-only", "--no-renames", "-z", revision, "--")
    untold = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    return [path for path in (changed + untold).split("\0") if path]


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def main(words: Sequence[str]) -> int:
    """Print all tests, or the files that a change since a revision can have broken."""
    root = Path.cwd()
    if not words:
        print("tests")
        return 0
    files = slow_files(root)
    kept = chosen(root, files, changed_since(root, words[0]))
    for file in files:
        if file not in kept:
            print(f"left out: the slow tests of {file}", file=sys.stderr)
    print(" ".join(sorted(kept)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
