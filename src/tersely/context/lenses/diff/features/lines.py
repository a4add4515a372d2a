"""Evidence in the words of lines: names that a change takes away, brings or stands beside, and
likeness to its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tersely.code.search.words import pieces_of, stem
from tersely.context.lenses.diff.features.words import NAME, Names
from tersely.foundation.arrays import Figures, Ints, np
from tersely.foundation.types import Sums, Weights

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

_NAME_OR_END = re.compile(rf"{NAME.pattern}|\n")


class Said(NamedTuple):
    """The words of a change: its names, how rare each is, and its lines; `callable` are names of
    changed symbols.
    """

    names: Names
    rarity: Weights
    removed: Sequence[str]
    added: Sequence[str]
    around: Sequence[str]
    callable: Weights  # with how rare each is


class Words(NamedTuple):
    """The names in the lines of a file, in order; those of very long lines do not count."""

    names: Sequence[str]
    sizes: Ints  # how many names each line has


@lru_cache(maxsize=MAX_KEPT_FILES)
def words_of(text: str) -> Words:
    """The names in the lines of a text."""
    short = (line if len(line) <= LONG_LINE_CHARACTERS else "" for line in text.split("\n"))
    found = _NAME_OR_END.findall("\n".join(short))
    ends = [-1, *(at for at, name in enumerate(found) if name == "\n"), len(found)]
    return Words([name for name in found if name != "\n"], np.diff(np.array(ends)) - 1)


class Lines:
    """The lines of some files, one after the other, and the names in them that say something of a change, each once
    a line.
    """

    def __init__(self, said: Said, texts: Iterable[str]) -> None:
        read = [words_of(text) for text in texts]
        self._said = said
        self._sizes = np.concatenate([one.sizes for one in read])
        self._stems = _stems(said, set[str]().union(*(one.names for one in read)))
        self._names = sorted(self._stems)  # an order that makes sums the same each time
        number = {name: at for at, name in enumerate(self._names)}
        names = np.array([number.get(name, -1) for one in read for name in one.names], np.int64)
        cells = np.repeat(np.arange(len(self)), self._sizes) * len(number) + names
        self._line, self._name = _parts_of_each(cells[names >= 0], len(number))

    def __len__(self) -> int:
        return len(self._sizes)

    def figures(self) -> Figures:
        """A row of `WORD_FIELDS` for each line."""
        said, names = self._said, self._said.names
        rarity = self._worths(said.rarity, said.rarity)
        around = self._worths(said.rarity, names.around)[self._name]
        columns = [
            *(self._likeness(_Rows(rows, said.rarity), rarity) for rows in (said.removed, said.added, said.around)),
            *(self._most(said.rarity, some) for some in (names.gone, names.brought, names.kept)),
            np.bincount(self._line, around, len(self)),
            *(self._words_said(stems_of(some)) for some in (names.gone, names.brought)),
            self._most(said.callable, said.callable),
        ]  # fmt: skip
        return np.column_stack(columns)

    def shares(self, group: Ints, groups: int, some: Collection[str]) -> Figures:
        """What the names of each group of lines, each once, are worth together, if they are of some; `group` has that
        of each line, or -1.
        """
        of_name = group[self._line]
        cells = of_name * len(self._names) + self._name
        owner, name = _parts_of_each(cells[of_name >= 0], len(self._names))
        return np.asarray(
            np.bincount(owner, self._worths(self._said.rarity, some)[name], groups), np.float64
        )

    def _worths(self, worth: Weights, some: Collection[str]) -> Figures:
        """By name what it is worth, if it is one of some."""
        return np.array([worth.get(name, 0.0) if name in some else 0.0 for name in self._names])

    def _most(self, worth: Weights, some: Collection[str]) -> Figures:
        """By line the most that one of its names is worth."""
        found = np.zeros(len(self))
        np.maximum.at(found, self._line, self._worths(worth, some)[self._name])
        return found

    def _likeness(self, rows: _Rows, rarity: Figures) -> Figures:
        """The likeness of each line to some rows, the best of all, from 0 to 1; rare names count most."""
        best = np.zeros(len(self))
        at, row = self._standing_for([rows.having.get(name, ()) for name in self._names])
        lines = np.flatnonzero(np.bincount(self._line[at]))
        place = np.searchsorted(lines, self._line[at])
        size = len(rows.rows)
        common = np.bincount(place * size + row, rarity[self._name[at]], len(lines) * size).reshape(
            len(lines), size
        )
        totals = np.array(rows.totals)
        lengths = np.array([len(one) for one in rows.rows])
        surplus = np.maximum(0, np.minimum(MOST_NAMES, self._sizes[lines])[:, None] - lengths)
        alike = (
            common
            / (totals + 1)
            * np.minimum(1.0, totals / WHOLE_RARITY)
            / (1 + SURPLUS_NAME * surplus)
        )
        best[lines] = alike.max(axis=1, initial=0.0)
        return best

    def _words_said(self, some: Collection[str]) -> Figures:
        """The share of some stems that each line has, in any of its names."""
        number = {stem_: at for at, stem_ in enumerate(some)}
        at, word = self._standing_for(
            [[number[one] for one in self._stems[name] if one in number] for name in self._names]
        )
        line, _ = _parts_of_each(self._line[at] * len(number) + word, len(number))
        return np.bincount(line, minlength=len(self)) / (1 + len(number))

    def _standing_for(self, numbers: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
        """For each number that a name of a line stands for the place of the name among all, and the number."""
        found = [
            (place, one) for place, name in enumerate(self._name.tolist()) for one in numbers[name]
        ]
        at, number = np.array(found, np.int64).reshape(-1, 2).T
        return at, number


def _parts_of_each(cells: Ints, size: int) -> tuple[Ints, Ints]:
    """The rows and columns of cells of a table with rows of a size, each once, in order."""
    ordered = np.sort(cells)  # `np.unique` would load what masked arrays need
    rows, columns = np.divmod(ordered[np.diff(ordered, prepend=-1) > 0], size)
    return rows, columns


class _Rows:
    """Lines as their names, each with its rarity; found by name."""

    def __init__(self, lines: Iterable[str], rarity: Weights) -> None:
        self.rows: list[Sums] = []
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


def _stems(said: Said, names: Iterable[str]) -> dict[str, set[str]]:
    """The names that say something of a change, each with those of its words that are of the change too."""
    words = stems_of(said.names.gone | said.names.brought)
    # To look for the beginning of a stem is far quicker than to make the stems.
    beginnings = (re.escape(word[:STEM_CHARACTERS]) for word in words)
    may_say = re.compile("|".join(sorted(beginnings)) or r"(?!)")
    found: dict[str, set[str]] = {}
    for name in names:
        pieces = pieces_of(name) if may_say.search(name.lower()) else ()
        stems = words.intersection(map(stem, pieces))
        is_rare = said.rarity.get(name, 0.0) >= LEAST_NAME_RARITY
        if stems or is_rare or name in said.callable:
            found[name] = stems
    return found


def stems_of(names: Iterable[str]) -> set[str]:
    """The words of some names."""
    return {stem(piece) for name in names for piece in pieces_of(name)}
