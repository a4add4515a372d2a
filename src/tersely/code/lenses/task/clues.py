"""What a task says of the code that it is about: names, places, quoted text, and words.

Names are read as search reads them (`search/query.py`): between backticks, or words that nobody would write in prose.
Places are paths with or without a line, as compilers, loggers and stack traces of all languages print them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tersely.code.search.query import read_query

MAX_TASK_CHARACTERS = 20_000  # what a longer task says after that is not read
MAX_NAMES = 40
MAX_PLACES = 40
MAX_QUOTED = 8
MIN_QUOTED_CHARACTERS = 5  # a shorter text is found everywhere
MAX_QUOTED_CHARACTERS = 200

# a/b.py   a/b.py:12   a/b.py", line 12   a/b.py(12)   a/b.py#L12
_PLACE = re.compile(
    r"(?P<path>(?<![\w./\\-])(?:[A-Za-z]:)?[\w./\\@+-]*\w\.[A-Za-z]\w{0,7}(?![\w/\\]))"
    r"(?:(?:\", line |:|\(|#L)(?P<line>\d{1,6})\b)?"
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)
_BLANK = re.compile(r"\s")


class Place(NamedTuple):
    """A file that a task speaks of, as it writes it, and a line in it, 0 for none."""

    path: str
    line: int


class Clues(NamedTuple):
    """A task, taken apart."""

    title: str  # its first line
    prose: str  # all of it, as words to search for
    names: tuple[str, ...]
    places: tuple[Place, ...]
    quoted: tuple[str, ...]  # pieces of code or messages


def read_task(task: str) -> Clues:
    """Take a task apart; `invalid_argument` for one without any words."""
    task = task.strip()[:MAX_TASK_CHARACTERS]
    title, _, rest = task.partition("\n")
    names = [name for part in (title, rest) if part.strip() for name in _names(part)]
    return Clues(
        _words(title) or _words(task),
        _words(task),
        tuple(dict.fromkeys(names))[:MAX_NAMES],
        tuple(dict.fromkeys(_places(task)))[:MAX_PLACES],
        tuple(piece for piece in dict.fromkeys(_quoted(task)) if piece not in names)[:MAX_QUOTED],
    )


def _words(text: str) -> str:
    """The text without what search would take for more than words."""
    return " ".join(_FENCE.sub(" ", text).replace('"', " ").strip("/ \n").split())


def _names(text: str) -> Sequence[str]:
    words = _words(text)
    if not words:
        return ()
    query = read_query(words)
    return (query.name,) if query.name else query.names


def _places(text: str) -> Iterable[Place]:
    for found in _PLACE.finditer(text):
        yield Place(found["path"].replace("\\", "/"), int(found["line"] or 0))


def _quoted(text: str) -> Iterable[str]:
    for groups in _QUOTED.findall(_FENCE.sub("", text)):
        piece = next(filter(None, groups)).strip()
        if MIN_QUOTED_CHARACTERS <= len(piece) <= MAX_QUOTED_CHARACTERS and not piece.isidentifier():
            yield piece


def file_meant(path: str, known: Iterable[str]) -> str:
    """The file that a path of some machine means: one whose path ends it, or else the only one that ends in it."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts:
        return ""
    name = parts[-1]
    same_name = [one for one in known if one.rpartition("/")[2] == name]
    within = [one for one in same_name if parts[-len(one.split("/")) :] == one.split("/")]
    if within:
        return max(within, key=lambda one: (one.count("/"), one))
    ending = [one for one in same_name if f"/{one}".endswith("/" + "/".join(parts))]
    return ending[0] if len(ending) == 1 else ""
