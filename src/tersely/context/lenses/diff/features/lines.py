"""Evidence in the words of lines: names that a change takes away, brings or stands beside, and
likeness to its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tersely.code.search.words import pieces_of, stem
from tersely.context.lenses.diff.features.words import NAME, Names

MAX_KEPT_FILES = 80  # whose names are kept for the next question
LONG_LINE_CHARACTERS = 400  # a longer line is data
MAX_LINES = 40  # of a sort, with which other lines are compared
LEAST_NAME_RARITY = 1.6  # of a name that is looked for at all
LEAST_RARITY = 2.0  # of the names of such a line, summed
WHOLE_RARITY = 8.0  # of a line that is sure to mean the same where it is found again
SURPLUS_NAME = 0.03  # by which a name that only the longer line has makes two lines less alike
MOST_NAMES = 16  # of a line, that count as surplus
STEM_CHARACTERS = 3  # that a stem has in common with every word that it stands for

WORD_FIELDS = (
    "alike_removed", "alike_added", "alike_around", "gone", "brought", "kept", "around", "gone_words", "brought_words",
    "calls",
)  # fmt: skip

Figures = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Said(NamedTuple):
    """The words of a change: its names, how rare each is, and its lines; `callable` are names of
    changed symbols.
    """

    names: Names
    rarity: Mapping[str, float]
    removed: Sequence[str]
    added: Sequence[str]
    around: Sequence[str]
    callable: Mapping[str, float]  # with how rare each is


class Words(NamedTuple):
    """The names in the lines of a file, by position; those of very long lines do not count."""

    lines_having: Mapping[str, Sequence[int]]  # by name, once for each time that a line has it
    sizes: Numbers  # how many names each line has


@lru_cache(maxsize=MAX_KEPT_FILES)
def words_of(text: str) -> Words:
    """The names in the lines of a text."""
    having: dict[str, list[int]] = defaultdict(list)
    sizes: list[int] = []
    for number, line in enumerate(text.split("\n")):
        names = NAME.findall(line) if len(line) <= LONG_LINE_CHARACTERS else []
        sizes.append(len(names))
        for name in names:
            having[name].append(number)
    return Words(dict(having), np.array(sizes, np.int64))


class _Rows:
    """Lines as their names, each with its rarity; found by name."""

    def __init__(self, lines: Iterable[str], rarity: Mapping[str, float]) -> None:
        self.rows: list[dict[str, float]] = []
        self.totals: list[float] = []
        self.having: dict[str, list[int]] = defaultdict(list)
        known: set[frozenset[str]] = set()
        for line in lines:
            named = NAME.findall(line) if len(line) <= LONG_LINE_CHARACTERS else []
            row = {name: rarity[name] for name in named if rarity.get(name)}
            if (
                sum(row.values()) > LEAST_RARITY
                and frozenset(row) not in known
                and len(self.rows) < MAX_LINES
            ):
                known.add(frozenset(row))
                for name in row:
                    self.having[name].append(len(self.rows))
                self.rows.append(row)
                self.totals.append(sum(row.values()))

    def likeness(self, names: Sequence[str], words: Words) -> Figures:
        """The likeness of each line to these, the best of all, from 0 to 1; rare names count most.

        `names` are those to compare by, in an order that makes sums the same each time.
        """
        common = np.zeros((len(words.sizes), len(self.rows)))
        for name in names:
            for at in self.having.get(name, ()):
                common[words.lines_having[name], at] += self.rows[at][name]
        totals = np.array(self.totals)
        lengths = np.array([len(row) for row in self.rows])
        surplus = np.maximum(0, np.minimum(MOST_NAMES, words.sizes)[:, None] - lengths)
        alike = (
            common
            / (totals + 1)
            * np.minimum(1.0, totals / WHOLE_RARITY)
            / (1 + SURPLUS_NAME * surplus)
        )
        best: Figures = alike.max(axis=1, initial=0.0)
        return best


@dataclass(slots=True)
class Wording:
    """Reads lines for what a change says. Each name is judged once."""

    said: Said
    gone: set[str] = field(init=False)
    brought: set[str] = field(init=False)
    _rows: tuple[_Rows, _Rows, _Rows] = field(init=False)
    _may_say: re.Pattern[str] = field(init=False)
    # of each name that says something the words of the change
    _stems: dict[str, set[str]] = field(default_factory=dict)
    _judged: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        said = self.said
        self.gone, self.brought = stems_of(said.names.gone), stems_of(said.names.brought)
        self._rows = (
            _Rows(said.removed, said.rarity),
            _Rows(said.added, said.rarity),
            _Rows(said.around, said.rarity),
        )
        # To look for the beginning of a stem is far quicker than to make the stems.
        words = (re.escape(word[:STEM_CHARACTERS]) for word in self.gone | self.brought)
        self._may_say = re.compile("|".join(sorted(words)) or r"(?!)")

    def figures(self, text: str) -> tuple[Figures, list[str]]:
        """A row of `WORD_FIELDS` for each line of a file, and the names in it that say something."""
        words = words_of(text)
        self._judge(words.lines_having.keys() - self._judged)
        names = sorted(words.lines_having.keys() & self._stems.keys())
        rarity, of = self.said.rarity, self.said.names
        columns = [
            *(rows.likeness(names, words) for rows in self._rows),
            *(_most(words, {name: rarity.get(name, 0.0) for name in names if name in some})
              for some in (of.gone, of.brought, of.kept)),
            _sum(words, {name: rarity.get(name, 0.0) for name in names if name in of.around}),
            *(self._words_said(names, words, some) for some in (self.gone, self.brought)),
            _most(words, {name: self.said.callable[name] for name in names if name in self.said.callable}),
        ]  # fmt: skip
        return np.column_stack(columns), names

    def _words_said(self, names: Sequence[str], words: Words, some: set[str]) -> Figures:
        """The share of some stems that each line has, in any of its names."""
        having: dict[str, set[int]] = defaultdict(set)
        for name in names:
            for one in self._stems[name] & some:
                having[one].update(words.lines_having[name])
        found = np.zeros(len(words.sizes))
        for lines in having.values():
            found[sorted(lines)] += 1
        return found / (1 + len(some))

    def _judge(self, unknown: set[str]) -> None:
        self._judged |= unknown
        words = self.gone | self.brought
        for name in unknown:
            stems = (
                words.intersection(map(stem, pieces_of(name)))
                if self._may_say.search(name.lower())
                else set[str]()
            )
            is_rare = self.said.rarity.get(name, 0.0) >= LEAST_NAME_RARITY
            if stems or is_rare or name in self.said.callable:
                self._stems[name] = stems


def _most(words: Words, worths: Mapping[str, float]) -> Figures:
    """By line the most that one of its names is worth."""
    found = np.zeros(len(words.sizes))
    for name, worth in worths.items():
        lines = words.lines_having[name]
        found[lines] = np.maximum(found[lines], worth)
    return found


def _sum(words: Words, worths: Mapping[str, float]) -> Figures:
    """By line what its names are worth together."""
    found = np.zeros(len(words.sizes))
    for name, worth in worths.items():
        found[words.lines_having[name]] += worth
    return found


def stems_of(names: Iterable[str]) -> set[str]:
    """The words of some names."""
    return {stem(piece) for name in names for piece in pieces_of(name)}
