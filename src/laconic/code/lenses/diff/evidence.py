"""What speaks for each piece of code that a change may need: one row of figures a piece.

Evidence about symbols: the words of the change (BM25F over all symbols), calls, the file's and the name's nearness, and
files that changed in the same commits. Evidence about lines: names that the change takes away, brings or stands beside,
and lines that were written by the commits which wrote the changed ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log, log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.code.graph.callgraph import EXTERNAL_PREFIX
from laconic.code.index.history import Commit, checksum
from laconic.code.lenses.diff.placed import ChangedSymbol, FileChange
from laconic.code.lenses.diff.regions import Region, regions_of
from laconic.code.lenses.diff.words import NAME, Names, names_of, term_of, terms_of
from laconic.code.places import directory, is_test
from laconic.code.search.lexical import Lexicon
from laconic.code.search.words import pieces_of, stem
from laconic.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Edge, Grade, Kind, Symbol

MAX_READ_FILES = 60  # whose lines are looked at, the most promising
MAX_READ_LINES = 60_000  # of all of them together
MAX_WORDED_SYMBOLS = 150  # taken by the words of the change
MAX_MENTIONING_FILES = 40  # that mention a name, above which it says nothing of where to look
MAX_CALLED_SYMBOLS = 8  # changed symbols whose callers and callees are looked for
MAX_BODY_NAMES = 400  # of the changed symbols, that are looked up
MAX_TEXT_BYTES = 6_000  # of each changed symbol, from which these are taken
LONG_LINE_CHARACTERS = 400  # a longer line is data
SAME_LINES = 2  # times that a line may be in a file to be recognised
HALF_LIFE_COMMITS = 40
FEW_COMMITS = 0.5  # added to what the commits count for, so that one or two of them say little
MOST_PATH_WORDS = 2
MAX_REMOVED_LINES = 30  # with which other lines are compared
LEAST_RARITY = 2.0  # of the names of such a line, summed
WHOLE_RARITY = 8.0  # of a line that is sure to mean the same where it is found again
STEM_CHARACTERS = 3  # that a stem has in common with every word that it stands for
SURPLUS_NAME = 0.03  # by which a name that only the longer line has makes two lines less alike
RANK_OFFSET = 3  # among the first few, one place more or less says little
GRADES = {Grade.EXACT: 1.0, Grade.INFERRED: 0.9, Grade.BY_NAME: 0.4}

FIELDS = (
    "test", "same_file", "same_folder", "path_words", "words", "file_words", "body_words", "alike_name", "alike_line",
    "gone_name", "gone_words", "brought_words", "around_names", "cochanged_lines", "cochanged_file", "churn", "named",
    "value", "class", "callee", "caller", "size", "order",
)  # fmt: skip

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sources:
    """What is asked of the repository. Files that have changed are as the change leaves them."""

    symbols_of: Callable[[str], Sequence[Symbol]]
    text_of: Callable[[str], bytes]  # nothing for a file that cannot be read
    files_mentioning: Callable[[str], Collection[str]]
    callers: Callable[[str], Sequence[Edge]]
    callees: Callable[[str], Sequence[Edge]]
    lexicon: Lexicon
    commits: Sequence[Commit]


@dataclass(slots=True)
class _Facts:
    """What is known of the change as a whole."""

    names: Names
    idf: Mapping[str, float]
    words: Mapping[tuple[str, int], float]  # by path and position among the definitions of the file
    body_words: Mapping[tuple[str, int], float]
    removed: Sequence[Mapping[str, float]]  # of lines that were taken out the names, each with its rarity
    cochanged: Mapping[str, float]
    edges: Mapping[str, Mapping[str, tuple[float, str]]]  # "caller", "callee": symbol id to strength, and of whom
    lines: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Written:
    """By line of a file how much speaks for it that commits wrote it."""

    together: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # with lines of a changed symbol
    at_all: dict[int, float] = field(default_factory=dict)

    def add(self, lines: Collection[int], worth: float, together: float) -> None:
        """Count one commit."""
        for line in lines:
            self.at_all[line] = max(self.at_all.get(line, 0.0), worth)
            if together:
                self.together[line] += together


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pieces of code and a row of figures for each, in the order of `FIELDS`."""

    regions: Sequence[Region]
    figures: Figures
    edges: Mapping[str, Mapping[str, tuple[float, str]]]


def gather(changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: Sources) -> Evidence:
    """Everything that may be worth showing beside the changed symbols themselves."""
    facts = _facts(changes, changed, sources)
    paths = _paths(changes, facts, sources)
    ids = {one.symbol.id for one in changed if not one.is_gone}
    regions: list[Region] = []
    positions: dict[str, int] = {}
    read = 0
    for path in paths:
        symbols = sources.symbols_of(path)
        lines = facts.lines[path] = facts.lines.get(path) or _lines(sources.text_of(path))
        read += len(lines)
        if read > MAX_READ_LINES:
            break
        positions.update((symbol.id, at) for at, symbol in enumerate(symbols))
        regions += regions_of(symbols, lines, ids)
    figures = _figures(regions, positions, changes, changed, facts, sources)
    return Evidence(regions, figures, facts.edges)


def _facts(changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: Sources) -> _Facts:
    lines = {one.after.path: _lines(one.after.text) for one in changes if one.after is not None}
    names = names_of([one.diff for one in changes], lambda path: lines.get(path, ()))
    lexicon = sources.lexicon
    known = names.gone | names.brought | names.kept | names.around
    idf = {name: lexicon.rarity(len(lexicon.term_scores(term)[0])) for name in known if (term := term_of(name))}
    words = _worded(lexicon, terms_of(names.gone)) + _worded(lexicon, terms_of(names.brought))
    body_words = _worded(lexicon, terms_of(_body_names(changed, sources)))
    return _Facts(
        names, idf, _by_place(lexicon, words), _by_place(lexicon, body_words), _removed(changes, idf),
        _cochanged(changes, sources), _edges(changed, sources), lines,
    )  # fmt: skip


def _removed(changes: Sequence[FileChange], idf: Mapping[str, float]) -> list[dict[str, float]]:
    """The first lines that were taken out and say something."""
    rows = (line for one in changes for hunk in one.diff.hunks for line in hunk.removed)
    named = ({name: idf.get(name, 0.0) for name in NAME.findall(line.decode("utf-8", "replace"))} for line in rows)
    return list(islice((names for names in named if sum(names.values()) > LEAST_RARITY), MAX_REMOVED_LINES))


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").split("\n")


def _worded(lexicon: Lexicon, terms: Mapping[str, float]) -> Figures:
    return lexicon.scores(terms)


def _by_place(lexicon: Lexicon, scores: Figures) -> dict[tuple[str, int], float]:
    collection = lexicon.collection
    units = np.flatnonzero(scores > 0)
    order = units[np.argsort(-scores[units], kind="stable")]
    files = collection.files
    return {
        (files[collection.file[unit]].path, int(collection.position[unit])): float(scores[unit])
        for unit in order.tolist()
    }


def _body_names(changed: Sequence[ChangedSymbol], sources: Sources) -> set[str]:
    found: Counter[str] = Counter()
    for one in changed:
        if not one.is_gone and one.symbol.kind is not Kind.MODULE:
            text = sources.text_of(one.symbol.path)[one.symbol.start_byte : one.symbol.end_byte][:MAX_TEXT_BYTES]
            found.update(NAME.findall(text.decode("utf-8", "replace")))
    return set(sorted(found, key=lambda name: (-found[name], name))[:MAX_BODY_NAMES])


def _cochanged(changes: Sequence[FileChange], sources: Sources) -> dict[str, float]:
    """By path in what part of the commits that wrote a changed file it was written, too, near 1 if in all of them.

    Late commits, and those of few files, tell more.
    """
    found: dict[str, float] = defaultdict(float)
    total = FEW_COMMITS
    for age, commit in enumerate(sources.commits):
        worth = 0.5 ** (age / HALF_LIFE_COMMITS) / log2(2 + len(commit.written))
        total += worth
        for path in commit.written:
            found[path] += worth
    return {path: worth / total for path, worth in found.items()}


def _edges(changed: Sequence[ChangedSymbol], sources: Sources) -> dict[str, dict[str, tuple[float, str]]]:
    found: dict[str, dict[str, tuple[float, str]]] = {"caller": {}, "callee": {}}
    asked = [one.symbol for one in changed if not one.is_gone and one.symbol.kind is not Kind.MODULE]
    for symbol in asked[:MAX_CALLED_SYMBOLS]:
        for edge in sources.callers(symbol.id):
            _keep_edge(found["caller"], edge.caller, edge.grade, symbol.id)
        for edge in sources.callees(symbol.id):
            if not edge.callee.startswith(EXTERNAL_PREFIX):
                _keep_edge(found["callee"], edge.callee, edge.grade, symbol.id)
    return found


def _keep_edge(edges: dict[str, tuple[float, str]], far: str, grade: Grade, near: str) -> None:
    if far != near and edges.get(far, (0.0, ""))[0] < GRADES[grade]:
        edges[far] = GRADES[grade], near


def _paths(changes: Sequence[FileChange], facts: _Facts, sources: Sources) -> list[str]:
    """The files to look into: those that changed, then others by what speaks for them."""
    own = [one.after.path for one in changes if one.after is not None and len(one.after.symbols) > 1]
    promise: dict[str, float] = defaultdict(float)
    for rank, (path, _) in enumerate(list(facts.words)[:MAX_WORDED_SYMBOLS]):
        promise[path] += 1 / (rank + 10)
    for rank, (path, _) in enumerate(list(facts.body_words)[:MAX_WORDED_SYMBOLS]):
        promise[path] += 0.5 / (rank + 10)
    for name in sorted(facts.names.gone | facts.names.brought):
        mentioning = sources.files_mentioning(name)
        for path in mentioning if len(mentioning) <= MAX_MENTIONING_FILES else ():
            promise[path] += 0.01 * facts.idf.get(name, 0.0)
    for edges in facts.edges.values():
        for symbol_id, (strength, _) in edges.items():
            promise[symbol_id.partition(":")[0]] += 0.1 * strength
    for path, worth in facts.cochanged.items():
        promise[path] += 2.0 * worth
    gone = {one.diff.old_path for one in changes if one.after is None}
    others = sorted(promise, key=lambda path: (-promise[path] * (0.3 if is_test(path) else 1.0), path))
    return [*own, *(path for path in others if path not in own and path not in gone)][:MAX_READ_FILES]


def _figures(
    regions: Sequence[Region],
    positions: Mapping[str, int],
    changes: Sequence[FileChange],
    changed: Sequence[ChangedSymbol],
    facts: _Facts,
    sources: Sources,
) -> Figures:
    table = np.zeros((len(regions), len(FIELDS)))
    column = {name: table[:, at] for at, name in enumerate(FIELDS)}
    own = {one.after.path for one in changes if one.after is not None}
    folders = {directory(path) for path in own}
    names = [set(map(stem, pieces_of(one.symbol.name))) for one in changed if one.symbol.kind is not Kind.MODULE]
    said = facts.names.gone | facts.names.brought | facts.names.kept
    total = len(sources.lexicon.collection)
    paths = {region.symbol.path for region in regions}
    written = _written(changed, sources, facts, paths)
    order = _order(regions, changed)
    alike_paths = _path_words(paths - own, changed, facts.names)
    for at, region in enumerate(regions):
        symbol = region.symbol
        place = symbol.path, positions[symbol.id]
        column["test"][at] = is_test(symbol.path)
        column["path_words"][at] = alike_paths.get(symbol.path, 0)
        column["cochanged_file"][at] = sqrt(facts.cochanged.get(symbol.path, 0.0))
        column["same_file"][at] = symbol.path in own
        column["same_folder"][at] = symbol.path not in own and directory(symbol.path) in folders
        column["words"][at] = facts.words.get(place, 0.0)
        column["body_words"][at] = facts.body_words.get(place, 0.0)
        column["alike_name"][at] = _likeness(set(map(stem, pieces_of(symbol.name))), names)
        column["named"][at] = facts.idf.get(symbol.name, 0.0) if symbol.name in said else 0.0
        column["value"][at] = symbol.kind not in CALLABLE_KINDS and symbol.kind not in CLASS_KINDS
        column["class"][at] = symbol.kind in CLASS_KINDS
        column["callee"][at] = facts.edges["callee"].get(symbol.id, (0.0, ""))[0]
        column["caller"][at] = facts.edges["caller"].get(symbol.id, (0.0, ""))[0]
        column["order"][at] = order[at]
    _read_lines(regions, column, facts, written)
    body = column["body_words"]
    body /= max(float(body.max(initial=0.0)), 1e-9)
    for name in ("words", "around_names", "cochanged_lines"):
        column[name][:] = _by_rank(column[name], max(total, len(regions)))
    best: dict[str, float] = defaultdict(float)
    for region, score in zip(regions, column["words"].tolist(), strict=True):
        best[region.symbol.path] = max(best[region.symbol.path], score)
    column["file_words"][:] = [best[region.symbol.path] for region in regions]
    return table


def _likeness(pieces: set[str], names: Sequence[set[str]]) -> float:
    return max((len(pieces & other) / len(pieces | other) for other in names if pieces | other), default=0.0)


def _order(regions: Sequence[Region], changed: Sequence[ChangedSymbol]) -> Figures:
    """How few symbols of the same file lie between a piece and a changed symbol: 1 beside it, towards 0 far away."""
    starts: dict[str, set[int]] = defaultdict(set)
    own: dict[str, set[int]] = defaultdict(set)
    for one in changed:
        if not one.is_gone and one.symbol.kind is not Kind.MODULE:
            starts[one.symbol.path].add(one.symbol.start_byte)
            own[one.symbol.path].add(one.symbol.start_byte)
    for region in regions:
        if region.symbol.path in own:
            starts[region.symbol.path].add(region.symbol.start_byte)
    order = {path: {start: at for at, start in enumerate(sorted(listed))} for path, listed in starts.items()}
    found = np.zeros(len(regions))
    for at, region in enumerate(regions):
        path = region.symbol.path
        if path in own:
            here = order[path][region.symbol.start_byte]
            found[at] = 1 / (1 + min(abs(here - order[path][start]) for start in own[path]))
    return found


def _path_words(paths: Iterable[str], changed: Sequence[ChangedSymbol], names: Names) -> dict[str, int]:
    """How many words of each file's own name are words of changed names too, `MOST_PATH_WORDS` at most."""
    said = _stems(one.symbol.name for one in changed if one.symbol.kind is not Kind.MODULE)
    said |= _stems(names.gone | names.brought)
    own_names = {
        path: [path.rpartition("/")[2].partition(".")[0], directory(path).rpartition("/")[2]] for path in paths
    }
    return {path: min(MOST_PATH_WORDS, len(_stems(own) & said)) for path, own in own_names.items()}


def _stems(names: Iterable[str]) -> set[str]:
    return {stem(piece) for name in names for piece in pieces_of(name)}


def _read_lines(
    regions: Sequence[Region], column: Mapping[str, Figures], facts: _Facts, written: Mapping[str, _Written]
) -> None:
    """The evidence that lies in the lines of each piece."""
    names, idf = facts.names, facts.idf
    gone, brought = _stems(names.gone), _stems(names.brought)
    removed_names = frozenset(name for row in facts.removed for name, rarity in row.items() if rarity)
    wanted = _Wanted(gone | brought, names.gone | names.around | removed_names)
    rows_of: dict[str, list[_Row]] = {}
    for at, region in enumerate(regions):
        path = region.symbol.path
        if path not in rows_of:
            rows_of[path] = wanted.rows(facts.lines[path])
        rows = rows_of[path][region.first - 1 : region.last]
        found = frozenset[str]().union(*[row.names for row in rows])
        stems = set[str]().union(*[wanted.stems[name] for name in found])
        column["alike_line"][at] = _alike(rows, removed_names, facts.removed)
        column["gone_words"][at] = len(stems & gone) / (1 + len(gone))
        column["brought_words"][at] = len(stems & brought) / (1 + len(brought))
        column["gone_name"][at] = max((idf.get(name, 0.0) for name in found & names.gone), default=0.0)
        column["around_names"][at] = sum(idf.get(name, 0.0) for name in found & names.around)
        if path in written:
            numbers = range(region.first, region.last + 1)
            column["cochanged_lines"][at] = max((written[path].together.get(one, 0.0) for one in numbers), default=0.0)
            column["churn"][at] = max((written[path].at_all.get(one, 0.0) for one in numbers), default=0.0)
        column["size"][at] = log(10 + sum(row.length for row in rows))


class _Row(NamedTuple):
    """A line: the names in it that are wanted, how many it has in all, and its characters."""

    names: frozenset[str]
    size: int
    length: int


@dataclass(slots=True)
class _Wanted:
    """The names that say something: those that are wanted themselves, and those with words of the change in them."""

    words: set[str]
    names: Collection[str]
    stems: dict[str, set[str]] = field(default_factory=dict)  # of each wanted name its words that the change says
    _judged: set[str] = field(default_factory=set)

    def rows(self, lines: Sequence[str]) -> list[_Row]:
        """Read the lines of a file; each name is judged once."""
        named = [NAME.findall(text) if len(text) <= LONG_LINE_CHARACTERS else [] for text in lines]
        unknown = set().union(*named) - self._judged
        self._judged |= unknown
        may_say = re.compile("|".join(sorted(re.escape(word[:STEM_CHARACTERS]) for word in self.words)) or r"(?!)")
        for name in unknown:  # to look for the beginning of a stem is far quicker than to make the stems
            stems = self.words.intersection(map(stem, pieces_of(name))) if may_say.search(name.lower()) else set[str]()
            if stems or name in self.names:
                self.stems[name] = stems
        known = self.stems.keys()
        return [
            _Row(frozenset(known & set(found)), len(found), len(text)) for found, text in zip(named, lines, strict=True)
        ]


def _alike(rows: Iterable[_Row], wanted: frozenset[str], removed: Sequence[Mapping[str, float]]) -> float:
    """How much a line is like one that was taken out, the best of all, from 0 to 1; rare names in common count most."""
    sizes: dict[frozenset[str], int] = {}
    for row in rows:
        names = row.names & wanted
        sizes[names] = min(row.size, sizes.get(names, row.size))
    best = 0.0
    for names, size in sizes.items():
        for line in removed if names else ():
            if not names.isdisjoint(line):
                total = sum(line.values())
                common = sum(line[name] for name in names if name in line)
                longer = 1 + SURPLUS_NAME * max(0, size - len(line))
                best = max(best, common / (total + 1) * min(1.0, total / WHOLE_RARITY) / longer)
    return best


def _written(
    changed: Sequence[ChangedSymbol], sources: Sources, facts: _Facts, paths: Collection[str]
) -> dict[str, _Written]:
    """By path what speaks for the lines that commits wrote."""
    touched = {path for commit in sources.commits for path in commit.written}
    places = {path: _places(facts.lines[path]) for path in sorted(touched & set(paths)) if path in facts.lines}
    own: dict[str, set[int]] = defaultdict(set)
    for one in changed:
        if not one.is_gone:
            own[one.symbol.path].update(_near(one))
    found: dict[str, _Written] = {path: _Written() for path in places}
    for age, commit in enumerate(sources.commits):
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


def _near(one: ChangedSymbol) -> set[int]:
    """The lines of a changed symbol; of a whole file those around its changes."""
    if one.symbol.kind is not Kind.MODULE:
        return set(range(one.symbol.start_line, one.symbol.end_line + 1))
    return {near for line in (*one.lines, *one.gaps) for near in range(line - 3, line + 4)}


def _places(lines: Sequence[str]) -> dict[int, list[int]]:
    """Where each line of a file is, by checksum; those that are there many times are nowhere."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, text in enumerate(lines, 1):
        found[checksum(text.encode("utf-8", "replace"))].append(number)
    return {sum_: numbers for sum_, numbers in found.items() if sum_ and len(numbers) <= SAME_LINES}


def _by_rank(values: Figures, total: int) -> Figures:
    """Figures of any scale by their rank: the logarithm of how far in front each is; 0 for what has none."""
    order = np.sort(-values[values > 0])
    ranks = np.searchsorted(order, -values, side="left")
    scores: Figures = np.where(values > 0, -np.log((ranks + RANK_OFFSET) / (total + RANK_OFFSET)), 0.0)
    return scores
