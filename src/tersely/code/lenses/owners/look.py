"""Looking at a repository for what a task is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tersely.code.index.store import Store
from tersely.code.index.subjects import Subject
from tersely.code.lenses.owners.evidence import Evidence, Sources, evidence, owning
from tersely.code.lenses.owners.task import Task
from tersely.code.lenses.owners.weights import MAX_OWNERS, confidence, probabilities
from tersely.code.search.lexical import Lexicon
from tersely.code.search.searcher import Filters, Searcher
from tersely.code.search.words import pieces_of, stem, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.foundation.errors import TerselyError

FOUND_SYMBOLS = 60  # looked at of those that search finds for a text
MAX_NAMED_SYMBOLS = 40  # of one name
MAX_READ_FILES = 200  # for one text that is quoted
MAX_OWNED_SYMBOLS = 12  # listed of one file
_SHOWN_KINDS = CALLABLE_KINDS | CLASS_KINDS - {Kind.LAMBDA}
_CLASS_SHARE = 0.5  # what a class has of what speaks for it: its methods say more, and are shorter


@dataclass(frozen=True, slots=True)
class OwnedSymbol:
    """A symbol of an owner, and how much speaks for it, comparable over all owners."""

    symbol: Symbol
    worth: float


@dataclass(frozen=True, slots=True)
class Owner:
    """A file that a task is probably about."""

    path: str
    probability: float  # that the task changes it
    why: tuple[str, ...]  # what is exact; words speak for all
    symbols: tuple[OwnedSymbol, ...]  # the best first


@dataclass(frozen=True, slots=True)
class Owners:
    """What a task is about, and how sure that is."""

    files: tuple[Owner, ...]  # the likeliest first
    confidence: float  # which share of the files to be changed is expected among these
    looked_at: int  # files that could have been


class Look:
    """Looks at one revision of a repository. For one thread at a time."""

    def __init__(
        self, store: Store, searcher: Searcher, source_of: Callable[[str], bytes], past: Sequence[Subject]
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._lexicon = Lexicon(searcher.collection)
        self._source_of = cache(source_of)
        self._past = past
        self._paths = owning(file.path for file in store.files())

    def owners(self, task: Task) -> Owners:
        """The files and symbols of a task, at most `MAX_OWNERS` files."""
        found = self.evidence(task)
        shares = probabilities(found.signs)
        order = np.lexsort((np.arange(len(shares)), -np.round(shares, 9)))
        best = [int(row) for row in order[:MAX_OWNERS] if found.signs[row].any()]
        files = tuple(self._owner(self._paths[row], float(shares[row]), found) for row in best)
        sure = confidence(shares[order], found.ceiling, len(task.title.split()))
        return Owners(files, sure if files else 0.0, len(self._paths))

    def evidence(self, task: Task) -> Evidence:
        """What speaks for each file."""
        named = cache(lambda name: self._store.find(name, (), MAX_NAMED_SYMBOLS))
        sources = Sources(self._paths, self._lexicon, self._found, named, self._at, self._saying, self._past)
        return evidence(task, sources)

    def _found(self, text: str) -> Sequence[Symbol]:
        try:
            hits = self._searcher.find(_as_words(text), Filters(), FOUND_SYMBOLS).hits
        except TerselyError:  # there are no words in it
            return ()
        return [hit.symbol for hit in hits]

    def _at(self, path: str, first_line: int, last_line: int) -> Sequence[Symbol]:
        """The functions and classes at some lines that have no other of them inside."""
        meant = [
            one
            for one in self._store.symbols_of(path)
            if one.kind in _SHOWN_KINDS and one.start_line <= last_line and first_line <= one.end_line
        ]
        return [one for one in meant if all(other.parent != one.id for other in meant)]

    def _saying(self, texts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {
            text: [path for path in self._with_words(text) if text.encode("utf-8", "replace") in self._source_of(path)]
            for text in texts
        }

    def _with_words(self, text: str) -> list[str]:
        """The files that have all the words of a text."""
        collection = self._lexicon.collection
        files: set[int] | None = None
        for term in sorted({stem(piece) for word in words_of_text(text) for piece in pieces_of(word)}):
            having = set(collection.file[self._lexicon.term_scores(term)[0]].tolist())
            files = having if files is None else files & having
            if not files:
                return []
        return [collection.files[file].path for file in sorted(files or ())][:MAX_READ_FILES]

    def _owner(self, path: str, probability: float, found: Evidence) -> Owner:
        symbols = self._store.symbols_of(path)
        numbers = self._searcher.collection.numbers_at(path, range(len(symbols)))
        by_id: dict[str, float] = {}
        for number in numbers:
            symbol = symbols[self._searcher.collection.position[number]]
            by_id[symbol.id] = float(found.units[number])
        rated = [
            OwnedSymbol(one, probability * self._worth(one, by_id, found))
            for one in symbols
            if one.kind in _SHOWN_KINDS and (one.id in by_id or one.id in found.symbols)
        ]
        rated.sort(key=lambda one: (-round(one.worth, 9), one.symbol.start_line, one.symbol.id))
        return Owner(path, probability, tuple(found.why.get(path, ())), tuple(rated[:MAX_OWNED_SYMBOLS]))

    def _worth(self, symbol: Symbol, by_id: Mapping[str, float], found: Evidence) -> float:
        worth = by_id.get(symbol.id, 0.0) + found.symbols.get(symbol.id, 0.0)
        return worth * _CLASS_SHARE if symbol.kind in CLASS_KINDS else worth


def _as_words(text: str) -> str:
    """The text as a question in words alone: in a report neither quotes nor slashes ask for text as it stands."""
    return text.replace('"', " ").strip(" /")
