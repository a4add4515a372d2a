"""The subject of a task: evidence for files and symbols, ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice

from tersely.code.index.history.subjects import Subject
from tersely.code.index.storage.store import Store
from tersely.code.search.glossary import in_english
from tersely.code.search.searcher import Filters, Searcher
from tersely.code.search.words import pieces_of, stem, stems_of, words_of_text
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS, Kind, Symbol
from tersely.context.lenses.localization.evidence import (
    Evidence,
    Sign,
    TaskSources,
    evidence,
    owning,
    rare_terms,
)
from tersely.context.lenses.localization.relevance import (
    MAX_LIKELY_FILES,
    chances,
    confidence,
    is_task,
    probabilities,
    reason,
)
from tersely.context.lenses.localization.table import (
    MAX_OPENED_FILES,
    EvidenceTable,
    table_of,
)
from tersely.context.lenses.localization.task import Task, without_instruction
from tersely.foundation.arrays import np
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, frozen, replace

FOUND_SYMBOLS = 60  # looked at of those that search finds for a text
MAX_NAMED_SYMBOLS = 40  # of one name
MAX_READ_FILES = 200  # for one text that is quoted
MAX_RANKED_SYMBOLS = 60  # that are given
MAX_REASON_WORDS = 3
LEAST_NAMED = 0.5  # of what the title names, that a symbol is: it or one other, whole or as a part
MAX_SEARCH_WORDS = 5  # of the title, and of the text
# What reports say of themselves, and what is left of contractions.
REPORT_WORDS = frozenset(
    "bug bugs fix fixed fixes issue doesn didn isn aren wasn couldn shouldn wouldn hasn".split()
)
_INNERMOST_KINDS = (CALLABLE_KINDS | CLASS_KINDS) - {Kind.LAMBDA}


@frozen
class LikelyFile:
    """A file that a task is probably about."""

    path: str
    probability: float  # that the task changes it
    why: Strings  # what is exact; words speak for all


@frozen
class LikelySymbol:
    """A symbol that a task is probably about."""

    symbol: Symbol
    chance: float  # that the task changes it
    reason: str


@frozen
class Location:
    """The place where a task has to be done, as far as its text tells."""

    files: tuple[LikelyFile, ...]  # the likeliest first, at most `MAX_LIKELY_FILES`
    # those that the title names, then the others, the likeliest first, of whatever files
    symbols: tuple[LikelySymbol, ...]
    confidence: float  # which share of the files to be changed is expected among these
    considered_files: int  # files that could have been
    # lines of files that the task's traces and links lead to
    trace_lines: tuple[tuple[str, int], ...]
    # what to search for inside them: the rarest words of the title, then of the text
    words: Strings
    missing: Strings = ()  # the bounds for which some evidence was not looked for


class Look:
    """Looks at one revision of a repository. For one thread at a time."""

    def __init__(
        self,
        store: Store,
        searcher: Searcher,
        source_of: Callable[[str], bytes],
        past: Sequence[Subject],
    ) -> None:
        self._store = store
        self._searcher = searcher
        self._lexicon = searcher.lexicon
        self._source_of = cache(source_of)
        self._symbols_of = cache(store.symbols_of)
        self._past = past
        self._paths = owning(file.path for file in store.files())

    def location(self, task: Task) -> Location:
        """The files and symbols of a task."""
        task = self._in_words_of_code(task)
        found = self.evidence(task)
        shares = probabilities(found.signs)
        order = np.lexsort((np.arange(len(shares)), -np.round(shares, 9)))
        likely = order[:MAX_OPENED_FILES].tolist()
        paths = [self._paths[row] for row in likely]
        files = tuple(
            LikelyFile(
                self._paths[row],
                round(float(shares[row]), 3),
                tuple(found.why.get(self._paths[row], ())),
            )
            for row in likely[:MAX_LIKELY_FILES]
        )
        sure = confidence(shares[order], found.ceiling, len(task.title.split())) * is_task(found)
        terms = frozenset(rare_terms(task.text, self._lexicon))
        by_path = dict(zip(self._paths, shares.tolist(), strict=True))
        table = table_of(found, paths, by_path, self._searcher, self._symbols_of, terms)
        ranked = self._ranked(task, table)
        words = self._rare_words(task, {one.path for one in files})
        return Location(
            files,
            ranked,
            sure,
            len(self._paths),
            found.places,
            words,
            found.missing,
        )

    def _in_words_of_code(self, task: Task) -> Task:
        """The task in English, without the words that only ask for a change."""
        title, text = (
            without_instruction(in_english(one, self._lexicon.units_with))
            for one in (task.title, task.text)
        )
        return replace(task, title=title, text=text)

    def evidence(self, task: Task) -> Evidence:
        """The evidence for each file, and for single symbols."""
        named = cache(lambda name: self._store.find(name, (), MAX_NAMED_SYMBOLS))
        sources = TaskSources(
            self._paths, self._lexicon, self._found, named, self._at, self._saying, self._holding, self._past,
        )  # fmt: skip
        return evidence(task, sources)

    def _ranked(self, task: Task, table: EvidenceTable) -> tuple[LikelySymbol, ...]:
        shares = chances(table.rows)
        is_named = table.rows[:, Sign.TITLE_NAME] >= LEAST_NAMED
        order = np.lexsort((np.arange(len(shares)), -np.round(shares, 9), ~is_named))
        order = order[:MAX_RANKED_SYMBOLS]
        words = self._words_of(task, [table.units[row] for row in order])
        return tuple(
            LikelySymbol(
                table.symbols[row],
                float(shares[row]),
                reason(table.rows[row], words[table.units[row]]),
            )
            for row in order
        )

    def _words_of(self, task: Task, units: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """By unit, the rarest words of the task that it has, as the task writes them."""
        written = _written(task.text)
        found: dict[int, dict[str, None]] = {unit: {} for unit in units}
        for term in rare_terms(task.text, self._lexicon):
            for unit in found.keys() & self._lexicon.term_scores(term)[0].tolist():
                if term in written and len(found[unit]) < MAX_REASON_WORDS:
                    found[unit][written[term]] = None
        return {unit: list(words) for unit, words in found.items()}

    def _rare_words(self, task: Task, paths: set[str]) -> Strings:
        """The rarest words of a task that some files have, as the task writes them."""
        found: list[str] = []
        for text in (task.title, task.text):
            written = _written(text)
            terms = [term for term in rare_terms(text, self._lexicon) if term in written]
            inside = (written[term] for term in terms if self._files_with(term) & paths)
            telling = (
                word for word in inside if word.isidentifier() and word.lower() not in REPORT_WORDS
            )
            found += islice(telling, MAX_SEARCH_WORDS)
        return tuple(dict.fromkeys(found))

    def _files_with(self, term: str) -> set[str]:
        collection = self._lexicon.collection
        units = self._lexicon.term_scores(term)[0]
        return {collection.files[file].path for file in set(collection.file[units].tolist())}

    def _found(self, text: str) -> Sequence[Symbol]:
        try:
            # in a report neither quotes nor slashes ask for text as it stands
            words = text.replace('"', " ").strip(" /")
            hits = self._searcher.find(words, Filters(), FOUND_SYMBOLS).hits
        except TerselyError:  # there are no words in it
            return ()
        return [hit.symbol for hit in hits]

    def _at(self, path: str, first_line: int, last_line: int) -> Sequence[Symbol]:
        """The functions and classes at some lines that have no other of them inside."""
        meant = [
            one
            for one in self._symbols_of(path)
            if one.kind in _INNERMOST_KINDS
            and one.start_line <= last_line
            and first_line <= one.end_line
        ]
        return [one for one in meant if all(other.parent != one.id for other in meant)]

    def _saying(self, texts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {
            text: [
                path
                for path in self._with_words(text)
                if text.encode("utf-8", "replace") in self._source_of(path)
            ]
            for text in texts
        }

    def _holding(self, path: str, text: str) -> Sequence[Symbol]:
        """The innermost functions and classes around the first place of a text in a file."""
        source = self._source_of(path)
        at = source.find(text.encode("utf-8", "replace"))
        line = source.count(b"\n", 0, max(0, at)) + 1
        return self._at(path, line, line) if at >= 0 else ()

    def _with_words(self, text: str) -> list[str]:
        """The files that have all the words of a text."""
        files: set[str] | None = None
        for term in sorted(set(stems_of(words_of_text(text)))):
            having = self._files_with(term)
            files = having if files is None else files & having
            if not files:
                return []
        return sorted(files or ())[:MAX_READ_FILES]


def _written(text: str) -> dict[str, str]:
    """By term, the word of a text that it was taken from."""
    written: dict[str, str] = {}
    for word in words_of_text(text):
        for piece in pieces_of(word):
            written.setdefault(stem(piece), word)
    return written
