"""The evidence for each piece of code that a change may need: one row of figures a piece.

Evidence about symbols: the words of the change (BM25F over all symbols), the file's and the name's
nearness, and files that changed in the same commits. Evidence about lines: the words of each
(`features/lines.py`), and commits that wrote it (`features/commit_features.py`); a piece has the
most of any of its lines, and beside that the most of any line of its symbol.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from tersely.code.graph.callgraph import EXTERNAL_PREFIX
from tersely.code.index.history.history import Commit
from tersely.code.places import is_test
from tersely.code.search.lexical import Lexicon
from tersely.code.search.words import pieces_of, stem
from tersely.code.symbols import Edge, Grade, Kind, Symbol, SymbolsOf
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange
from tersely.context.lenses.diff.features.commit_features import cochanged, written
from tersely.context.lenses.diff.features.lines import (
    WORD_FIELDS,
    Said,
    Wording,
    stems_of,
)
from tersely.context.lenses.diff.features.structure import files_tested
from tersely.context.lenses.diff.features.words import (
    NAME,
    Names,
    names_of,
    term_of,
    terms_of,
)
from tersely.context.lenses.diff.regions import Region, regions_of
from tersely.foundation.types import frozen

MAX_READ_FILES = 60  # whose lines are looked at, the most promising
MAX_READ_LINES = 30_000  # of all of them together
MAX_WORDED_SYMBOLS = 150  # taken by the words of the change
MAX_MENTIONING_FILES = 40  # that mention a name, above which it says nothing of where to look
MAX_DEFINING_FILES = 3  # that define a name, above which it says nothing of where to look
MAX_CALLED_SYMBOLS = 8  # changed symbols whose callers and callees are looked for
MAX_BODY_NAMES = 400  # of the changed symbols, that are looked up
MAX_TEXT_BYTES = 6_000  # of each changed symbol, from which these are taken
NEAR_LINES = 20  # from a change, after which nearness has fallen to 1/e
# How much speaks for looking into a file; the first symbol of those with the words of the change
# has 1 / WORDED_RANK_OFFSET.
WORDED_RANK_OFFSET = 10
BODY_WORDS_PROMISE = (
    0.5  # of words in the bodies of the changed symbols, beside those of the change
)
MENTION_PROMISE = 0.01  # of a name that is gone or new, times its rarity
DEFINITION_PROMISE = 0.02  # likewise, where it is defined
IMPORT_PROMISE = 0.02
TESTED_PROMISE = 0.5
EDGE_PROMISE = 0.1  # of a call, times its strength
COCHANGED_PROMISE = 2.0
TEST_SHARE = 0.3  # of the promise of a test
GRADES = {Grade.EXACT: 1.0, Grade.INFERRED: 0.9, Grade.BY_NAME: 0.4}

SYMBOL_FIELDS = (
    "same_file", "words", "body_words", "name_words", "cochanged_file", "order", "file_share", "file_rank", "size",
)  # fmt: skip
LINE_FIELDS = (*WORD_FIELDS, "churn", "together")
FIELDS = (*SYMBOL_FIELDS, *LINE_FIELDS, *(f"symbol_{name}" for name in LINE_FIELDS), "near")

Figures = NDArray[np.float64]
Place = tuple[str, int]  # a path, and a position among the definitions of the file


@frozen
class ChangeSources:
    """The questions about the repository. Files that have changed are as the change leaves them."""

    symbols_of: SymbolsOf
    text_of: Callable[[str], bytes]  # nothing for a file that cannot be read
    files_mentioning: Callable[[str], Collection[str]]
    callers: Callable[[str], Sequence[Edge]]  # all that are known
    callers_nearby: Callable[[str], Sequence[Edge]]  # those that cost little to find
    callees: Callable[[str], Sequence[Edge]]
    lexicon: Callable[[], Lexicon]
    commits: Callable[[], Sequence[Commit]]
    paths: Collection[str]  # of all files
    imports_of: Callable[[str], Collection[str]]  # the files that a file imports from
    defining: Callable[[str], Collection[str]]  # the files that define a name
    # what a function and those around it name by themselves, imports aside
    locals_of: Callable[[Symbol], Collection[str]]
    aliases_of: Callable[[str], Collection[str]]  # the names that a file imports
    # the imports that name a file which has left, by file and line
    imports_of_left: Callable[[str], Iterable[tuple[str, int]]]


@frozen
class _Facts:
    """The facts of the change as a whole."""

    changes: Sequence[FileChange]
    changed: Sequence[ChangedSymbol]
    names: Names
    rarity: Mapping[str, float]  # of the names
    words: Mapping[Place, float]  # the best first
    body_words: Mapping[Place, float]  # likewise, by what the changed symbols themselves name
    cochanged: Mapping[str, float]
    # "caller", "callee": symbol id to strength, and of whom
    edges: Mapping[str, Mapping[str, tuple[float, str]]]

    @property
    def named(self) -> list[ChangedSymbol]:
        """The changed symbols but for files as a whole."""
        return [one for one in self.changed if one.symbol.kind is not Kind.MODULE]

    @property
    def own(self) -> set[str]:
        """The files that changed and are still there."""
        return {one.after.path for one in self.changes if one.after is not None}


@frozen
class Evidence:
    """Pieces of code and a row of figures for each, in the order of `FIELDS`."""

    regions: Sequence[Region]
    figures: Figures
    edges: Mapping[str, Mapping[str, tuple[float, str]]]
    lines: Mapping[str, Sequence[str]]  # of the files that were read


def gather(
    changes: Sequence[FileChange],
    changed: Sequence[ChangedSymbol],
    sources: ChangeSources,
) -> Evidence:
    """Everything that may be worth showing beside the changed symbols themselves."""
    facts = _facts(changes, changed, sources)
    texts = _texts(_paths(facts, sources), sources)
    lines = {path: text.split("\n") for path, text in texts.items()}
    ids = {one.symbol.id for one in changed if not one.is_gone}
    regions: list[Region] = []
    positions: dict[str, int] = {}
    for path in texts:
        symbols = sources.symbols_of(path)
        positions.update((symbol.id, at) for at, symbol in enumerate(symbols))
        regions += regions_of(symbols, lines[path], ids)
    by_line = _by_line(regions, facts, sources, texts, lines)
    groups = [
        _by_symbol(regions, positions, facts, list(texts)),
        by_line,
        _most_of(by_line, [region.symbol.id for region in regions]),
        _near(regions, facts),
    ]
    return Evidence(regions, np.hstack(groups), facts.edges, lines)


def _texts(paths: Sequence[str], sources: ChangeSources) -> dict[str, str]:
    """The text of the files to look into, as many as may be read."""
    found: dict[str, str] = {}
    read = 0
    for path in paths:
        text = sources.text_of(path).decode("utf-8", "replace")
        read += text.count("\n")
        if read > MAX_READ_LINES:
            break
        found[path] = text
    return found


def _facts(
    changes: Sequence[FileChange], changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> _Facts:
    lexicon = sources.lexicon()
    names = names_of([one.diff for one in changes], _lines_after(changes))
    known = names.gone | names.brought | names.kept | names.around
    rarity = _rarities(lexicon, known)
    words = lexicon.scores(terms_of(names.gone)) + lexicon.scores(terms_of(names.brought))
    body_words = lexicon.scores(terms_of(_body_names(changed, sources)))
    return _Facts(
        changes, changed, names, rarity, _by_place(lexicon, words), _by_place(lexicon, body_words),
        cochanged(sources.commits()), _edges(changed, sources),
    )  # fmt: skip


def _lines_after(changes: Sequence[FileChange]) -> Callable[[str], Sequence[str]]:
    lines = {
        one.after.path: one.after.text.decode("utf-8", "replace").split("\n")
        for one in changes
        if one.after is not None
    }
    return lambda path: lines.get(path, ())


def _rarities(lexicon: Lexicon, names: Iterable[str]) -> dict[str, float]:
    """The rarity of each name; of a name that no term stands for nothing is known."""
    return {name: lexicon.rarity_of(term) for name in names if (term := term_of(name))}


def _by_place(lexicon: Lexicon, scores: Figures) -> dict[Place, float]:
    units = np.flatnonzero(scores > 0)
    order = units[np.argsort(-scores[units], kind="stable")]
    collection = lexicon.collection
    columns = (collection.file[order], collection.position[order], scores[order])
    return {
        (collection.files[file].path, position): score
        for file, position, score in zip(*(one.tolist() for one in columns), strict=True)
    }


def _body_names(changed: Sequence[ChangedSymbol], sources: ChangeSources) -> set[str]:
    found: Counter[str] = Counter()
    for one in changed:
        if not one.is_gone and one.symbol.kind is not Kind.MODULE:
            text = sources.text_of(one.symbol.path)[one.symbol.start_byte : one.symbol.end_byte][
                :MAX_TEXT_BYTES
            ]
            found.update(NAME.findall(text.decode("utf-8", "replace")))
    return set(sorted(found, key=lambda name: (-found[name], name))[:MAX_BODY_NAMES])


def _edges(
    changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> dict[str, dict[str, tuple[float, str]]]:
    found: dict[str, dict[str, tuple[float, str]]] = {"caller": {}, "callee": {}}
    asked = [
        one.symbol for one in changed if not one.is_gone and one.symbol.kind is not Kind.MODULE
    ]
    for symbol in asked[:MAX_CALLED_SYMBOLS]:
        is_rare = len(sources.files_mentioning(symbol.name)) <= MAX_MENTIONING_FILES
        for edge in sources.callers_nearby(symbol.id) if is_rare else ():
            _keep_edge(found["caller"], edge.caller, edge.grade, symbol.id)
        for edge in sources.callees(symbol.id):
            if not edge.callee.startswith(EXTERNAL_PREFIX):
                _keep_edge(found["callee"], edge.callee, edge.grade, symbol.id)
    return found


def _keep_edge(edges: dict[str, tuple[float, str]], far: str, grade: Grade, near: str) -> None:
    if far != near and edges.get(far, (0.0, ""))[0] < GRADES[grade]:
        edges[far] = GRADES[grade], near


def _paths(facts: _Facts, sources: ChangeSources) -> list[str]:
    """The files to look into: those that changed, then others by what speaks for them."""
    own = [
        one.after.path
        for one in facts.changes
        if one.after is not None and len(one.after.symbols) > 1
    ]
    promise = _promises(facts, sources)
    left_out = {*own, *(one.diff.old_path for one in facts.changes if one.after is None)}

    def order(path: str) -> tuple[float, str]:
        return -promise[path] * (TEST_SHARE if is_test(path) else 1.0), path

    others = [path for path in sorted(promise, key=order) if path not in left_out]
    return [*own, *others][:MAX_READ_FILES]


def _promises(facts: _Facts, sources: ChangeSources) -> dict[str, float]:
    """By path how much speaks for looking into a file."""
    promise: dict[str, float] = defaultdict(float)
    for words, worth in ((facts.words, 1.0), (facts.body_words, BODY_WORDS_PROMISE)):
        for rank, (path, _) in enumerate(list(words)[:MAX_WORDED_SYMBOLS]):
            promise[path] += worth / (rank + WORDED_RANK_OFFSET)
    changed = facts.names.gone | facts.names.brought
    for name in sorted(changed):
        mentioning = sources.files_mentioning(name)
        for path in mentioning if len(mentioning) <= MAX_MENTIONING_FILES else ():
            promise[path] += MENTION_PROMISE * facts.rarity.get(name, 0.0)
    for name in sorted(changed | facts.names.kept):
        defining = sources.defining(name)
        for path in defining if len(defining) <= MAX_DEFINING_FILES else ():
            promise[path] += DEFINITION_PROMISE * facts.rarity.get(name, 0.0)
    for path in _all_imports(facts.own, sources):
        promise[path] += IMPORT_PROMISE
    for path in files_tested(facts.own, sources.paths):
        promise[path] += TESTED_PROMISE
    for edges in facts.edges.values():
        for symbol_id, (strength, _) in edges.items():
            promise[symbol_id.partition(":")[0]] += EDGE_PROMISE * strength
    for path, worth in facts.cochanged.items():
        promise[path] += COCHANGED_PROMISE * worth
    return promise


def _all_imports(paths: Iterable[str], sources: ChangeSources) -> set[str]:
    """The files that some files import from."""
    return set[str]().union(*(sources.imports_of(path) for path in paths))


def _by_symbol(
    regions: Sequence[Region],
    positions: Mapping[str, int],
    facts: _Facts,
    paths: Sequence[str],
) -> Figures:
    """A row of `SYMBOL_FIELDS` for each piece, that of its symbol."""
    about = _About.of(facts, paths)
    order = _order(regions, facts.changed)
    rows: dict[str, list[float]] = {}
    table = np.zeros((len(regions), len(SYMBOL_FIELDS)))
    for at, region in enumerate(regions):
        symbol = region.symbol
        if symbol.id not in rows:
            rows[symbol.id] = about.row(
                symbol, (symbol.path, positions[symbol.id]), order[symbol.id]
            )
        table[at] = rows[symbol.id]
    return table


@frozen
class _About:
    """The facts that the figures of a symbol are made of."""

    facts: _Facts
    own: Collection[str]
    said_words: set[str]
    most_body_words: float
    changed_in_file: Mapping[str, float]  # share of the changed symbols
    file_ranks: Mapping[str, int]

    @classmethod
    def of(cls, facts: _Facts, paths: Sequence[str]) -> _About:
        """The facts that are the same for all symbols of the files, which come in the order of what
        speaks for them.
        """
        names, changed = facts.names, Counter(one.symbol.path for one in facts.changed)
        return cls(
            facts,
            facts.own,
            stems_of(one.symbol.name for one in facts.named) | stems_of(names.gone | names.brought),
            max(facts.body_words.values(), default=1.0),
            {path: times / changed.total() for path, times in changed.items()},
            {path: rank for rank, path in enumerate(paths)},
        )

    def row(self, symbol: Symbol, place: Place, order: float) -> list[float]:
        """The figures of a symbol."""
        facts, path = self.facts, symbol.path
        words = set(map(stem, pieces_of(symbol.name)))
        return [
            path in self.own,
            facts.words.get(place, 0.0),
            facts.body_words.get(place, 0.0) / self.most_body_words,
            len(words & self.said_words) / max(1, len(words)),
            sqrt(facts.cochanged.get(path, 0.0)),
            order,
            self.changed_in_file.get(path, 0.0),
            self.file_ranks[path],
            log(symbol.end_line - symbol.start_line + 1),
        ]


def _order(regions: Sequence[Region], changed: Sequence[ChangedSymbol]) -> dict[str, float]:
    """The nearness of a symbol to a changed one by the number of symbols between them in the file:
    1 beside it, towards 0 far away.
    """
    starts: dict[str, set[int]] = defaultdict(set)
    own: dict[str, set[int]] = defaultdict(set)
    for one in changed:
        if not one.is_gone and one.symbol.kind is not Kind.MODULE:
            starts[one.symbol.path].add(one.symbol.start_byte)
            own[one.symbol.path].add(one.symbol.start_byte)
    for region in regions:
        if region.symbol.path in own:
            starts[region.symbol.path].add(region.symbol.start_byte)
    order = {
        path: {start: at for at, start in enumerate(sorted(listed))}
        for path, listed in starts.items()
    }
    found: dict[str, float] = {}
    for region in regions:
        path = region.symbol.path
        here = order[path][region.symbol.start_byte] if path in own else 0
        steps = min((abs(here - order[path][start]) for start in own.get(path, ())), default=None)
        found[region.symbol.id] = 1 / (1 + steps) if steps is not None else 0.0
    return found


def _by_line(
    regions: Sequence[Region],
    facts: _Facts,
    sources: ChangeSources,
    texts: Mapping[str, str],
    lines: Mapping[str, Sequence[str]],
) -> Figures:
    """For each piece the most of its lines in each of `LINE_FIELDS`."""
    wording = Wording(_said(facts))
    wrote = written(facts.changed, sources.commits(), texts)
    table = np.zeros((len(regions), len(LINE_FIELDS)))
    for path, rows in _rows_of([region.symbol.path for region in regions]).items():
        worded = wording.figures(texts[path])
        of_file = wrote.get(path)
        columns = (of_file.at_all, of_file.together) if of_file else ({}, {})
        figures = np.hstack([worded, *(_column(worths, len(lines[path])) for worths in columns)])
        for at in rows:
            _, first, last = regions[at]
            table[at] = figures[first - 1 : last].max(axis=0)
    return table


def _column(worths: Mapping[int, float], size: int) -> Figures:
    column = np.zeros((size, 1))
    for line, worth in worths.items():
        column[line - 1] = worth
    return column


def _said(facts: _Facts) -> Said:
    hunks = [hunk for one in facts.changes for hunk in one.diff.hunks]
    removed = [_text(line) for hunk in hunks for line in hunk.removed]
    added = [_text(line) for hunk in hunks for line in hunk.added]
    return Said(facts.names, facts.rarity, removed, added)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _most_of(table: Figures, groups: Sequence[str]) -> Figures:
    """For each row the most of all rows of its group."""
    rows = _rows_of(groups)
    found = np.zeros_like(table)
    for listed in rows.values():
        found[listed] = table[listed].max(axis=0)
    return found


def _rows_of(groups: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        rows[group].append(at)
    return rows


def _near(regions: Sequence[Region], facts: _Facts) -> Figures:
    """The nearness of each piece to a changed line of its file, a column."""
    hunks: dict[str, list[int]] = defaultdict(list)
    for one in facts.changes:
        if one.after is not None:
            for hunk in one.diff.hunks:
                last = hunk.new_first + max(0, len(hunk.added) - 1)
                hunks[one.after.path] += [hunk.new_first, last]
    table = np.zeros((len(regions), 1))
    for at, (symbol, first, last) in enumerate(regions):
        far = (max(0, first - line, line - last) for line in hunks.get(symbol.path, ()))
        table[at] = max((exp(-one / NEAR_LINES) for one in far), default=0.0)
    return table
