"""The door into search: one index, its search files, and a searcher that lives as long as its revision."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from tersely.code.index.content import Hashed, reader_below
from tersely.code.index.store import Store
from tersely.code.search.embedding.adapt import adapted_table
from tersely.code.search.embedding.embedders import Choice, Embedder, chosen_model, word_embedder
from tersely.code.search.embedding.table import WordTable, shipped_table
from tersely.code.search.searcher import Filters, Found, Place, Searcher, Sources
from tersely.code.search.storage.arrays import DamagedFileError, map_arrays
from tersely.code.search.storage.collection import Collection
from tersely.code.search.storage.shelf import IndexedText, Library, Progress, Shelf, open_shelf
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError

ADAPTED = "words"  # the file of a word table that was adapted to the repository
CACHED_FILES = 512  # whose symbols are remembered for text that is found in a revision
CACHED_HITS = 1_024

LEARNT_BYTES = 8  # of the hash of a file, to know it again

WORDS = Choice()
Stamp = tuple[int, int, int]


class Search:
    """Finds symbols of one repository. For one thread at a time."""

    def __init__(self, root: Path, store: Store, reader: Callable[[], Callable[[Hashed], bytes]]) -> None:
        self._root = os.path.realpath(root)
        self._store = store
        self._reader = reader  # reads files as they were indexed, or says that they have changed
        self._shelf: Shelf = open_shelf(store.directory)
        self._searcher: tuple[str, str, Searcher] | None = None  # of a revision and a model
        self._embedder: tuple[Choice, Embedder, Stamp] | None = None

    def find(
        self,
        question: str,
        filters: Filters = Filters(),  # noqa: B008 - a frozen value
        limit: int = 10,
        choice: Choice = WORDS,
        progress: Progress | None = None,
    ) -> Found:
        """At most `limit` hits, the best first; `query` says how questions are read."""
        return self.searcher(choice, progress).find(question, filters, limit)

    def prepare(self, choice: Choice = WORDS, progress: Progress | None = None) -> int:
        """Bring the search files up to date, and say how many units there are."""
        return len(self.searcher(choice, progress).collection)

    def searcher(self, choice: Choice = WORDS, progress: Progress | None = None) -> Searcher:
        """The searcher of the present revision."""
        embedder = self._chosen(choice)
        revision = self._store.revision()
        is_whole = bool(self._shelf.state[0])  # else some files had changed when they were to be read
        if self._searcher is None or self._searcher[:2] != (revision, embedder.identity) or not is_whole:
            collection = self._collection(embedder, progress)
            self._searcher = (
                revision,
                embedder.identity,
                Searcher(collection, embedder.embed_question, self._sources()),
            )
        return self._searcher[2]

    def adapt(self, progress: Progress | None = None) -> bool:
        """Train the word table on this repository's own names and documentation; False where there is too little.

        Takes seconds. Answers stay what they were until it is done, in this process and in others: the table is put
        in its place when all vectors are there. `database_locked` where another process writes them at that moment.
        """
        directory, library = self._shelf.directory, self.library()
        table = adapted_table(shipped_table(), library) if directory is not None else None
        if directory is None or table is None:
            return False
        embedder = word_embedder(table)
        shelf = Shelf(directory)
        shelf.collection(library, embedder.identity, embedder.embed_units, progress)
        if not shelf.is_kept:
            raise TerselyError("database_locked", "another process writes the files of search", "try again")
        hashes = b"".join(file.hash[:LEARNT_BYTES] for file in library.files())
        table.write(directory / ADAPTED, hashes)
        return True

    @property
    def unlearnt_share(self) -> float:
        """Which share of the files the word table was not fitted to, from 0 to 1; 1 if it was fitted to none."""
        try:
            if self._shelf.directory is None:
                return 1.0
            learnt = map_arrays(self._shelf.directory / ADAPTED)["learnt"].tobytes()
        except (DamagedFileError, ValueError):
            return 1.0
        known = {learnt[at : at + LEARNT_BYTES] for at in range(0, len(learnt), LEARNT_BYTES)}
        files = self._files()
        return sum(file.hash[:LEARNT_BYTES] not in known for file in files) / max(1, len(files))

    def _chosen(self, choice: Choice) -> Embedder:
        stamp = self._stamp()
        if self._embedder is None or self._embedder[0] != choice or self._embedder[2] != stamp:
            self._embedder = (choice, chosen_model(choice) or word_embedder(self._words()), stamp)
        return self._embedder[1]

    def _stamp(self) -> Stamp:
        """Changes when the word table is fitted anew, by whatever process."""
        try:
            status = os.stat(self._shelf.directory / ADAPTED) if self._shelf.directory is not None else None
        except OSError:
            status = None
        return (status.st_mtime_ns, status.st_size, status.st_ino) if status is not None else (0, 0, 0)

    def _words(self) -> WordTable:
        """The table that was adapted to this repository, or else the one that comes with us."""
        try:
            if self._shelf.directory is not None:
                return WordTable.of(map_arrays(self._shelf.directory / ADAPTED))
        except (DamagedFileError, ValueError, KeyError):
            pass
        return shipped_table()

    def _collection(self, embedder: Embedder, progress: Progress | None) -> Collection:
        return self._shelf.collection(self._library(self._reader()), embedder.identity, embedder.embed_units, progress)

    def library(self) -> Library:
        """The files of the present revision, with the text of this moment."""
        return self._library(self._present())

    def _library(self, source_of: Callable[[Hashed], bytes]) -> Library:
        return Library(self._store.revision(), self._files, source_of, self._store.symbols_of)

    def _files(self) -> Sequence[IndexedText]:
        return [IndexedText(file.path, file.language, file.hash) for file in self._store.files()]

    def _present(self) -> Callable[[Hashed], bytes]:
        """Reads files of this moment; nothing of one that is gone by now."""
        read = reader_below(self._root)

        def source(file: Hashed) -> bytes:
            try:
                return read(file.path)
            except OSError:
                return b""

        return source

    def _sources(self) -> Sources:
        symbols_of = lru_cache(CACHED_FILES)(self._store.symbols_of)
        symbol_at = lru_cache(CACHED_HITS)(lambda place: self._store.symbol_at(*place))
        return Sources(symbols_of, symbol_at, self._named, self._reader)

    def _named(self, name: str, limit: int) -> Sequence[Place]:
        found = [symbol for symbol in self._store.find(name, (), limit) if symbol.kind is not Kind.LAMBDA]
        positions = self._store.positions_of(found)
        return [Place(symbol.path, position) for symbol, position in zip(found, positions, strict=True)]
