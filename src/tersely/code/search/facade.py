"""The facade of search: one index, its search files, and a searcher that lives as long as its
revision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tersely.code.index.content import Hashed
from tersely.code.index.storage.schema import IndexedFile
from tersely.code.index.storage.store import Store
from tersely.code.search.embedding.embedders import Choice, Embedder, chosen_embedder
from tersely.code.search.query import read_query
from tersely.code.search.searcher import Filters, RankedHits, Searcher, Sources, UnitPlace
from tersely.code.search.storage.segment_store import (
    IndexedText,
    Library,
    Progress,
    SegmentStore,
    open_store,
)
from tersely.code.symbols import Kind, SymbolsOf

if TYPE_CHECKING:
    from tersely.code.search.inside import Inside

CACHED_FILES = 512  # whose symbols are remembered for text that is found in a revision
CACHED_HITS = 1_024

WORDS = Choice()


class Search:
    """Finds symbols of one repository. For one thread at a time."""

    def __init__(self, store: Store, reader: Callable[[], Callable[[Hashed], bytes]]) -> None:
        self._store = store
        self._reader = reader  # reads files as they were indexed, or says that they have changed
        self._segments: SegmentStore = open_store(store.directory)
        # of a revision and a model
        self._searcher: tuple[tuple[str, str], Searcher] | None = None
        self._embedder: tuple[Choice, Embedder] | None = None

    def find(
        self,
        question: str,
        filters: Filters = Filters(),  # noqa: B008 - a frozen value
        limit: int = 10,
        choice: Choice = WORDS,
        progress: Progress | None = None,
    ) -> RankedHits:
        """At most `limit` hits, the best first; `query` says how questions are read."""
        return self.searcher(choice, progress).find(question, filters, limit)

    def find_inside(
        self,
        question: str,
        files: Sequence[IndexedFile],
        kinds: frozenset[Kind],
        limit: int,
        symbols_of: SymbolsOf,
    ) -> Inside:
        """At most `limit` definitions inside some files that hold words of the question; needs no
        search files.
        """
        from tersely.code.search.inside import find_inside

        return find_inside(read_query(question), files, symbols_of, self._reader(), kinds, limit)

    def prepare(self, choice: Choice = WORDS, progress: Progress | None = None) -> int:
        """Bring the search files up to date, and say how many units there are."""
        return len(self.searcher(choice, progress).collection)

    def searcher(self, choice: Choice = WORDS, progress: Progress | None = None) -> Searcher:
        """The searcher of the present revision."""
        embedder = self._chosen(choice)
        wanted = self._store.revision(), embedder.identity
        # else some files had changed when they were to be read
        is_whole = bool(self._segments.state[0])
        if self._searcher is None or self._searcher[0] != wanted or not is_whole:
            collection = self._segments.collection(
                Library(wanted[0], self._files, self._reader(), self._store.symbols_of),
                embedder.identity,
                embedder.embed_units,
                progress,
            )
            self._searcher = wanted, Searcher(collection, embedder.embed_question, self._sources())
        return self._searcher[1]

    def _chosen(self, choice: Choice) -> Embedder:
        if self._embedder is None or self._embedder[0] != choice:
            self._embedder = (choice, chosen_embedder(choice))
        return self._embedder[1]

    def _files(self) -> Sequence[IndexedText]:
        return [IndexedText(file.path, file.language, file.hash) for file in self._store.files()]

    def _sources(self) -> Sources:
        symbols_of = lru_cache(CACHED_FILES)(self._store.symbols_of)
        symbol_at = lru_cache(CACHED_HITS)(lambda place: self._store.symbol_at(*place))
        return Sources(symbols_of, symbol_at, self._named, self._reader)

    def _named(self, name: str, limit: int) -> Sequence[UnitPlace]:
        found = [
            symbol for symbol in self._store.find(name, (), limit) if symbol.kind is not Kind.LAMBDA
        ]
        positions = self._store.positions_of(found)
        return list(map(UnitPlace, (symbol.path for symbol in found), positions))
