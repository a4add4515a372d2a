"""The files of tests that import what has changed, themselves or by way of others."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tersely.code.languages.registry import family_of, language_of_path
from tersely.code.languages.runners.conventions import CONVENTIONS
from tersely.code.symbols import Import
from tersely.foundation.types import Strings

_WORD = re.compile(r"[\w$-]+")
_WHOLE_FOLDER = frozenset({"__init__", "index", "mod"})  # files that stand for the folder
_SETUP_NAMES = frozenset(
    conventions.setup for conventions in CONVENTIONS.values() if conventions.setup
)


class Importing(NamedTuple):
    """A file that imports a changed one. `path` leads from it to that file, both included."""

    file: str
    path: Strings


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
    reached: dict[str, Strings] = {path: (path,) for path in changed}
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


def imports_of_gone(
    path: str, imports: Iterable[tuple[str, Import]]
) -> Iterator[tuple[str, Import]]:
    """The imports that by their words and their language mean a file that is not there any more,
    with the files that they stand in.
    """
    place, _, ending = path.rpartition(".")
    parts = [part for part in place.split("/") if part not in _WHOLE_FOLDER]
    for importer, item in imports:
        words = _WORD.findall(item.module)
        words = words[:-1] if words[1:] and words[-1] == ending else words
        is_near = len(parts) == 1 or item.module.startswith(".")
        named = [one for one in (words, [*words, item.name]) if len(one) > 1 or (is_near and one)]
        if _family(importer) == _family(path) and any(parts[-len(one) :] == one for one in named):
            yield importer, item


def _family(path: str) -> str:
    language = language_of_path(path)
    return family_of(language) if language else ""
