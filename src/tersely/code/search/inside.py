"""The definitions inside some files that hold the words of a question, found line by line as `grep
-i` finds them.

It reads the files and needs no search files. A *term* is a word, a quoted text or the whole of the
question; a plain word stands for all that begins with its stem. A definition holds the terms that
stand on its own lines, those of its members left out, and those of its qualified name. Definitions
are ordered by BM25.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import NamedTuple

from tersely.code.index.content import Hashed
from tersely.code.search.literal import MAX_LINES_PER_FILE, find_expression
from tersely.code.search.query import Query
from tersely.code.search.units import units_of
from tersely.code.search.words import STOP_WORDS, pieces_of, stem
from tersely.code.symbols import VALUE_KINDS, Kind, Symbol, SymbolsOf
from tersely.foundation.types import Numbers, field, frozen, record

MAX_TERMS = 100  # of a question; the rest of it is not looked for
SHORT_WORD_CHARACTERS = 2  # up to here a word has to stand alone: its letters stand anywhere
LEAST_STEM_CHARACTERS = 4  # of a stem that stands for its word

# Chosen by hand on the changes of the repositories that models are fitted on: which of the changed
# definitions of the changed files are among the first five and ten for the text of the change.
PART_WEIGHT = 0.5  # of a term that stands inside longer words only
NAME_WEIGHT = 0.5  # of a term in the definition's own name, beside its lines
NAMED_WEIGHT = 3.0  # of a term that is its own name
MODULE_WEIGHT = 0.3  # of what stands in no definition
VALUE_WEIGHT = 0.5  # of fields, constants and variables
SATURATION, LENGTH_SHARE = 1.2, 0.4  # BM25's k1 and b
LONG_LINES = 200  # a definition that is longer counts as one of so many lines

_EDGES = ".,:;!?()[]{}<>\"'`"  # around the words of prose
_IDENTIFIER = re.compile(r"\w+")


class Term(NamedTuple):
    """Something of a question that lines may hold, in lower case."""

    text: str
    part: re.Pattern[bytes]  # anywhere in a line
    alone: re.Pattern[bytes]  # not inside a longer word


@frozen
class Passage:
    """A definition that holds terms, with all lines that do."""

    symbol: Symbol
    # from 1; first those that hold something the ones before do not, most first
    lines: Numbers
    share: float  # of the terms that were found anywhere, by rarity, from 0 to 1


@frozen
class Inside:
    """The best passages, how many there are, and how many terms of the question were not looked
    for.
    """

    passages: tuple[Passage, ...]
    total: int
    terms_left_out: int = 0


@record
class _Held:
    """The terms of each line of a definition that has some, and the weight of each, at
    most 1.
    """

    symbol: Symbol
    lines: dict[int, set[str]] = field(default_factory=dict)
    strengths: dict[str, float] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """The number of its lines, as far as they count."""
        return min(LONG_LINES, self.symbol.end_line - self.symbol.start_line + 1)

    def add(self, line: int, term: str, strength: float) -> None:
        """Note a term on a line."""
        self.lines.setdefault(line, set()).add(term)
        self.strengths[term] = max(strength, self.strengths.get(term, 0.0))


def find_inside(
    query: Query,
    files: Sequence[Hashed],
    symbols_of: SymbolsOf,
    source_of: Callable[[Hashed], bytes],
    kinds: frozenset[Kind],
    limit: int,
) -> Inside:
    """At most `limit` passages of some kinds (none: all), the best first; `timed_out` for an
    endless expression.
    """
    every_term = terms_of(query)
    terms = every_term[:MAX_TERMS]
    held: list[_Held] = []
    for file in files:
        source = source_of(file)
        is_expression = query.expression is not None
        found = (
            _expression_lines(query, file, source) if is_expression else _term_lines(terms, source)
        )
        held += _by_definition(found, symbols_of(file.path), source)
    if kinds:
        held = [one for one in held if one.symbol.kind in kinds]
    weights = _weights(held)
    average = sum(one.length for one in held) / max(1, len(held))
    held.sort(key=lambda one: (-_worth(one, weights, average), -len(one.lines)))
    passages = [
        Passage(one.symbol, _ordered_lines(one, weights), _share(one, weights))
        for one in held[:limit]
    ]
    return Inside(tuple(passages), len(held), len(every_term) - len(terms))


def terms_of(query: Query) -> list[Term]:
    """The terms that lines are looked through for: words that say something, quoted texts, and the
    question as it stands.
    """
    prose = query.text.replace('"', " ").replace("`", " ")
    written = [word.strip(_EDGES) for word in prose.split()]
    identifiers = [part for word in written for part in _IDENTIFIER.findall(word)]
    telling = [word for word in identifiers if word.lower() not in STOP_WORDS] or identifiers
    not_telling = set(identifiers) - set(telling)
    whole = " ".join(query.text.split())
    texts = [
        text
        for text in [*telling, *written, *query.quoted, whole]
        if text and text not in not_telling
    ]
    terms = {text.lower(): _term(text) for text in texts}
    return list(terms.values())


def _term(text: str) -> Term:
    lowered = text.lower()
    literal = re.escape(lowered.encode())
    alone = re.compile(rb"(?<!\w)" + literal + rb"(?!\w)")
    if len(text) <= SHORT_WORD_CHARACTERS:
        return Term(lowered, alone, alone)
    stemmed = stem(lowered) if pieces_of(text) == (lowered,) else lowered
    if lowered.startswith(stemmed) and len(stemmed) >= LEAST_STEM_CHARACTERS:
        return Term(lowered, re.compile(re.escape(stemmed.encode())), alone)
    return Term(lowered, re.compile(literal), alone)


class _Found(NamedTuple):
    line: int  # from 1
    term: str
    strength: float


def _expression_lines(query: Query, file: Hashed, source: bytes) -> Iterator[_Found]:
    """The lines on which the expression of a question matches; it is the one term."""
    assert query.expression is not None
    for matches in find_expression([file], lambda _: source, query.expression):
        for line in matches.lines:
            yield _Found(line, query.text, 1.0)


def _term_lines(terms: Sequence[Term], source: bytes) -> Iterator[_Found]:
    """The lines on which the terms stand, at most `MAX_LINES_PER_FILE` for each."""
    lowered = source.lower()
    starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
    for term in terms:
        alone = {match.start() for match in term.alone.finditer(lowered)}
        lines: set[int] = set()
        for match in term.part.finditer(lowered):
            line = bisect_right(starts, match.start())
            lines.add(line)
            if len(lines) > MAX_LINES_PER_FILE:
                break
            yield _Found(line, term.text, 1.0 if match.start() in alone else PART_WEIGHT)


def _by_definition(
    found: Iterator[_Found], symbols: Sequence[Symbol], source: bytes
) -> list[_Held]:
    """The definitions of a file that hold something on their lines."""
    owner_at = _owners(symbols, source)
    held: dict[str, _Held] = {}
    for line, term, strength in found:
        owner = owner_at[line]
        held.setdefault(owner.id, _Held(owner)).add(line, term, strength)
    everything = {term for one in held.values() for term in one.strengths}
    for one in held.values():
        qualname = one.symbol.qualname.lower()
        for term in everything:
            if term in qualname:
                one.strengths.setdefault(term, PART_WEIGHT)
    return list(held.values())


def _owners(symbols: Sequence[Symbol], source: bytes) -> list[Symbol]:
    """The innermost definition around each line, by its number; the comment before a definition
    belongs to it.
    """
    lines = source.count(b"\n") + 1
    owner_at = [symbols[0]] * (lines + 1)
    units = [unit.symbol for unit in units_of(symbols) if unit.symbol.kind is not Kind.MODULE]
    for symbol in sorted(units, key=lambda one: one.start_line - one.end_line):
        start = symbol.start_line
        if symbol.doc_end_byte and symbol.doc_start_byte < symbol.start_byte:
            start = source.count(b"\n", 0, symbol.doc_start_byte) + 1
        end = min(symbol.end_line, lines)
        owner_at[start : end + 1] = [symbol] * (end + 1 - start)
    return owner_at


def _weights(held: Sequence[_Held]) -> dict[str, float]:
    """The weight of each term that was found: the fewer definitions hold it, the more."""
    numbers = Counter(term for one in held for term in one.strengths)
    return {term: log(1 + len(held) / number) for term, number in numbers.items()}


def _worth(one: _Held, weights: dict[str, float], average: float) -> float:
    """The score of a definition, by BM25 over lines and its kind."""
    lines_with = Counter(term for terms in one.lines.values() for term in terms)
    name = one.symbol.name.lower()
    damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * one.length / average)
    worth = 0.0
    for term, strength in one.strengths.items():
        lines = max(1, lines_with[term])
        counted = strength * lines * (SATURATION + 1) / (lines + damping)
        worth += weights[term] * (counted + _name_weight(term, name))
    if one.symbol.kind is Kind.MODULE:
        return worth * MODULE_WEIGHT
    return worth * VALUE_WEIGHT if one.symbol.kind in VALUE_KINDS else worth


def _name_weight(term: str, name: str) -> float:
    if term == name:
        return NAMED_WEIGHT
    return NAME_WEIGHT if term in name else 0.0


def _share(one: _Held, weights: dict[str, float]) -> float:
    return sum(weights[term] for term in one.strengths) / sum(weights.values())


def _ordered_lines(one: _Held, weights: dict[str, float]) -> Numbers:
    left = dict(sorted(one.lines.items()))
    seen: set[str] = set()
    ordered: list[int] = []

    def added(line: int) -> float:
        return sum(weights[term] for term in left[line] - seen)

    while left:
        best = max(left, key=added)
        if not added(best):
            break
        ordered.append(best)
        seen |= left.pop(best)
    return (*ordered, *left)
