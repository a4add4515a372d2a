"""What speaks for a symbol being needed for a task, as figures: one row a symbol, one column a kind of evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.lenses.candidate import Candidate
from tersely.code.lenses.task.clues import Clues, Place, file_meant
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol

HITS = 100  # of search that are looked at
QUOTED_HITS = 10
SEEDS = 8  # whose neighbours are looked at
OPENED_FILES = 3  # whose other symbols are looked at
MAX_OPENED_SYMBOLS = 150  # of one file
MAX_NAMESAKES = 12  # that a name may mean before it says nothing
BEYOND_HITS = 300  # the rank of what search does not find
LEAST_MASS = 0.01

FIELDS = (
    "hit", "title_hit", "share", "named", "placed", "file_named", "quoted", "same_file", "near", "size",
    "test", "type", "value",
)  # fmt: skip
# What a figure is where there is no such evidence, if it is not 0.
ABSENT = {name: -log(BEYOND_HITS + 1) for name in ("hit", "title_hit")} | {
    name: log(LEAST_MASS) for name in ("same_file", "near")
}
Figures = NDArray[np.float64]
SEARCHED_KINDS = CALLABLE_KINDS | CLASS_KINDS


class Hit(NamedTuple):
    """A symbol that search found, and how much of the question is found again in it."""

    symbol: Symbol
    share: float


@dataclass(frozen=True, slots=True)
class Sources:
    """What the lens asks of the index, of search and of the graph."""

    find: Callable[[str, int], Sequence[Hit]]  # the best hits of a question, at most so many
    named: Callable[[str], Sequence[Symbol]]
    symbols_of: Callable[[str], Sequence[Symbol]]
    paths: Sequence[str]
    around: Callable[[Symbol], Sequence[Candidate]]  # what is one step away from a symbol


@dataclass(slots=True)
class Evidence:
    """What was found, by the id of the symbol."""

    symbols: dict[str, Symbol] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)  # rank from 0
    title_hits: dict[str, int] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    named: dict[str, float] = field(default_factory=dict)  # 1 for a name that nothing else has
    names: dict[str, str] = field(default_factory=dict)
    placed: dict[str, Place] = field(default_factory=dict)
    files: dict[str, Place] = field(default_factory=dict)  # by path, those that the task names
    quoted: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    relations: dict[str, Candidate] = field(default_factory=dict)  # the best reason for being near

    def add(self, symbol: Symbol) -> str:
        """Remember a symbol."""
        self.symbols.setdefault(symbol.id, symbol)
        return symbol.id

    def figures(self) -> Figures:
        """One row a symbol, in the order of `symbols`."""
        mass: dict[str, float] = defaultdict(float)
        for symbol_id, rank in self.hits.items():
            mass[self.symbols[symbol_id].path] += 1 / (rank + 1)
        rows = [self._row(symbol, mass) for symbol in self.symbols.values()]
        return np.array(rows, np.float64).reshape(-1, len(FIELDS))

    def _row(self, symbol: Symbol, mass: dict[str, float]) -> tuple[float, ...]:
        key = symbol.id
        rank, title_rank = self.hits.get(key, BEYOND_HITS), self.title_hits.get(key, BEYOND_HITS)
        others = mass.get(symbol.path, 0.0) - (1 / (rank + 1) if key in self.hits else 0.0)
        return (
            -log(rank + 1),
            -log(title_rank + 1),
            self.shares.get(key, 0.0),
            self.named.get(key, 0.0),
            float(key in self.placed),
            float(symbol.path in self.files),
            self.quoted.get(key, 0.0),
            log(LEAST_MASS + others),
            log(LEAST_MASS + self.near.get(key, 0.0)),
            log(symbol.end_line - symbol.start_line + 1),
            float(is_test(symbol.path)),
            float(symbol.kind in CLASS_KINDS),
            float(symbol.kind not in SEARCHED_KINDS),
        )


def gather(clues: Clues, sources: Sources) -> Evidence:
    """Ask search, the index and the graph."""
    evidence = Evidence()
    _take_hits(clues, sources, evidence)
    _take_names(clues, sources, evidence)
    _take_places(clues, sources, evidence)
    _take_quoted(clues, sources, evidence)
    _open_files(sources, evidence)
    _look_around(sources, evidence)
    return evidence


def _take_hits(clues: Clues, sources: Sources, evidence: Evidence) -> None:
    for rank, hit in enumerate(sources.find(clues.prose, HITS)):
        key = evidence.add(hit.symbol)
        evidence.hits[key], evidence.shares[key] = rank, hit.share
    found = sources.find(clues.title, HITS) if clues.title != clues.prose else ()
    for rank, hit in enumerate(found):
        key = evidence.add(hit.symbol)
        evidence.title_hits[key] = rank
        evidence.shares[key] = max(hit.share, evidence.shares.get(key, 0.0))
    if clues.title == clues.prose:
        evidence.title_hits.update(evidence.hits)


def _take_names(clues: Clues, sources: Sources, evidence: Evidence) -> None:
    for name in clues.names:
        found = [symbol for symbol in sources.named(name) if symbol.kind not in {Kind.MODULE, Kind.LAMBDA}]
        tried = [symbol for symbol in found if not is_test(symbol.path)] or found
        for symbol in tried if len(tried) <= MAX_NAMESAKES else ():
            key, worth = evidence.add(symbol), 1 / len(tried)
            if worth > evidence.named.get(key, 0.0):
                evidence.named[key], evidence.names[key] = worth, name


def _take_places(clues: Clues, sources: Sources, evidence: Evidence) -> None:
    for place in clues.places:
        path = file_meant(place.path, sources.paths)
        if not path:
            continue
        evidence.files.setdefault(path, place)
        around = [one for one in sources.symbols_of(path) if one.start_line <= place.line <= one.end_line]
        inner = [one for one in around if one.kind not in {Kind.MODULE, Kind.LAMBDA}]
        if inner:
            evidence.placed.setdefault(evidence.add(inner[-1]), place)


def _take_quoted(clues: Clues, sources: Sources, evidence: Evidence) -> None:
    for text in clues.quoted:
        found = sources.find(f'"{text}"', QUOTED_HITS)
        for hit in found:
            key = evidence.add(hit.symbol)
            evidence.quoted[key] = max(1 / len(found), evidence.quoted.get(key, 0.0))
            evidence.texts.setdefault(key, text)


def _open_files(sources: Sources, evidence: Evidence) -> None:
    """The other symbols of files that the task names, or that have the most of what search found."""
    mass: dict[str, float] = defaultdict(float)
    for key, rank in evidence.hits.items():
        mass[evidence.symbols[key].path] += 1 / (rank + 1)
    best = sorted(mass, key=lambda path: (-mass[path], path))[:OPENED_FILES]
    for path in dict.fromkeys([*evidence.files, *best]):
        for symbol in _outside_of_functions(sources.symbols_of(path))[:MAX_OPENED_SYMBOLS]:
            evidence.add(symbol)


def _outside_of_functions(symbols: Sequence[Symbol]) -> list[Symbol]:
    functions = {symbol.id for symbol in symbols if symbol.kind in CALLABLE_KINDS}
    return [one for one in symbols if one.parent not in functions and one.kind in SEARCHED_KINDS]


def _look_around(sources: Sources, evidence: Evidence) -> None:
    strengths = {key: 1 / (rank + 1) for key, rank in evidence.hits.items()}
    for clue in (evidence.named, evidence.quoted, dict.fromkeys(evidence.placed, 1.0)):
        for key, worth in clue.items():
            strengths[key] = max(strengths.get(key, 0.0), worth)
    for seed in _seeds(evidence, strengths):
        for candidate in sources.around(seed):
            if candidate.is_target or candidate.symbol.kind is Kind.MODULE:
                continue
            key = evidence.add(candidate.symbol)
            strength = strengths[seed.id] * candidate.score
            if strength > evidence.near.get(key, 0.0):
                evidence.relations[key] = candidate
            evidence.near[key] = max(strength, evidence.near.get(key, 0.0))


def _seeds(evidence: Evidence, strengths: dict[str, float]) -> Iterable[Symbol]:
    order = sorted(strengths, key=lambda key: (-strengths[key], key))
    return [evidence.symbols[key] for key in order[:SEEDS]]
