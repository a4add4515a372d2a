"""The evidence of a task as a table: a row for each symbol that it may be about, a column for each
kind of evidence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from tersely.code.search.lexical import Lexicon
from tersely.code.search.searcher import Searcher
from tersely.code.search.words import stems_of, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, VALUE_KINDS, Kind, Symbol, SymbolsOf
from tersely.context.lenses.localization.evidence import Evidence, Sign
from tersely.foundation.arrays import Figures, np
from tersely.foundation.types import Numbers, Weights

MAX_OPENED_FILES = 12  # whose symbols are all rows
MAX_OPENED_SYMBOLS = 2_000  # of one file
MAX_MARKED_SYMBOLS = 200  # of other files, those with the most evidence of their own
TEST_MODULES = ("test.", "tests.")  # what stands in them tests the rest of the file
_TINY = 1e-9


class EvidenceTable(NamedTuple):
    """Symbols and their evidence, row by row in the order of `Sign`, and the number of each among
    what is searched, -1 for none.
    """

    symbols: tuple[Symbol, ...]
    rows: Figures
    units: Numbers


def table_of(
    found: Evidence,
    paths: Sequence[str],
    probabilities: Weights,
    searcher: Searcher,
    symbols_of: SymbolsOf,
    terms: AbstractSet[str],
) -> EvidenceTable:
    """All symbols of the likeliest files, and those of other files that something points at.

    `paths` are files, the likeliest first; each has a probability that it is changed. `terms` are
    those of the task that the repository has.
    """
    opened = list(paths[:MAX_OPENED_FILES])
    most_marked = sorted(found.marks, key=lambda name: (-float(found.marks[name].sum()), name))
    marked = {name.partition(":")[0] for name in most_marked[:MAX_MARKED_SYMBOLS]}
    elsewhere = marked & probabilities.keys() - set(opened)
    likeliest = sorted(elsewhere, key=lambda path: (-probabilities[path], path))
    words = np.column_stack(found.units)
    words = np.vstack([words, np.zeros((1, 2))])  # the last for what is not searched
    rows: list[tuple[Symbol, int, Figures]] = []
    share = _shares_of(searcher.lexicon, terms)
    for rank, path in enumerate([*opened, *likeliest]):
        own = symbols_of(path)[:MAX_OPENED_SYMBOLS]
        units = _units(searcher, path, own)
        kinds = {one.id: one.kind for one in own}
        for one in own:
            is_row = rank < len(opened) or one.id in found.marks
            if is_row and is_subject(one, kinds):
                number = units.get(one.id, -1)
                row = _row(one, found.marks, probabilities[path], words[number])
                row[Sign.NAME_SHARE] = share(one.name)
                row[Sign.OWNER_SHARE] = share(one.qualname.removesuffix(one.name))
                rows.append((one, number, row))
    symbols, numbers, evidence = zip(*rows, strict=True) if rows else ((), (), ())
    table = np.array(evidence).reshape(-1, len(Sign))
    _mark_near(symbols, table)
    return EvidenceTable(symbols, table, numbers)


def _mark_near(symbols: Sequence[Symbol], rows: Figures) -> None:
    """Note how much of the task stands before and behind each symbol: a change seldom comes alone."""
    words = rows[:, [Sign.TITLE_UNIT, Sign.TEXT_UNIT]].mean(axis=1)
    families = defaultdict(list)
    for row, symbol in enumerate(symbols):
        families[symbol.parent].append(row)
    for family in families.values():
        around = np.pad(words[family], 1)
        rows[family, Sign.NEAR] = np.maximum(around[:-2], around[2:])


def _row(
    symbol: Symbol, marks: Mapping[str, Figures], probability: float, unit: Figures
) -> Figures:
    """The evidence of one symbol by itself, a number for each `Sign`; the probability is that of its
    file.
    """
    row = marks[symbol.id].copy() if symbol.id in marks else np.zeros(len(Sign))
    row[[Sign.TITLE_UNIT, Sign.TEXT_UNIT]] = unit
    row[Sign.FILE] = math.log(max(probability, _TINY) / max(1 - probability, _TINY))
    row[Sign.SIZE] = math.log(1 + symbol.end_line - symbol.start_line)
    row[Sign.IS_VALUE] = symbol.kind in VALUE_KINDS
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


def _shares_of(lexicon: Lexicon, terms: AbstractSet[str]) -> Callable[[str], float]:
    """The share of a name that a task has, its rarer words more, from 0 to 1."""

    def share(name: str) -> float:
        pieces = set(stems_of(words_of_text(name)))
        said = sum(map(lexicon.rarity_of, pieces & terms))
        return said / (sum(map(lexicon.rarity_of, pieces)) + _TINY)

    return cache(share)
