"""Searching one revision: from a question to hits, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from tersely.code.index.content import Hashed
from tersely.code.search.lexical import Lexicon, Scores
from tersely.code.search.literal import FileMatches, find_expression, find_quoted
from tersely.code.search.query import Query, read_query
from tersely.code.search.ranking import Named, Priors, Ranked, prior_of, priors_of, rank
from tersely.code.search.storage.collection import Collection
from tersely.code.search.storage.segment import KINDS
from tersely.code.search.units import Field
from tersely.code.search.wording import common_language, in_words_of
from tersely.code.search.words import parts_of, stem
from tersely.code.symbols import Kind, Symbol, SymbolsOf
from tersely.foundation.arrays import Flags, Floats, Ints, np
from tersely.foundation.types import Strings, frozen

MAX_NAMED_SYMBOLS = 200  # taken of those that a name may mean
MAX_REASON_WORDS = 4
LEAST_COSINE = 0.1  # of a hit that has no word of the question
# of a question that is found again in a hit that it does not name
LEAST_SHARE, LARGEST_SHARE = 0.01, 0.99
# of the words of a question that some unit has, from where on the repository is about it
KNOWN_SHARE = 0.3
CLOSE_COSINE = 0.35  # from where on a unit counts as close in meaning

_FIELD_WORDS = {
    Field.NAME: "name",
    Field.OWNER: "owner",
    Field.PATH: "path",
    Field.SIGNATURE: "signature",
    Field.BODY: "body",
    Field.CALLEE: "calls",
    Field.DOC: "documentation",
}


@frozen
class Filters:
    """The conditions on hits; nothing given is no condition."""

    kinds: frozenset[Kind] = frozenset()
    paths: Strings = ()  # directories, files or patterns, from the root
    languages: frozenset[str] = frozenset()


class UnitPlace(NamedTuple):
    """A unit as the index knows it."""

    path: str
    position: int  # among the definitions of the file


@frozen
class Hit:
    """A symbol that was found."""

    symbol: Symbol
    line: int  # of what was found: of the name, or of the text that was sought
    share: float  # how much of the question is found again, from 0 to 1
    reasons: Strings


@frozen
class RankedHits:
    """The best hits, and how many units there were to choose from."""

    hits: tuple[Hit, ...]
    total: int  # units that match, for text and expressions; else all that the filters let through


@frozen
class Sources:
    """The questions of searching to the index."""

    symbols_of: SymbolsOf
    symbol_at: Callable[[UnitPlace], Symbol]
    named: Callable[[str, int], Sequence[UnitPlace]]  # what a name may mean, at most so many
    reader: Callable[[], Callable[[Hashed], bytes]]  # reads files for one question


class Searcher:
    """Answers questions about one collection. For one thread at a time."""

    def __init__(
        self, collection: Collection, embed_question: Callable[[Query], Floats], sources: Sources
    ) -> None:
        self.collection = collection
        self.lexicon = Lexicon(collection)
        self._language = common_language(collection.files)
        self._embed = embed_question
        self._sources = sources
        self._known: Priors | None = None
        self._prior = cache(self._new_prior)  # of the four kinds of question

    def find(self, text: str, filters: Filters, limit: int) -> RankedHits:
        """At most `limit` hits, the best first."""
        query = self._worded(read_query(text))
        allowed = self._allowed(filters)
        if query.expression is not None or query.quoted:
            return self._find_text(query, allowed, limit)
        ranked = self._rank(query, allowed)
        total = len(self.collection) if allowed is None else int(allowed.sum())
        return RankedHits(tuple(self._hits(query, ranked, limit)), total)

    def _worded(self, query: Query) -> Query:
        return in_words_of(query, self._language, self.lexicon.units_with)

    def _rank(self, query: Query, allowed: Flags | None) -> Ranked:
        prior = self._prior(query.about_change, query.about_tests)
        named = Named(
            self._numbers_of([query.name] if query.name else []), self._numbers_of(query.names)
        )
        return rank(query, self._embed(query), self.lexicon, prior, named, allowed)

    @property
    def _priors(self) -> Priors:
        if self._known is None:
            self._known = priors_of(self.collection)
        return self._known

    def _new_prior(self, about_change: bool, about_tests: bool) -> Scores:
        return prior_of(self._priors, about_change, about_tests)

    def _numbers_of(self, names: Iterable[str]) -> Ints:
        places = [place for name in names for place in self._sources.named(name, MAX_NAMED_SYMBOLS)]
        numbers = {
            number
            for place in places
            for number in self.collection.numbers_at(place.path, [place.position])
        }
        return np.array(sorted(numbers), np.int64)

    def _allowed(self, filters: Filters) -> Flags | None:
        """The units that the filters let through, None for all."""
        if filters == Filters():
            return None
        files = np.array(
            [_file_fits(file.path, file.language, filters) for file in self.collection.files], bool
        )
        allowed: Flags = files[self.collection.file] if len(files) else np.zeros(0, bool)
        if filters.kinds:
            kinds = np.array([kind in filters.kinds for kind in KINDS])
            allowed = allowed & kinds[self.collection.kind]
        return allowed

    # Hits

    def _hits(self, query: Query, ranked: Ranked, limit: int) -> Iterable[Hit]:
        """One hit for each name in a file: redefinitions and overloads of it are not listed beside
        it.
        """
        chosen: dict[tuple[str, str], tuple[int, Symbol]] = {}
        least = LEAST_COSINE if self._is_about_this(query, ranked) else CLOSE_COSINE
        for at, number in enumerate(ranked.units.tolist()):
            if len(chosen) == limit:
                break
            if not (ranked.is_named[at] or ranked.words[at] > 0 or ranked.cosines[at] >= least):
                continue
            symbol = self._symbol(number)
            chosen.setdefault((symbol.path, symbol.qualname.partition("#")[0]), (at, symbol))
        places = np.array([at for at, _ in chosen.values()], np.int64)
        reasons = self._reasons(query, ranked, places)
        share = 1.0
        ceiling = self.lexicon.ceiling(query.terms)
        for at, symbol in chosen.values():
            if not ranked.is_named[at]:
                share = min(
                    share, _share(float(ranked.words[at]), ceiling, float(ranked.cosines[at]))
                )
            yield Hit(symbol, symbol.name_line, share, reasons[int(ranked.units[at])])

    def _is_about_this(self, query: Query, ranked: Ranked) -> bool:
        """True if something has much of what is asked, in words or in meaning.

        Something is always nearest; where nothing is near, what has no word of the question is
        noise.
        """
        best = _share(float(ranked.words.max(initial=0.0)), self.lexicon.ceiling(query.terms), 0.0)
        return best >= KNOWN_SHARE or bool(ranked.cosines.max(initial=0.0) >= CLOSE_COSINE)

    def _symbol(self, number: int) -> Symbol:
        path = self.collection.files[self.collection.file[number]].path
        return self._sources.symbol_at(UnitPlace(path, int(self.collection.position[number])))

    def _reasons(self, query: Query, ranked: Ranked, places: Ints) -> dict[int, Strings]:
        """The reasons for which each unit is a hit: it is called so, has words of the question, or
        means something close.
        """
        units = ranked.units[places]
        words: dict[int, dict[Field, list[str]]] = {int(unit): {} for unit in units}
        for term, word in _words_of_terms(query).items():
            for unit, fields in self.lexicon.fields_of(term, units).items():
                listed = words[unit].setdefault(fields[0], [])
                if word not in listed:
                    listed.append(word)
        reasons = {}
        for at, unit in zip(places.tolist(), units.tolist(), strict=True):
            said = ["exact name"] if ranked.is_named[at] else []
            by_field = sorted(
                words[unit].items(), key=lambda item: list(_FIELD_WORDS).index(item[0])
            )
            said += [
                f"{_FIELD_WORDS[field]}: {' '.join(found[:MAX_REASON_WORDS])}"
                for field, found in by_field
            ]
            if float(ranked.cosines[at]) >= CLOSE_COSINE or not said:
                said.append(f"meaning {max(0.0, float(ranked.cosines[at])):.2f}")
            reasons[unit] = tuple(said)
        return reasons

    # Text

    def _find_text(self, query: Query, allowed: Flags | None, limit: int) -> RankedHits:
        """The innermost symbols around the lines that have the text, ordered by the other words of
        the question.
        """
        files = np.arange(len(self.collection.files))
        if allowed is not None:
            files = np.unique(self.collection.file[allowed])
        chosen = [self.collection.files[file] for file in files.tolist()]
        lines: dict[int, list[int]] = {}
        for matches in self._matches(query, chosen):
            for number, line in self._units_at(matches):
                if allowed is None or allowed[number]:
                    lines.setdefault(number, []).append(line)
        units = np.array(sorted(lines), np.int64)
        order = self._order_of_text(query, units, lines)
        return RankedHits(
            tuple(self._text_hit(query, number, lines[number]) for number in order[:limit]),
            len(units),
        )

    def _matches(self, query: Query, files: Sequence[Hashed]) -> Iterable[FileMatches]:
        source_of = self._sources.reader()
        if query.expression is not None:
            return find_expression(files, source_of, query.expression)
        return find_quoted(files, source_of, query.quoted)

    def _units_at(self, matches: FileMatches) -> Iterable[tuple[int, int]]:
        """(unit, line) for each line, its innermost unit."""
        symbols = self._sources.symbols_of(matches.path)
        numbers = self.collection.numbers_at(matches.path, range(len(symbols)))
        places = [(number, symbols[self.collection.position[number]]) for number in numbers]
        for line in matches.lines:
            around = [(symbol.end_line - symbol.start_line, -at, number) for at, (number, symbol) in enumerate(places)
                      if symbol.start_line <= line <= symbol.end_line]  # fmt: skip
            if around:
                yield min(around)[2], line
            elif places:
                yield places[0][0], line

    def _order_of_text(self, query: Query, units: Ints, lines: dict[int, list[int]]) -> list[int]:
        if query.words:
            only = np.zeros(len(self.collection), bool)
            only[units] = True
            ranked = self._rank(query, only)
            listed = ranked.units.tolist()
            return [*listed, *sorted(set(units.tolist()) - set(listed))]
        is_test = self._priors.is_test

        def place(number: int) -> tuple[bool, bool, int, int]:
            symbol = self._symbol(number)
            is_header = (
                any(line == symbol.name_line for line in lines[number])
                and symbol.kind is not Kind.MODULE
            )
            return bool(is_test[number]), not is_header, -len(lines[number]), number

        return sorted(units.tolist(), key=place)

    def _text_hit(self, query: Query, number: int, lines: list[int]) -> Hit:
        what = "matches" if query.expression is not None else "text"
        reason = (
            f"{what} on line {lines[0]}" if len(lines) == 1 else f"{what} on {len(lines)} lines"
        )
        return Hit(self._symbol(number), lines[0], 1.0, (reason,))


def _share(words: float, ceiling: float, cosine: float) -> float:
    """The share of a question that is found again: of its words by rarity, and in meaning,
    whichever tells more.
    """
    by_words = words / ceiling if ceiling else 0.0
    return min(LARGEST_SHARE, max(LEAST_SHARE, by_words, cosine))


def _words_of_terms(query: Query) -> dict[str, str]:
    """The word of the question that each term comes from."""
    terms = set(query.terms)
    found: dict[str, str] = {}
    for word in query.words:
        for term in map(stem, parts_of(word)):
            if term in terms:
                found.setdefault(term, word)
    return found


def _file_fits(path: str, language: str, filters: Filters) -> bool:
    if filters.languages and language not in filters.languages:
        return False
    return not filters.paths or any(
        path_fits(path, pattern.rstrip("/")) for pattern in filters.paths
    )


def path_fits(path: str, pattern: str) -> bool:
    """True if a file is what is named, lies in it, or is as a pattern says."""
    return (
        pattern in {"", "."}
        or path == pattern
        or path.startswith(f"{pattern}/")
        or fnmatchcase(path, pattern)
    )
