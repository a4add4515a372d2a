"""The names in changed lines: which of them a change takes away, which it brings, and which stand
around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tersely.code.index.history.patch import FileDiff
from tersely.code.search.words import STOP_WORDS, parts_of, pieces_of, stem, whole_of

NAME = re.compile(r"[^\W\d]\w*")
AROUND_LINES = 3  # before and after a hunk, whose names count as its surroundings
MAX_CHANGED_NAMES = 300  # of each sort, the most frequent


class Names(NamedTuple):
    """The names of a change, each sort without those of the one before."""

    gone: frozenset[str]  # in more lines that were taken out than in such that were put in
    brought: frozenset[str]  # the other way round
    kept: frozenset[str]  # in as many
    around: frozenset[str]  # in the lines next to the changed ones


def names_of(diffs: Iterable[FileDiff], lines_of: Callable[[str], Sequence[str]]) -> Names:
    """The names of a change; `lines_of` gives the lines of a file as they are now."""
    old: Counter[str] = Counter()
    new: Counter[str] = Counter()
    around: Counter[str] = Counter()
    for diff in diffs:
        for text in near_lines(diff, lines_of):
            around.update(NAME.findall(text))
        for hunk in diff.hunks:
            old.update(_names(hunk.removed))
            new.update(_names(hunk.added))
    gone = _most({name: times for name, times in old.items() if times > new[name]})
    brought = _most({name: times for name, times in new.items() if times > old[name]})
    kept = _most({name: times for name, times in old.items() if times == new[name]})
    return Names(gone, brought, kept, _most(around) - gone - brought - kept)


def near_lines(diff: FileDiff, lines_of: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """The lines next to those that changed in a file."""
    lines = lines_of(diff.path) if diff.path else ()
    for hunk in diff.hunks:
        before = hunk.new_first - 1
        after = before + len(hunk.added)
        yield from lines[max(0, before - AROUND_LINES) : before]
        yield from lines[after : after + AROUND_LINES]


def terms_of(names: Iterable[str]) -> Iterator[str]:
    """The terms that the names look up in an index of words."""
    for name in sorted(names):
        if name.lower() not in STOP_WORDS:
            yield from map(stem, parts_of(name))


def term_of(name: str) -> str:
    """The one term that stands for a name as a whole."""
    pieces = pieces_of(name)
    return whole_of(name) or (stem(pieces[0]) if pieces else "")


def _names(lines: Iterable[bytes]) -> list[str]:
    return [name for line in lines for name in NAME.findall(line.decode("utf-8", "replace"))]


def _most(counts: dict[str, int] | Counter[str]) -> frozenset[str]:
    return frozenset(sorted(counts, key=lambda name: (-counts[name], name))[:MAX_CHANGED_NAMES])
