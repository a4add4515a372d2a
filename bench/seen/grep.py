"""An agent with grep: it searches for what the task writes as code, and reads windows around the
hits.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.seen.reading import Reading
from tersely.code.places import is_test

MAX_QUERIES = 12
MAX_WINDOWS = 60
LINE_CHARACTERS = 200  # of a hit that are printed
MAX_QUERY_HITS = 400  # that are looked at
TEST_SHARE = 0.3  # what a hit in a test counts
DEFINITION_SHARE = 2.0  # what a hit that defines the word counts
FOLLOWED_NAMES = 3  # of one window, whose definitions in the same file are read
_CODE = re.compile(
    r"`([^`\n]{2,80})`|(?<!\w)(\w*[a-z0-9][A-Z]\w+|\w*[A-Za-z]_\w+|[A-Za-z_]\w*(?=\()|\w+(?:\.\w+)+)"
)
_QUOTED = re.compile(r"\"([^\"\n]{6,80})\"|'([^'\n]{6,80})'")
_TRACE = re.compile(r"([\w./-]+\.\w{1,5})[\"']?(?:, line |:)(\d+)")
_PATH = re.compile(r"(?<![\w/])((?:[\w.-]+/)+[\w-]+\.\w{1,5})")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_DEFINES = re.compile(
    r"\s*(?:\w+\s+)*?(?:def|class|func|fn|function|struct|enum|trait|interface|type|module|const|let|var|impl|#define)\b"
)
_COMMON = frozenset(
    "the and for with that this from not are was has have when should which into does been will".split()
)


class Style(NamedTuple):
    """How one agent greps."""

    name: str
    hits: int  # at most, of one query
    window: int  # lines
    queries_first: int  # before the first window
    reads_on: bool  # where a window cuts a function
    follows: bool  # names that are defined in the same file
    rare_first: bool  # queries with few hits before others
    words: bool  # looks for plain words of the title, too


PLAIN = Style("grep, windows of 100 lines", 50, 100, 4, True, True, False, True)
VARIANTS = (
    PLAIN,
    Style("hits 20, windows 60", 20, 60, 4, True, True, False, True),
    Style("hits 20, windows 60, rare first", 20, 60, 4, True, True, True, True),
    Style("hits 20, windows 60, two queries", 20, 60, 2, True, True, True, True),
    Style("hits 20, windows 60, one query", 20, 60, 1, True, False, True, True),
    Style("hits 10, windows 40", 10, 40, 3, True, True, True, True),
    Style("hits 20, windows 40, does not read on", 20, 40, 3, False, True, True, True),
    Style("hits 50, windows 60", 50, 60, 4, True, True, True, True),
    Style("hits 20, windows 100", 20, 100, 3, True, True, True, True),
    Style("hits 20, windows 60, code only", 20, 60, 3, True, True, True, False),
    Style("hits 20, windows 60, follows nothing", 20, 60, 3, True, False, True, True),
)


class Hit(NamedTuple):
    """A line that has a word."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Query:
    """A text that is searched for, and where it stands."""

    text: str
    hits: tuple[Hit, ...]

    @property
    def rarity(self) -> float:
        """How much a hit says."""
        return 1 / math.log2(2 + len(self.hits))


def grep(reading: Reading, task: str, style: Style, only: Sequence[str] = ()) -> None:
    """Search and read, among all files or `only` some, until nothing is left; ends by `SeenError`."""
    texts = {path: reading.texts[path] for path in only} if only else reading.texts
    _named_places(reading, task, texts, style)
    queries = _queries(reading, task, texts, style)
    scores: dict[Hit, float] = defaultdict(float)
    words = Counter(word.lower() for word in _WORD.findall(task))
    for start in range(0, len(queries), style.queries_first):
        for query in queries[start : start + style.queries_first]:
            shown = query.hits[: style.hits]
            listing = "\n".join(
                f"{hit.path}:{hit.line}:{texts[hit.path][hit.line - 1].strip()[:LINE_CHARACTERS]}"
                for hit in shown
            )
            reading.pay(listing, _places((hit.path, (hit.line,)) for hit in shown))
            for hit in shown:
                scores[hit] += query.rarity * _weight(hit, query, texts)
        _read_windows(reading, texts, scores, words, style)


def _named_places(
    reading: Reading, task: str, texts: Mapping[str, list[str]], style: Style
) -> None:
    """Lines of traces, the innermost first, then files that are written, from their beginning."""
    for written, number in reversed(_TRACE.findall(task)):
        for path in _ending(written, texts)[:1]:
            _window(reading, texts, path, int(number), style)
    for written in dict.fromkeys(_PATH.findall(task)):
        for path in _ending(written, texts)[:1]:
            _window(reading, texts, path, style.window // 2, style)


def _ending(written: str, texts: Mapping[str, list[str]]) -> list[str]:
    parts = written.lstrip("./").split("/")
    for first in range(len(parts)):
        end = "/".join(parts[first:])
        found = [path for path in texts if path == end or path.endswith(f"/{end}")]
        if len(found) == 1:
            return found
    return []


def _queries(
    reading: Reading, task: str, texts: Mapping[str, list[str]], style: Style
) -> list[Query]:
    title, _, body = task.strip().partition("\n")
    written: list[str] = []
    for part in (title, body):
        written += [next(filter(None, groups)).removesuffix("()") for groups in _CODE.findall(part)]
        written += [next(filter(None, groups)) for groups in _QUOTED.findall(part)]
    if style.words or not written:
        plain = [word for word in _WORD.findall(title) if word.lower() not in _COMMON]
        written += sorted(dict.fromkeys(plain), key=len, reverse=True)
    found = []
    for text in dict.fromkeys(written):
        needle = text.rpartition(".")[2] if re.fullmatch(r"[\w.]+", text) else text
        hits = _hits(needle, reading, texts)
        if hits:
            found.append(Query(needle, tuple(hits)))
        if len(found) == MAX_QUERIES:
            break
    unique = list({query.text: query for query in found}.values())
    return sorted(unique, key=lambda one: len(one.hits)) if style.rare_first else unique


def _hits(text: str, reading: Reading, texts: Mapping[str, list[str]]) -> list[Hit]:
    """Where a text stands, sources before tests, as far as one would look."""
    word = re.compile(
        rf"(?<!\w){re.escape(text)}(?!\w)" if re.fullmatch(r"\w+", text) else re.escape(text)
    )
    found: list[Hit] = []
    for path in sorted(path for path in texts if text in reading.whole(path)):
        lines = enumerate(reading.texts[path], 1)
        found += [Hit(path, number) for number, line in lines if text in line and word.search(line)]
    found.sort(key=lambda hit: is_test(hit.path))
    return found[:MAX_QUERY_HITS]


def _weight(hit: Hit, query: Query, texts: Mapping[str, list[str]]) -> float:
    weight = TEST_SHARE if is_test(hit.path) else 1.0
    line = texts[hit.path][hit.line - 1]
    return weight * DEFINITION_SHARE if _DEFINES.match(line) and query.text in line else weight


def _read_windows(
    reading: Reading,
    texts: Mapping[str, list[str]],
    scores: dict[Hit, float],
    words: Counter[str],
    style: Style,
) -> None:
    """Windows around the hits known so far that were not read yet, the best first."""
    for _ in range(MAX_WINDOWS):
        best = _best(scores, style)
        if best is None:
            return
        shown = _window(reading, texts, best.path, best.line, style)
        for hit in scores:
            if hit.path == best.path and hit.line in shown:
                scores[hit] = 0.0
        if style.follows:
            _follow(reading, texts, best.path, shown, words, style)


def _best(scores: Mapping[Hit, float], style: Style) -> Hit | None:
    """The hit with the most around it, as far as a window reaches; None if nothing is left."""
    by_path: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for hit, score in scores.items():
        if score > 0:
            by_path[hit.path].append((hit.line, score))
    half = style.window // 2
    found: dict[Hit, float] = {}
    for path, lines in by_path.items():
        for line, _ in lines:
            found[Hit(path, line)] = sum(
                score for other, score in lines if abs(other - line) <= half
            )
    return max(found, key=lambda hit: (found[hit], hit.path, -hit.line), default=None)


def _window(
    reading: Reading, texts: Mapping[str, list[str]], path: str, line: int, style: Style
) -> range:
    lines = texts[path]
    first = max(1, line - style.window // 2)
    last = min(len(lines), first + style.window - 1)
    if style.reads_on:
        last = _end_of_function(lines, last)
    shown = range(first, last + 1)
    if not set(shown) <= reading.shown.get(path, set()):
        numbered = "\n".join(f"{number}\t{lines[number - 1]}" for number in shown)
        reading.pay(f"{path}\n{numbered}", {path: shown})
    return shown


def _end_of_function(lines: Sequence[str], last: int) -> int:
    """Up to where a window that is cut inside of a function goes on, at most as far again as one
    window.
    """
    for number in range(last, min(len(lines), last + 60)):
        text = lines[number]
        if text.strip() and _DEFINES.match(text):
            return number
        if text.strip() and not text[:1].isspace():
            return number + 1
    return last


def _follow(
    reading: Reading,
    texts: Mapping[str, list[str]],
    path: str,
    shown: range,
    words: Counter[str],
    style: Style,
) -> None:
    """Definitions in the same file of names that a window uses and that share a word with the task."""
    lines = texts[path]
    used = Counter(word for number in shown for word in _WORD.findall(lines[number - 1]))
    alike = [
        word
        for word in used
        if any(part in words for part in re.split(r"_|(?=[A-Z])", word.lower()) if len(part) > 3)
    ]
    followed = 0
    for word in alike:
        defining = re.compile(
            rf"(?:def|class|func|fn|function|struct|const|let|var)\s+(?:\([^)]*\)\s*)?{re.escape(word)}\b"
        )
        for number, line in enumerate(lines, 1):
            if word in line and number not in shown and defining.search(line):
                _window(reading, texts, path, number + style.window // 4, style)
                followed += 1
                break
        if followed == FOLLOWED_NAMES:
            return


def _places(found: Iterable[tuple[str, Sequence[int]]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for path, numbers in found:
        places[path] += numbers
    return places
