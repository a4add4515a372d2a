"""The ways of searching that are compared: each ranks the units of one collection for a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from math import log

import numpy as np
from numpy.typing import NDArray

from tersely.code.engine import Engine
from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.facade import WORDS
from tersely.code.search.query import Query, read_query
from tersely.code.search.searcher import Searcher
from tersely.code.search.units import units_of
from tersely.code.search.words import STOP_WORDS, pieces_of, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, Symbol

KEPT = 10  # hits that count
SATURATION, LENGTH_SHARE = 1.2, 0.75
_REDEFINITION = re.compile(r"#\d+$")

# a question to ids, the best first; a redefined name is there once
Rank = Callable[[str], list[str]]


class Corpus:
    """The units of one repository, for methods that know nothing but text."""

    def __init__(self, engine: Engine) -> None:
        self.searcher: Searcher = engine.search.searcher(WORDS)
        self.engine = engine
        self.symbols: list[Symbol] = []
        self.texts: list[str] = []
        for file in self.searcher.collection.files:
            source = engine.source(file.path)
            symbols = engine.store.symbols_of(file.path)
            for _, symbol in units_of(symbols):
                self.symbols.append(symbol)
                self.texts.append(_own_text(symbol, symbols, source))

    def ids(self, scores: NDArray[np.float64]) -> list[str]:
        """The units with the highest scores above zero."""
        order = np.argsort(-scores, kind="stable")[: 20 * KEPT]
        found = dict.fromkeys(
            same_name(self.symbols[unit].id) for unit in order.tolist() if scores[unit] > 0
        )
        return list(found)[:KEPT]


def same_name(symbol_id: str) -> str:
    """An id without the number of a redefinition."""
    return _REDEFINITION.sub("", symbol_id)


def _own_text(symbol: Symbol, symbols: Iterable[Symbol], source: bytes) -> str:
    """A function whole, anything else until its first member, and the comment before it."""
    end = symbol.end_byte
    if symbol.kind not in CALLABLE_KINDS:
        end = min([end, *(other.start_byte for other in symbols if other.parent == symbol.id)])
    start = (
        min(symbol.start_byte, symbol.doc_start_byte) if symbol.doc_end_byte else symbol.start_byte
    )
    return source[start : max(end, symbol.signature_end_byte)].decode("utf-8", "replace")


def plain_bm25(corpus: Corpus) -> Rank:
    """BM25 over the split words of path, name and text, without fields, weights or stems."""
    postings: dict[str, list[tuple[int, int]]] = {}
    lengths = np.zeros(len(corpus.texts))
    for unit, (symbol, text) in enumerate(zip(corpus.symbols, corpus.texts, strict=True)):
        words = words_of_text(f"{symbol.path} {symbol.qualname} {text}")
        counts = Counter(piece for word in words for piece in pieces_of(word))
        lengths[unit] = sum(counts.values())
        for piece, count in counts.items():
            postings.setdefault(piece, []).append((unit, count))
    relative = 1 - LENGTH_SHARE + LENGTH_SHARE * lengths / max(1.0, float(lengths.mean()))

    def rank(question: str) -> list[str]:
        scores = np.zeros(len(lengths))
        for piece in {
            piece for word in words_of_text(question) for piece in pieces_of(word)
        } - STOP_WORDS:
            having = postings.get(piece, [])
            rarity = log(1 + (len(lengths) - len(having) + 0.5) / (len(having) + 0.5))
            for unit, count in having:
                scores[unit] += (
                    rarity * count * (SATURATION + 1) / (count + SATURATION * relative[unit])
                )
        return corpus.ids(scores)

    return rank


def vectors(corpus: Corpus) -> Rank:
    """The word table alone."""
    table = shipped_table()
    collection = corpus.searcher.collection
    everything = np.arange(len(collection))

    def rank(question: str) -> list[str]:
        query: Query = read_query(question)
        return corpus.ids(
            collection.similarities(table.embed_pieces(query.pieces), everything).astype(np.float64)
        )

    return rank


def hybrid(corpus: Corpus) -> Rank:
    """What `tersely search` answers."""
    return lambda question: [
        same_name(hit.symbol.id) for hit in corpus.engine.search.find(question, limit=KEPT).hits
    ]


METHODS: dict[str, Callable[[Corpus], Rank]] = {
    "BM25": plain_bm25,
    "vectors": vectors,
    "hybrid": hybrid,
}
