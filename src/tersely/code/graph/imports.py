"""The graph of imports between files, made without reading the semantics of any file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from tersely.code.graph.program.program import Program
from tersely.code.languages.registry import LANGUAGES
from tersely.code.places import directory_of
from tersely.code.symbols import Import
from tersely.foundation.types import Strings


class ImportGraph:
    """Resolves imports to paths, as the language of the importing file does."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[str, str, str], Strings] = {}
        self._importers: dict[str, list[tuple[str, Import]]] | None = None

    def targets(self, importer: str, item: Import) -> list[str]:
        """The files that an import takes from, none for one from outside the repository.

        Importing a module from a package takes from both, the module first.
        """
        found = [self.module(importer, item.module)[:1]]
        if item.name and item.name != "*":
            language = self._program.rows[self._program.by_path[importer]].language
            separator = (
                "" if item.module.endswith(".") else LANGUAGES[language].resolution.separator
            )
            found.insert(0, self.module(importer, f"{item.module}{separator}{item.name}")[:1])
        return [
            path
            for path in dict.fromkeys(path for paths in found for path in paths)
            if path != importer
        ]

    def module(self, importer: str, module: str, language: str = "") -> Strings:
        """The files that a module as written in a file may mean, best first."""
        language = language or self._program.rows[self._program.by_path[importer]].language
        semantics = LANGUAGES[language].resolution
        key = (
            language,
            importer if semantics.relative_to_file else directory_of(importer),
            module,
        )
        if key not in self._known:
            paths = semantics.modules(self._program, importer, module)
            self._known[key] = tuple(path for path in paths if path in self._program.by_path)
        return self._known[key]

    def module_anywhere(self, module: str) -> list[str]:
        """The files that a module written at the root may mean in any language of the repository."""
        languages = sorted({row.language for row in self._program.rows.values()})
        return sorted(
            {path for language in languages for path in self.module("", module, language)}
        )

    def importers(
        self, path: str, every: Callable[[], Iterable[tuple[str, Import]]]
    ) -> Sequence[tuple[str, Import]]:
        """The imports that take from a file, with their files; `every` gives all there are, and is
        asked once.
        """
        if self._importers is None:
            self._importers = defaultdict(list)
            for importer, item in every():
                for target in self.targets(importer, item):
                    self._importers[target].append((importer, item))
        return self._importers.get(path, ())

    def edges(self, imports: Iterable[tuple[str, Import]]) -> dict[str, set[str]]:
        """From each importing path to the paths it takes from."""
        graph: dict[str, set[str]] = {}
        for importer, item in imports:
            graph.setdefault(importer, set()).update(self.targets(importer, item))
        return graph
