"""The evidence for a line by commits that wrote it: at all, and together with lines of the changed
symbols.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import log2

from tersely.code.index.history.history import Commit, checksum
from tersely.code.symbols import Kind
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol
from tersely.foundation.types import Sums, field, record

MAX_KEPT_FILES = 80  # whose checksums are kept for the next question
SAME_LINES = 2  # times that a line may be in a file to be recognised
HALF_LIFE_COMMITS = 40
FEW_COMMITS = 0.5  # added to what the commits count for, so that one or two of them say little
AROUND_LINES = 3  # of a change outside of all symbols that count as changed with it


@record
class CommitEvidence:
    """By line of a file how much speaks for it that commits wrote it."""

    # with lines of a changed symbol
    together: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    at_all: dict[int, float] = field(default_factory=dict)

    def add(self, lines: Collection[int], worth: float, together: float) -> None:
        """Count one commit."""
        for line in lines:
            self.at_all[line] = max(self.at_all.get(line, 0.0), worth)
            if together:
                self.together[line] += together


def written(
    changed: Sequence[ChangedSymbol], commits: Sequence[Commit], texts: Mapping[str, str]
) -> dict[str, CommitEvidence]:
    """By path what speaks for the lines that commits wrote, of the files whose texts are given."""
    touched = {path for commit in commits for path in commit.written}
    places = {path: _places(texts[path]) for path in sorted(touched & texts.keys())}
    own: dict[str, set[int]] = defaultdict(set)
    for one in changed:
        if not one.is_gone:
            own[one.symbol.path].update(_near(one))
    found: dict[str, CommitEvidence] = {path: CommitEvidence() for path in places}
    for age, commit in enumerate(commits):
        here = {
            path: {line for sum_ in sums for line in places[path].get(sum_, ())}
            for path, sums in commit.written.items()
            if path in places
        }
        is_together = any(own[path] & lines for path, lines in here.items())
        worth = 0.5 ** (age / HALF_LIFE_COMMITS)
        together = worth / log2(2 + sum(map(len, here.values())))
        for path, lines in here.items():
            found[path].add(lines, worth / log2(2 + len(lines)), together if is_together else 0.0)
    return found


def cochanged(commits: Sequence[Commit]) -> Sums:
    """By path the share of the commits to a changed file that also wrote this one, close to 1 if
    all of them did.

    Late commits, and those of few files, count for more.
    """
    found: Sums = defaultdict(float)
    total = FEW_COMMITS
    for age, commit in enumerate(commits):
        worth = 0.5 ** (age / HALF_LIFE_COMMITS) / log2(2 + len(commit.written))
        total += worth
        for path in commit.written:
            found[path] += worth
    return {path: worth / total for path, worth in found.items()}


def _near(one: ChangedSymbol) -> set[int]:
    """The lines of a changed symbol; of a whole file those around its changes."""
    if one.symbol.kind is not Kind.MODULE:
        return set(range(one.symbol.start_line, one.symbol.end_line + 1))
    around = range(-AROUND_LINES, AROUND_LINES + 1)
    return {line + step for line in (*one.lines, *one.gaps) for step in around}


@lru_cache(maxsize=MAX_KEPT_FILES)
def _places(text: str) -> Mapping[int, Sequence[int]]:
    """The places of each line of a file, by checksum; those of a line that is there many times are
    left out.
    """
    found: dict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(text.encode("utf-8", "replace").split(b"\n"), 1):
        found[checksum(line)].append(number)
    return {sum_: numbers for sum_, numbers in found.items() if sum_ and len(numbers) <= SAME_LINES}
