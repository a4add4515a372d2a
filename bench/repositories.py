"""Which repositories models are fitted on, and which figures are reported on."""

from __future__ import annotations

import tomllib
from pathlib import Path

_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FIT = frozenset[str](_LISTS["fit"])
MEASURE = frozenset[str](_LISTS["measure"])
IN_WORD_TABLE = frozenset[str](_LISTS["in_word_table"])


def marked(repository: str) -> str:
    """A repository as a table of figures names it: one that a model knows, or that is on neither
    list, says so.
    """
    name = repository.replace("+", "/")
    if name.count("/") != 1 or name in MEASURE - IN_WORD_TABLE:
        return repository
    if name in MEASURE:
        return f"{repository} (the word table knows it)"
    return f"{repository} ({'models are fitted on it' if name in FIT else 'on neither list'})"


def measured_clones(folder: Path) -> list[Path]:
    """The clones in a folder, each named owner+repository, that figures are reported on."""
    return [place for place in sorted(folder.iterdir()) if place.name.replace("+", "/") in MEASURE]
