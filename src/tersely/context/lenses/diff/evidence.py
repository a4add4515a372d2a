"""The evidence for each piece of code that a change may need: one row of figures a piece.

Evidence about symbols: the words of the change (BM25F over all symbols), calls, the file's and the
name's nearness, and files that changed in the same commits. Evidence about lines: the words of each
(`lines.py`), and commits that wrote it (`written.py`); a piece has the most of any of its lines,
and beside that the most of any line of its symbol.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import exp, log, sqrt

from tersely.code.graph.callgraph import EXTERNAL_PREFIX
from tersely.code.places import directory_of, file_name_of, is_test
from tersely.code.search.lexical import Lexicon
from tersely.code.search.words import pieces_of, stem
from tersely.code.symbols import (
    CALLABLE_KINDS,
    CLASS_KINDS,
    Grade,
    Kind,
    Symbol,
)
from tersely.context.lenses.diff.change import ChangeSources
from tersely.context.lenses.diff.changed_symbols import ChangedSymbol, FileChange
from tersely.context.lenses.diff.features.commit_features import cochanged, written
from tersely.context.lenses.diff.features.lines import (
    WORD_FIELDS,
    Lines,
    Said,
    stems_of,
)
from tersely.context.lenses.diff.features.structure import (
    STRUCTURE_FIELDS,
    files_tested,
    shares,
    stem_of,
)
from tersely.context.lenses.diff.features.words import (
    NAME,
    Names,
    names_of,
    near_lines,
    term_of,
    terms_of,
)
from tersely.context.lenses.diff.regions import Region, regions_of
from tersely.foundation.arrays import Figures, np
from tersely.foundation.types import Sums, Weights, frozen

MAX_READ_FILES = 60  # whose lines are looked at, the most promising
MAX_READ_LINES = 30_000  # of all of them together
MAX_WORDED_SYMBOLS = 150  # taken by the words of the change
MAX_MENTIONING_FILES = 40  # that mention a name, above which it says nothing of where to look
MAX_DEFINING_FILES = 3  # that define a name, above which it says nothing of where to look
MAX_MEANT_SYMBOLS = 200  # whose rank by meaning counts
MAX_CALLED_SYMBOLS = 8  # changed symbols whose callers and callees are looked for
MAX_BODY_NAMES = 400  # of the changed symbols, that are looked up
MAX_TEXT_BYTES = 6_000  # of each changed symbol, from which these are taken
MOST_PATH_WORDS = 2
RANK_OFFSET = 3  # among the first few, one place more or less says little
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
    "same_file", "path_words", "words", "words_rank", "body_words", "body_rank", "named",
    "name_words", "value", "class", "callee", "cochanged_file", "order", "size", "file_rank",
    "file_size",
)  # fmt: skip
LINE_FIELDS = (*WORD_FIELDS, "churn", "together")
SHARE_FIELDS = ("around_share", "gone_share", "brought_share")
PIECE_FIELDS = ("position", "characters", "near")
FILE_FIELDS = ("file_words", "file_alike", "file_gone")
CHANGE_FIELDS = ("changed", "removed", "added", "files", "symbols", "only_tests")
FIELDS = (
    *SYMBOL_FIELDS,
    *STRUCTURE_FIELDS,
    *LINE_FIELDS,
    *(f"symbol_{name}" for name in LINE_FIELDS),
    *SHARE_FIELDS,
    *(f"symbol_{name}" for name in SHARE_FIELDS),
    *PIECE_FIELDS,
    *FILE_FIELDS,
    *CHANGE_FIELDS,
)

Place = tuple[str, int]  # a path, and a position among the definitions of the file


@frozen
class _Facts:
    """The facts of the change as a whole."""

    changes: Sequence[FileChange]
    changed: Sequence[ChangedSymbol]
    names: Names
    rarity: Weights  # of the names
    words: Mapping[Place, float]  # the best first
    body_names: Weights  # of the changed symbols, with how rare each is
    body_words: Mapping[Place, float]
    cochanged: Weights
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
    if not regions:
        return Evidence((), np.zeros((0, len(FIELDS))), facts.edges, lines)
    by_line, share = _by_line(regions, facts, sources, texts, lines)
    symbol_ids = [region.symbol.id for region in regions]
    groups = [
        _by_symbol(regions, _row_of_symbol(regions, positions, facts, lines)),
        _by_symbol(regions, _row_of_structure(regions, positions, facts, sources)),
        by_line,
        _of_groups(np.maximum, by_line, symbol_ids),
        share,
        _of_groups(np.add, share, symbol_ids),
        _of_pieces(regions, facts, lines),
    ]
    known = np.hstack(groups)
    table = np.hstack(
        [known, _of_files(regions, known), np.tile(_of_change(facts, sources), (len(regions), 1))]
    )
    return Evidence(regions, table, facts.edges, lines)


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
    body_names = _body_names(changed, sources)
    body_words = lexicon.scores(terms_of(body_names))
    return _Facts(
        changes, changed, names, rarity, _by_place(lexicon, words), _rarities(lexicon, body_names),
        _by_place(lexicon, body_words), cochanged(sources.commits()), _edges(changed, sources),
    )  # fmt: skip


def _lines_after(changes: Sequence[FileChange]) -> Callable[[str], Sequence[str]]:
    lines = {
        one.after.path: one.after.text.decode("utf-8", "replace").split("\n")
        for one in changes
        if one.after is not None
    }
    return lambda path: lines.get(path, ())


def _rarities(lexicon: Lexicon, names: Iterable[str]) -> Sums:
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
        if one.is_code:
            text = sources.text_of(one.symbol.path)[one.symbol.start_byte : one.symbol.end_byte][
                :MAX_TEXT_BYTES
            ]
            found.update(NAME.findall(text.decode("utf-8", "replace")))
    return set(sorted(found, key=lambda name: (-found[name], name))[:MAX_BODY_NAMES])


def _edges(
    changed: Sequence[ChangedSymbol], sources: ChangeSources
) -> dict[str, dict[str, tuple[float, str]]]:
    found: dict[str, dict[str, tuple[float, str]]] = {"caller": {}, "callee": {}}
    asked = [one.symbol for one in changed if one.is_code]
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


def _promises(facts: _Facts, sources: ChangeSources) -> Sums:
    """By path how much speaks for looking into a file."""
    promise: Sums = defaultdict(float)
    for words, worth in ((facts.words, 1.0), (facts.body_words, BODY_WORDS_PROMISE)):
        for rank, (path, _) in enumerate(list(words)[:MAX_WORDED_SYMBOLS]):
            promise[path] += worth / (rank + WORDED_RANK_OFFSET)
    changed = facts.names.gone | facts.names.brought
    for names, files_of, most, worth in (
        (changed, sources.files_mentioning, MAX_MENTIONING_FILES, MENTION_PROMISE),
        (changed | facts.names.kept, sources.defining, MAX_DEFINING_FILES, DEFINITION_PROMISE),
    ):
        for name in sorted(names):
            files = files_of(name)
            for path in files if len(files) <= most else ():
                promise[path] += worth * facts.rarity.get(name, 0.0)
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


def _row_of_structure(
    regions: Sequence[Region], positions: Mapping[str, int], facts: _Facts, sources: ChangeSources
) -> Callable[[Symbol], Sequence[float]]:
    """What gives the `STRUCTURE_FIELDS` of a symbol; what is the same for all is looked up once."""
    own = facts.own
    tested = files_tested(own, sources.paths)
    stems = {stem_of(path) for path in own}
    changed = [one.symbol.path for one in facts.changed]
    changed_in_file, changed_in_folder = (
        shares(changed),
        shares([directory_of(path) for path in changed]),
    )
    meaning = _meaning(regions, positions, facts, sources)
    order = sorted(meaning, key=lambda symbol_id: (-meaning[symbol_id], symbol_id))
    meaning_ranks = {symbol_id: rank for rank, symbol_id in enumerate(order[:MAX_MEANT_SYMBOLS])}

    def row(symbol: Symbol) -> Sequence[float]:
        path = symbol.path
        return [
            changed_in_file.get(path, 0.0),
            changed_in_folder.get(directory_of(path), 0.0),
            path in tested,
            path not in changed_in_file and stem_of(path) in stems,
            facts.body_names.get(symbol.name, 0.0),
            meaning.get(symbol.id, 0.0),
            _by_rank(meaning_ranks.get(symbol.id)),
        ]

    return row


def _meaning(
    regions: Sequence[Region], positions: Mapping[str, int], facts: _Facts, sources: ChangeSources
) -> Sums:
    """By symbol how near its vector is to that of the nearest changed symbol."""
    collection = sources.lexicon().collection
    ids: dict[str, dict[int, str]] = defaultdict(dict)  # by path and position
    for symbol in {region.symbol.id: region.symbol for region in regions}.values():
        ids[symbol.path][positions[symbol.id]] = symbol.id
    units: dict[int, str] = {}
    for path, listed in ids.items():
        for unit in collection.numbers_at(path, listed):
            units[unit] = listed[int(collection.position[unit])]
    given: list[int] = []
    for one in [one.symbol for one in facts.changed if one.is_code][:MAX_CALLED_SYMBOLS]:
        given += collection.numbers_at(one.path, [positions[one.id]]) if one.id in positions else []
    nearness = collection.nearness(np.array(list(units), np.int64), np.array(given, np.int64))
    return {units[unit]: float(near) for unit, near in zip(units, nearness.tolist(), strict=True)}


def _by_symbol(regions: Sequence[Region], row_of: Callable[[Symbol], Sequence[float]]) -> Figures:
    """A row for each piece, that of its symbol."""
    rows = {
        one.id: row_of(one)
        for one in {region.symbol.id: region.symbol for region in regions}.values()
    }
    return np.array([rows[region.symbol.id] for region in regions], np.float64)


def _row_of_symbol(
    regions: Sequence[Region],
    positions: Mapping[str, int],
    facts: _Facts,
    lines: Mapping[str, Sequence[str]],
) -> Callable[[Symbol], Sequence[float]]:
    """What gives the `SYMBOL_FIELDS` of a symbol; what is the same for all is looked up once."""
    own, names = facts.own, facts.names
    changed_words = (stem(word) for one in facts.named for word in pieces_of(one.symbol.name))
    said = names.gone | names.brought | names.kept
    said_words = {*changed_words} | stems_of(names.gone | names.brought)
    path_words = _path_words({region.symbol.path for region in regions} - own, said_words)
    word_ranks, body_ranks = (
        {place: rank for rank, place in enumerate(listed)}
        for listed in (facts.words, facts.body_words)
    )
    file_ranks = {path: rank for rank, path in enumerate(lines)}
    most_body_words = max(facts.body_words.values(), default=1.0)
    order = _order(regions, facts.changed)

    def row(symbol: Symbol) -> Sequence[float]:
        path, place = symbol.path, (symbol.path, positions[symbol.id])
        words = set(map(stem, pieces_of(symbol.name)))
        return [
            path in own,
            path_words.get(path, 0),
            facts.words.get(place, 0.0),
            _by_rank(word_ranks.get(place)),
            facts.body_words.get(place, 0.0) / most_body_words,
            _by_rank(body_ranks.get(place)),
            facts.rarity.get(symbol.name, 0.0) if symbol.name in said else 0.0,
            len(words & said_words) / max(1, len(words)),
            symbol.kind not in CALLABLE_KINDS and symbol.kind not in CLASS_KINDS,
            symbol.kind in CLASS_KINDS,
            facts.edges["callee"].get(symbol.id, (0.0, ""))[0],
            sqrt(facts.cochanged.get(path, 0.0)),
            order[symbol.id],
            log(symbol.end_line - symbol.start_line + 1),
            file_ranks[path],
            log(len(lines[path])),
        ]

    return row


def _by_rank(rank: int | None) -> float:
    """Near a third for the first, towards 0 for the last."""
    return 1 / (rank + RANK_OFFSET) if rank is not None else 0.0


def _order(regions: Sequence[Region], changed: Sequence[ChangedSymbol]) -> Sums:
    """The nearness of a symbol to a changed one by the number of symbols between them in the file:
    1 beside it, towards 0 far away.
    """
    starts: dict[str, set[int]] = defaultdict(set)
    own: dict[str, set[int]] = defaultdict(set)
    for one in changed:
        if one.is_code:
            starts[one.symbol.path].add(one.symbol.start_byte)
            own[one.symbol.path].add(one.symbol.start_byte)
    for region in regions:
        if region.symbol.path in own:
            starts[region.symbol.path].add(region.symbol.start_byte)
    order = {
        path: {start: at for at, start in enumerate(sorted(listed))}
        for path, listed in starts.items()
    }
    found: Sums = {}
    for region in regions:
        path = region.symbol.path
        here = order[path][region.symbol.start_byte] if path in own else 0
        steps = min((abs(here - order[path][start]) for start in own.get(path, ())), default=None)
        found[region.symbol.id] = 1 / (1 + steps) if steps is not None else 0.0
    return found


def _path_words(paths: Iterable[str], said: Collection[str]) -> dict[str, int]:
    """The number of words of each file's own name that are words of the change too,
    `MOST_PATH_WORDS` at most.
    """
    own_names = {
        path: [file_name_of(path).partition(".")[0], file_name_of(directory_of(path))]
        for path in paths
    }
    return {
        path: min(MOST_PATH_WORDS, len(stems_of(own) & set(said)))
        for path, own in own_names.items()
    }


def _by_line(
    regions: Sequence[Region],
    facts: _Facts,
    sources: ChangeSources,
    texts: Mapping[str, str],
    lines: Mapping[str, Sequence[str]],
) -> tuple[Figures, Figures]:
    """For each piece the most of its lines in each of `LINE_FIELDS`, and `SHARE_FIELDS`: its share
    of the names around the change, of those that are gone and of those that it brings, weighed by
    how rare they are.
    """
    read = Lines(_said(facts, sources), texts.values())
    wrote = written(facts.changed, sources.commits(), texts)
    first_line = dict(zip(lines, accumulate(map(len, lines.values()), initial=0), strict=False))
    figures = np.zeros(
        (len(read) + 1, len(LINE_FIELDS))
    )  # one row more, for the end of the last piece
    figures[:-1, : len(WORD_FIELDS)] = read.figures()
    for path, of_file in wrote.items():
        for column, worths in enumerate((of_file.at_all, of_file.together), len(WORD_FIELDS)):
            for line, worth in worths.items():
                figures[first_line[path] + line - 1, column] = worth
    ends: list[int] = []
    piece_of = np.full(len(read), -1)
    for at, (symbol, first, last) in enumerate(regions):
        before = first_line[symbol.path]
        ends += before + first - 1, before + last
        piece_of[before + first - 1 : before + last] = at
    sorts = (facts.names.around, facts.names.gone, facts.names.brought)
    share = np.column_stack([read.shares(piece_of, len(regions), some) for some in sorts])
    table = np.maximum.reduceat(figures, np.array(ends, np.int64), axis=0)[::2]
    return table, share / [_summed(names, facts.rarity) or 1.0 for names in sorts]


def _summed(names: Iterable[str], rarity: Weights) -> float:
    return sum(rarity.get(name, 0.0) for name in sorted(names))


def _said(facts: _Facts, sources: ChangeSources) -> Said:
    hunks = [hunk for one in facts.changes for hunk in one.diff.hunks]
    names = sorted({one.symbol.name for one in facts.named})
    rare = _rarities(sources.lexicon(), names)
    lines_of = _lines_after(facts.changes)
    around = [
        line
        for one in facts.changes
        if one.after is not None
        for line in near_lines(one.diff, lines_of)
    ]
    return Said(
        facts.names,
        facts.rarity,
        [_text(line) for hunk in hunks for line in hunk.removed],
        [_text(line) for hunk in hunks for line in hunk.added],
        around,
        rare,
    )


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _of_groups(combine: np.ufunc, table: Figures, groups: Sequence[str]) -> Figures:
    """For each row those of its group, combined; no figure is below nothing."""
    number = {one: at for at, one in enumerate(groups)}
    group = [number[one] for one in groups]
    found = np.zeros_like(table)
    combine.at(found, group, table)
    return found[group]


def _of_pieces(
    regions: Sequence[Region], facts: _Facts, lines: Mapping[str, Sequence[str]]
) -> Figures:
    """A row of `PIECE_FIELDS` for each piece."""
    hunks: dict[str, list[int]] = defaultdict(list)
    for one in facts.changes:
        if one.after is not None:
            for hunk in one.diff.hunks:
                hunks[one.after.path] += [
                    hunk.new_first,
                    hunk.new_first + max(0, len(hunk.added) - 1),
                ]
    table = np.zeros((len(regions), len(PIECE_FIELDS)))
    for at, (symbol, first, last) in enumerate(regions):
        size = symbol.end_line - symbol.start_line + 1
        length = sum(len(line) + 1 for line in lines[symbol.path][first - 1 : last])
        far = min(
            (max(0, first - line, line - last) for line in hunks.get(symbol.path, ())), default=None
        )
        near = exp(-far / NEAR_LINES) if far is not None else 0.0
        table[at] = (first - symbol.start_line) / size, log(length + 10), near
    return table


def _of_files(regions: Sequence[Region], known: Figures) -> Figures:
    """A row of `FILE_FIELDS` for each piece, that of its file."""
    column = {
        name: known[:, FIELDS.index(name)]
        for name in ("words", "alike_removed", "alike_added", "gone")
    }
    table = np.column_stack(
        [column["words"], column["alike_removed"] + column["alike_added"], column["gone"]]
    )
    return _of_groups(np.maximum, table, [region.symbol.path for region in regions])


def _of_change(facts: _Facts, sources: ChangeSources) -> list[float]:
    """`CHANGE_FIELDS`, the same for all pieces."""
    hunks = [hunk for one in facts.changes for hunk in one.diff.hunks]
    removed = sum(len(hunk.removed) for hunk in hunks)
    added = sum(len(hunk.added) for hunk in hunks)
    symbols = len(sources.lexicon().collection)
    only_tests = float(all(map(is_test, facts.own)))
    return [
        log(len(facts.named) + 1),
        log(removed + 1),
        log(added + 1),
        len(facts.own),
        log(symbols + 1),
        only_tests,
    ]
