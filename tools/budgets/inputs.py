"""What is measured on: packages that `constraints.txt` pins, the extension for VS Code, and small
programs of our own. All of it is there without a network.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tools.budgets.limits import ROOT

TREES = ROOT / "tests" / "trees"
EXTENSION = ROOT / "editors" / "vscode" / "src"
# Repositories that questions are asked about, each a package; ten symbols of each.
ASKED = ("httpx", "uvicorn", "starlette", "pygls", "click")


class Place(NamedTuple):
    """Files of an installed package."""

    package: str
    patterns: tuple[str, ...]


PLACES = {
    "python": (Place("starlette", ("**/*.py",)), Place("click", ("**/*.py",))),
    "javascript": (
        Place("playwright", ("driver/package/lib/tools/**/*.js", "driver/package/lib/entry/*.js")),
    ),
    "c": (Place("mypyc", ("lib-rt/*_ops.c",)),),
    "cpp": (Place("greenlet", ("*.cpp", "*.hpp")),),
}


def folder_of(package: str) -> Path:
    """The folder of an installed package; `LookupError` where it is not installed."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise LookupError(f"{package} is not installed: make .venv/installed-dev")
    return Path(spec.origin).parent


def files_of(language: str) -> list[Path]:
    """The files whose walk is counted, of packages where there are any, in a fixed order."""
    if language in PLACES:
        return [file for place in PLACES[language] for file in _found(place)]
    if language == "typescript":
        return sorted(EXTENSION.glob("*.ts"))
    return sorted(path for path in TREES.rglob("*.*") if language_of_path(path.name) == language)


def languages() -> Sequence[str]:
    """The names of the languages whose walk is counted: those that have files here."""
    return [name for name in sorted(LANGUAGES) if files_of(name)]


def copied(package: str, folder: Path) -> Path:
    """A copy of the Python sources of a package, as a repository of its own."""
    root = folder / package
    for path in sorted(folder_of(package).rglob("*.py")):
        place = root / package / path.relative_to(folder_of(package))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return root


def _found(place: Place) -> Iterator[Path]:
    folder = folder_of(place.package)
    for pattern in place.patterns:
        yield from sorted(folder.glob(pattern))
