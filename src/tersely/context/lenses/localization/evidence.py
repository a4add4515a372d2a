"""The evidence for each file being the one that a task is about: one number a file and kind of
evidence.

Evidence by words is relative to the file that has most of it, evidence by exact places and names is
shared among all that a place or name may mean. `relevance.py` says how much each kind counts.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from tersely.code.index.history.subjects import Subject
from tersely.code.places import file_name_of, is_test
from tersely.code.search.lexical import Lexicon
from tersely.code.search.words import (
    STOP_WORDS,
    parts_of,
    stem,
    stems_of,
    telling_stems,
    words_of_text,
)
from tersely.code.symbols import Kind, Symbol, SymbolsOf
from tersely.context.lenses.localization.task import (
    LEAST_MESSAGE_CHARACTERS,
    Task,
    TraceLine,
    ends_of,
)
from tersely.foundation.arrays import Figures, Ints, np
from tersely.foundation.types import Strings

MAX_TERMS = 80  # of a text, the rarest first
TITLE_TIMES = 3  # that a word of the title is said, as much as it counts
# How much a word counts that is said once, in units of each time that it is said 2.7 times as often.
SAID_ONCE = 2.0
MAX_MEANINGS = 12  # symbols of one name, above which it says nothing
MAX_SAYING_FILES = 4  # that have one message, above which it says nothing
MAX_SOUGHT_TEXTS = 500  # messages and parts of them that files are searched for
# words in a row that a message has to share with a source, since the rest may be filled in
_PLACEHOLDER_WORDS = 3
_TINY = 1e-9


class Sign(IntEnum):
    """Kinds of evidence for a file or for a symbol, in the order of the columns."""

    # for both
    TITLE_UNIT = 0  # the words of the title, all in one symbol: in this, or in one of the file
    TEXT_UNIT = 1
    TITLE_RANK = 2  # how early search finds it for the title
    TEXT_RANK = 3
    TITLE_NAME = 4  # it is, or defines, what the title names in code
    NAME = 5  # … the rest of the text
    LAST_FRAME = 6  # the innermost frame of a trace that is in the repository
    FRAME = 7
    MESSAGE = 8  # has a text that is quoted
    # for files
    TITLE_FILE = 9  # the words of the title anywhere in the file
    TEXT_FILE = 10
    PATH_WORDS = 11  # words of the title in the path
    PATH = 12  # the path, or the end of it with a folder, is written
    FILE_NAME = 13  # only the name of the file is written
    PAST = 14  # was touched by commits that say something alike
    TOUCHED = 15  # is touched often
    # for symbols
    SIZE = 16  # the logarithm of its lines
    NAME_SHARE = 17  # the share of its name that the text has
    OWNER_SHARE = 18  # … of the names of what it belongs to
    NEAR = 19  # the words of the task in what stands before or behind it
    TRACE_CALL = 20  # the last line of a trace calls it
    LINKED = 21  # stands at lines that are linked to
    FILE = 22  # the logit of its file
    IS_VALUE = 23  # a constant, a field, a variable


class TaskSources(NamedTuple):
    """The sources that evidence is asked of."""

    paths: Sequence[str]  # the files that may own a task, in the order of the rows
    lexicon: Lexicon
    found: SymbolsOf  # what search finds for a text, the best first
    named: SymbolsOf  # what a name may mean
    # the innermost symbols at lines of a file, from one to another
    at: Callable[[str, int, int], Sequence[Symbol]]
    # by text, the files that have it
    saying: Callable[[Sequence[str]], Mapping[str, Sequence[str]]]
    # the innermost symbols of a file that have a text
    holding: Callable[[str, str], Sequence[Symbol]]
    past: Sequence[Subject]


class Belonging(NamedTuple):
    """The evidence for a text being about this repository at all."""

    title_match: float  # BM25 of the title and the symbol that has most of its words
    text_match: float
    unknown_share: float  # of the words of the text, those that no symbol has
    unknown_names: int  # written as code, though nothing here is called so


class Evidence(NamedTuple):
    """Rows are files, columns signs; and what single symbols have for them, by their ids."""

    signs: Figures
    ceiling: float  # what share of the words of the title the best file has
    belonging: Belonging
    # by symbol id, one number a `Sign`, without those that units and files give
    marks: Mapping[str, Figures]
    # by text, the title and all, by unit of the collection: how much of its words the unit has
    # beside the best, from 0 to 1
    units: tuple[Figures, ...]
    places: tuple[tuple[str, int], ...]  # lines of files that traces and links lead to
    why: Mapping[str, list[str]]  # by path, in words, the exact first
    missing: Strings  # the bounds for which some evidence was not looked for, in words


def evidence(task: Task, sources: TaskSources) -> Evidence:
    """All evidence of a task."""
    return _Gathering(task, sources).all()


class _Gathering:
    def __init__(self, task: Task, sources: TaskSources) -> None:
        self.task = task
        self.sources = sources
        self.row = {path: row for row, path in enumerate(sources.paths)}
        self.by_file_name: dict[str, list[str]] = defaultdict(list)
        for path in sources.paths:
            self.by_file_name[file_name_of(path)].append(path)
        self.signs = np.zeros((len(self.row), len(Sign)))
        self.marks: dict[str, Figures] = defaultdict(lambda: np.zeros(len(Sign)))
        self.units: list[Figures] = []  # of the title, and of the text
        self.matches: list[float] = []
        self.unknown_names = 0
        self.places: list[tuple[str, int]] = []
        self.why: dict[str, list[str]] = defaultdict(list)
        self.missing: Strings = ()

    def all(self) -> Evidence:
        ceiling = self._words()
        self._places()
        self._links()
        self._frames()
        self._names()
        self._ranks()
        self._past()
        self._messages()
        return Evidence(
            self.signs, ceiling, self._belonging(), self.marks, tuple(self.units), tuple(self.places),
            self.why, self.missing,
        )  # fmt: skip

    def _belonging(self) -> Belonging:
        terms = set(telling_stems(self.task.text))
        unknown = sum(not self.sources.lexicon.units_with(term) for term in terms)
        of_title, of_text = self.matches
        return Belonging(of_title, of_text, unknown / max(1, len(terms)), self.unknown_names)

    # By words

    def _words(self) -> float:
        lexicon = self.sources.lexicon
        collection = lexicon.collection
        row_of = np.array([self.row.get(file.path, -1) for file in collection.files], np.int64)
        rows = row_of[collection.file] if len(row_of) else np.zeros(0, np.int64)
        ceilings: list[float] = []
        said = Counter(_terms(self.task.text) + (TITLE_TIMES - 1) * _terms(self.task.title))
        for text, by_unit, by_file in (
            (self.task.title, Sign.TITLE_UNIT, Sign.TITLE_FILE),
            (self.task.text, Sign.TEXT_UNIT, Sign.TEXT_FILE),
        ):
            terms = rare_terms(text, lexicon)
            scores, unit, whole = self._scores(terms, said, rows)
            self.matches.append(float(scores.max(initial=0.0)))
            self.units.append(scores / (self.matches[-1] + _TINY))
            self.signs[:, by_unit] = unit / (unit.max(initial=0.0) + _TINY)
            self.signs[:, by_file] = whole / (whole.max(initial=0.0) + _TINY)
            ceilings.append(float(whole.max(initial=0.0)) / (lexicon.ceiling(terms) + _TINY))
        self._path_words(rare_terms(self.task.title, lexicon))
        return ceilings[0]

    def _scores(
        self, terms: Sequence[str], said: Mapping[str, int], rows: Ints
    ) -> tuple[Figures, Figures, Figures]:
        """By unit its score; by file the score of its best unit, and the sum over terms of the best
        score that any unit has for it. A term counts by how often it is said, one of the title 1."""
        unit = np.zeros(len(rows))
        whole = np.zeros(len(self.row))
        for term in terms:
            units, added = self.sources.lexicon.term_scores(term)
            added = added * (SAID_ONCE + math.log(said[term])) / (SAID_ONCE + math.log(TITLE_TIMES))
            unit[units] += added
            inside = rows[units] >= 0
            best = np.zeros(len(self.row))
            np.maximum.at(best, rows[units[inside]], added[inside])
            whole += best
        best_unit = np.zeros(len(self.row))
        known = rows >= 0
        np.maximum.at(best_unit, rows[known], unit[known])
        return unit, best_unit, whole

    def _path_words(self, title_terms: Sequence[str]) -> None:
        pieces = [set(stems_of(words_of_text(path))) for path in self.row]
        having = Counter(piece for own in pieces for piece in own)
        worth = {
            term: math.log(1 + len(self.row) / having[term]) for term in title_terms if having[term]
        }
        total = sum(worth.values()) + _TINY
        for row, own in enumerate(pieces):
            self.signs[row, Sign.PATH_WORDS] = (
                sum(worth[term] for term in own if term in worth) / total
            )

    def _ranks(self) -> None:
        texts = [(self.task.title, Sign.TITLE_RANK)]
        if self.task.text != self.task.title:
            texts.append((self.task.text, Sign.TEXT_RANK))
        for text, sign in texts:
            seen: set[str] = set()
            for rank, symbol in enumerate(self.sources.found(text)):
                self._mark(symbol, sign, 1 / (1 + rank / 2))
                if symbol.path not in seen:
                    self._raise(symbol.path, sign, 1 / (1 + len(seen)))
                    seen.add(symbol.path)
        if len(texts) == 1:
            self.signs[:, Sign.TEXT_RANK] = self.signs[:, Sign.TITLE_RANK]

    # By exact places and names

    def _places(self) -> None:
        for written in self.task.paths:
            if written.endswith("/"):
                self._folder(written)
                continue
            matches, length = self._ending(_parts_of(written))
            sign = Sign.PATH if length > 1 else Sign.FILE_NAME
            for path in matches[:MAX_MEANINGS]:
                self._raise(path, sign, 1 / len(matches), f"{written} is written")

    def _folder(self, written: str) -> None:
        inside = [path for path in self.row if f"/{written.lstrip('./')}" in f"/{path}"]
        for path in inside:
            self._raise(path, Sign.PATH, 1 / len(inside), f"{written} is written")
            self._raise(path, Sign.PATH_WORDS, 1.0)

    def _ending(self, parts: Sequence[str]) -> tuple[list[str], int]:
        """The files whose paths end in as many of some parts as can be, and in how many."""
        named = self.by_file_name.get(parts[-1], []) if parts else []
        for first in range(len(parts) if named else 0):
            end = "/".join(parts[first:])
            found = [path for path in named if path == end or path.endswith(f"/{end}")]
            if found:
                return found, len(parts) - first
        return [], 0

    def _links(self) -> None:
        """Files that are linked to, and what stands at the lines there, as far as the file is still
        the same.
        """
        for link in self.task.links:
            for path in self._meant(link.path):
                self._raise(path, Sign.PATH, 1.0, f"{link.path} is linked to")
                if link.first_line:
                    self.places.append((path, link.first_line))
                    for symbol in self.sources.at(path, link.first_line, link.last_line):
                        self._mark(symbol, Sign.LINKED, 1.0)

    def _frames(self) -> None:
        placed = [(frame, path) for frame in self.task.frames for path in self._meant(frame.path)]
        for back, (frame, path) in enumerate(reversed(placed)):
            sign = Sign.FRAME if back else Sign.LAST_FRAME
            self._raise(path, sign, 1 / (1 + back), f"line {frame.line} is in the trace")
            self.places.append((path, frame.line))
            if not back:
                self._trace_calls()
            for symbol in self._in_frame(frame, path):
                self._mark(symbol, sign, (1 + back) ** -0.5)

    def _trace_calls(self) -> None:
        """Note what the innermost frame calls: the error may be in there, or in what it hands over."""
        for name in self.task.trace_calls:
            meanings = self._meanings(name)
            for symbol in meanings:
                self._mark(symbol, Sign.TRACE_CALL, 1 / len(meanings))

    def _meanings(self, name: str) -> Sequence[Symbol]:
        """The definitions that a name may mean; none of a name that means too many."""
        found = [
            one
            for one in self.sources.named(name)
            if one.path in self.row and one.kind is not Kind.MODULE
        ]
        return found if len(found) <= MAX_MEANINGS else ()

    def _in_frame(self, frame: TraceLine, path: str) -> Sequence[Symbol]:
        """The function of a frame, by its name if it has one: the line may be that of another
        version.
        """
        if frame.function:
            return [symbol for symbol in self.sources.named(frame.function) if symbol.path == path]
        return self.sources.at(path, frame.line, frame.line)

    def _meant(self, written: str) -> list[str]:
        """The file of a path, if there is but one: with its folder, unless it is written without."""
        parts = _parts_of(written)
        matches, length = self._ending(parts)
        return matches if len(matches) == 1 and length >= min(2, len(parts)) else []

    def _names(self) -> None:
        for names, sign in ((self.task.title_names, Sign.TITLE_NAME), (self.task.names, Sign.NAME)):
            for name in names:
                self._name(name, sign)
                self.unknown_names += not any(map(self.sources.named, ends_of(name)[:1]))

    def _name(self, name: str, sign: Sign) -> None:
        parts = ends_of(name)
        whole = ".".join(reversed(parts))
        for part, worth in [(whole, 1.0), *((part, 0.5) for part in parts[:2] if len(parts) > 1)]:
            meanings = self._meanings(part)
            for symbol in meanings:
                each = worth / len(meanings)
                self._add(symbol.path, sign, each, f"defines {symbol.qualname}")
                self._mark(symbol, sign, each)

    def _messages(self) -> None:
        wanted = dict.fromkeys(part for message in self.task.messages for part in _parts(message))
        if len(wanted) > MAX_SOUGHT_TEXTS:
            self.missing = (f"only the first {MAX_SOUGHT_TEXTS} quoted texts were looked for",)
        for text, paths in self.sources.saying(list(wanted)[:MAX_SOUGHT_TEXTS]).items():
            inside = [path for path in paths if path in self.row]
            for path in inside if len(inside) <= MAX_SAYING_FILES else ():
                self._add(path, Sign.MESSAGE, 1 / len(inside), f'has the text "{text}"')
                for symbol in self.sources.holding(path, text):
                    self._mark(symbol, Sign.MESSAGE, 1 / len(inside))

    # By history

    def _past(self) -> None:
        title = set(telling_stems(self.task.title))
        frequency = Counter(term for subject in self.sources.past for term in title & subject.terms)
        total = len(self.sources.past)
        alike = np.zeros(len(self.row))
        touched = np.zeros(len(self.row))
        for subject in self.sources.past:
            rows = [self.row[path] for path in subject.paths if path in self.row]
            touched[rows] += 1
            shared = title & subject.terms
            if shared and rows:
                worth = sum(math.log(1 + total / frequency[term]) for term in shared)
                alike[rows] += worth * worth / len(rows)
        self.signs[:, Sign.PAST] = alike / (alike.max(initial=0.0) + _TINY)
        self.signs[:, Sign.TOUCHED] = np.log1p(touched) / (
            np.log1p(touched.max(initial=0.0)) + _TINY
        )

    # Writing down

    def _mark(self, symbol: Symbol, sign: Sign, value: float) -> None:
        """Each kind once, the most of it."""
        row = self.marks[symbol.id]
        row[sign] = max(row[sign], value)

    def _raise(self, path: str, sign: Sign, value: float, why: str = "") -> None:
        row = self.row.get(path)
        if row is not None:
            self.signs[row, sign] = max(self.signs[row, sign], value)
            self._say(path, why)

    def _add(self, path: str, sign: Sign, value: float, why: str) -> None:
        """Add up for a file that has a row, with a ceiling: what is said three times is no surer
        than what is said twice.
        """
        self._raise(path, sign, min(2.0, self.signs[self.row[path], sign] + value), why)

    def _say(self, path: str, why: str) -> None:
        if why and why not in self.why[path]:
            self.why[path].append(why)


def owning(paths: Iterable[str]) -> list[str]:
    """The files that may own a task: all but tests."""
    return [path for path in paths if not is_test(path)]


def _terms(text: str) -> list[str]:
    telling = (word for word in words_of_text(text) if word.lower() not in STOP_WORDS)
    return [stem(part) for word in telling for part in parts_of(word)]


def rare_terms(text: str, lexicon: Lexicon) -> list[str]:
    """The rarest of the terms of a text that the repository has, each once."""
    having = {term: lexicon.units_with(term) for term in _terms(text)}
    known = [term for term, units in having.items() if units]
    return sorted(known, key=lambda term: (having[term], term))[:MAX_TERMS]


def _parts_of(path: str) -> list[str]:
    return [part for part in re.split(r"[/\\]", path) if part.strip(".")]


def _parts(message: str) -> list[str]:
    """A message, and the runs of words in it that may stand in a source as they are."""
    words = message.split()
    runs = [
        " ".join(words[at : at + _PLACEHOLDER_WORDS])
        for at in range(len(words) - _PLACEHOLDER_WORDS + 1)
    ]
    return [run for run in dict.fromkeys([message, *runs]) if len(run) >= LEAST_MESSAGE_CHARACTERS]
