"""The files of tests that import what has changed, themselves or by way of others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from tersely.code.languages.registry import family_of, language_of_path
from tersely.code.languages.runners.table import CUSTOMS
from tersely.code.symbols import Import
from tersely.context.lenses.test_impact.changed import Gone

_SETUP_NAMES = frozenset(customs.setup for customs in CUSTOMS.values() if customs.setup)


class Importing(NamedTuple):
    """A file that imports a changed one. `path` leads from it to that file, both included."""

    file: str
    path: tuple[str, ...]


def importing(
    changed: Iterable[str],
    edges: Mapping[str, Iterable[str]],
    below: Callable[[str], Iterable[str]],
) -> list[Importing]:
    """Everything that imports a changed file, nearest first; `edges` lead from an importing file to
    what it takes.

    What runs before all tests of a directory passes what it imports on to them: `below` gives the
    files there.
    """
    importers: dict[str, list[str]] = defaultdict(list)
    for importer, targets in sorted(edges.items()):
        for target in targets:
            importers[target].append(importer)
    reached: dict[str, tuple[str, ...]] = {path: (path,) for path in changed}
    pending = deque(sorted(reached))
    while pending:
        current = pending.popleft()
        directory, _, name = current.rpartition("/")
        served = below(directory) if name in _SETUP_NAMES else ()
        for other in (*importers.get(current, ()), *served):
            if other not in reached:
                reached[other] = (other, *reached[current])
                pending.append(other)
    return [Importing(file, path) for file, path in reached.items()]


def importers_of_gone(gone: Iterable[Gone], imports: Iterable[tuple[str, Import]]) -> set[str]:
    """Files that still import a module that is gone, as far as its name and language tell."""
    modules = defaultdict(set)
    for one in gone:
        if not one.qualname:
            modules[one.name].add(_family(one.path))
    found = set()
    for importer, item in imports:
        last = item.module.replace("/", ".").rstrip(".").rpartition(".")[2]
        families = modules.get(last, set()) | modules.get(item.name, set())
        if _family(importer) in families:
            found.add(importer)
    return found


def _family(path: str) -> str:
    language = language_of_path(path)
    return family_of(language) if language else ""
