"""The evidence of a task as a table: a row for each symbol that it may be about, a column for each
kind of evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tersely.code.search.searcher import Searcher
from tersely.code.search.words import pieces_of, stem
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol, SymbolsOf
from tersely.context.lenses.localization.evidence import Evidence, Numbers, Sign

MAX_OPENED_FILES = 12  # whose symbols are all rows
MAX_OPENED_SYMBOLS = 2_000  # of one file
MAX_MARKED_SYMBOLS = 200  # of other files, those with the most evidence of their own
LEAST_PROBABILITY = 1e-4  # of a file
TEST_MODULES = ("test.", "tests.")  # what stands in them tests the rest of the file
_TINY = 1e-9


class EvidenceTable(NamedTuple):
    """Symbols and their evidence, row by row in the order of `Sign`, and the number of each among
    what is searched, -1 for none.
    """

    symbols: tuple[Symbol, ...]
    rows: Numbers
    units: tuple[int, ...]


def table_of(
    found: Evidence,
    paths: Sequence[str],
    probabilities: Mapping[str, float],
    searcher: Searcher,
    symbols_of: SymbolsOf,
    title_terms: Mapping[str, float],
) -> EvidenceTable:
    """All symbols of the likeliest files, and those of other files that something points at.

    `paths` are files, the likeliest first; each has a probability that it is changed.
    """
    opened = list(paths[:MAX_OPENED_FILES])
    most_marked = sorted(found.marks, key=lambda name: (-float(found.marks[name].sum()), name))
    marked = {name.partition(":")[0] for name in most_marked[:MAX_MARKED_SYMBOLS]}
    elsewhere = marked & probabilities.keys() - set(opened)
    likeliest = sorted(elsewhere, key=lambda path: (-probabilities[path], path))
    words = np.column_stack(found.units)
    words = np.vstack([words, np.zeros((1, 2))])  # the last for what is not searched
    rows: list[tuple[Symbol, int, Numbers]] = []
    for rank, path in enumerate([*opened, *likeliest]):
        own = symbols_of(path)[:MAX_OPENED_SYMBOLS]
        units = _units(searcher, path, own)
        most = words[list(units.values())].max(axis=0, initial=0.0)
        of_file = _FileEvidence(probabilities[path], rank, most)
        kinds = {one.id: one.kind for one in own}
        holders = {one.parent for one in own if one.kind in CALLABLE_KINDS}
        for one in own:
            is_row = rank < len(opened) or one.id in found.marks
            if is_row and is_subject(one, kinds):
                number = units.get(one.id, -1)
                row = _row(one, found.marks, of_file, words[number], title_terms)
                # its parts tell what is changed of a class, but for one that is named itself
                row[Sign.IS_CLASS] = (
                    one.id in holders and one.kind in CLASS_KINDS and not row[Sign.TITLE_NAME]
                )
                rows.append((one, number, row))
    symbols, numbers, evidence = zip(*rows, strict=True) if rows else ((), (), ())
    return EvidenceTable(symbols, np.array(evidence).reshape(-1, len(Sign)), numbers)


class _FileEvidence(NamedTuple):
    """The evidence for a file: how likely it is changed, and its place among the likeliest."""

    probability: float
    rank: int
    most: Numbers  # that a symbol of the file has of either: of the title, and of the text


def _row(
    symbol: Symbol,
    marks: Mapping[str, Numbers],
    file: _FileEvidence,
    unit: Numbers,
    title_terms: Mapping[str, float],
) -> Numbers:
    """The evidence of one symbol, a number for each `Sign`."""
    row = marks[symbol.id].copy() if symbol.id in marks else np.zeros(len(Sign))
    row[[Sign.TITLE_UNIT, Sign.TEXT_UNIT]] = unit
    row[[Sign.TITLE_HERE, Sign.TEXT_HERE]] = unit / (file.most + _TINY)
    row[Sign.NAME_WORDS] = _share_of_name(symbol, title_terms)
    row[Sign.FILE] = _logit(file.probability) / 10
    row[Sign.FILE_RANK] = 1 / (1 + file.rank)
    row[Sign.SIZE] = math.log(1 + symbol.end_line - symbol.start_line) / 5
    row[Sign.IS_VALUE] = symbol.kind in VALUE_KINDS
    if symbol.parent in marks:
        row[Sign.OWNER] = max(marks[symbol.parent][[Sign.TITLE_NAME, Sign.NAME]])
    return row


def is_subject(symbol: Symbol, kinds: Mapping[str, Kind]) -> bool:
    """True if a symbol may be what a task is about: a function, a class, or a value outside of
    functions, and none of the tests that stand in the file of what they test.
    """
    if symbol.qualname.startswith(TEST_MODULES):
        return False
    if symbol.kind in CALLABLE_KINDS:
        return symbol.kind is not Kind.LAMBDA
    if symbol.kind in VALUE_KINDS:
        return kinds.get(symbol.parent) not in CALLABLE_KINDS
    return symbol.kind in CLASS_KINDS


def _units(searcher: Searcher, path: str, symbols: Sequence[Symbol]) -> dict[str, int]:
    """By symbol id, its number among what is searched."""
    collection = searcher.collection
    numbers = collection.numbers_at(path, range(len(symbols)))
    return {symbols[collection.position[number]].id: number for number in numbers}


def _share_of_name(symbol: Symbol, terms: Mapping[str, float]) -> float:
    """The share of the title that is in the name of a symbol."""
    own = {stem(piece) for piece in pieces_of(symbol.name)}
    return sum(terms[piece] for piece in own if piece in terms) / (sum(terms.values()) + _TINY)


def _logit(probability: float) -> float:
    within = min(max(probability, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
    return math.log(within / (1 - within))
