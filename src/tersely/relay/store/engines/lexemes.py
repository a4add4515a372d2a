"""Words as the full text of SQLite has them, written down for that of PostgreSQL: so both find the
same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

MAX_LEXEME_PLACES = 16_383  # of PostgreSQL; words behind them are found, but in no phrase
MAX_LEXEME_PLACES_EACH = 255
MAX_LEXEME_CHARACTERS = 500  # of at most 4 bytes; there are 2,046
SNIPPET_WORDS = 24
_WORD = re.compile(r"\w+")
_WITHIN = re.compile(r"[^\W_]+")


class TextWord(NamedTuple):
    """A word of a text, as it is compared and where it stands."""

    text: str
    start: int
    end: int


def words(text: str, *, joins_underscore: bool) -> Iterator[TextWord]:
    """The words of a text; `_` is a letter or parts them."""
    for found in (_WORD if joins_underscore else _WITHIN).finditer(text):
        yield TextWord(_folded(found[0]), found.start(), found.end())


def vector(text: str, *, joins_underscore: bool) -> str:
    """A text as PostgreSQL writes a `tsvector`."""
    places: dict[str, list[int]] = {}
    for number, word in enumerate(words(text, joins_underscore=joins_underscore), 1):
        at = places.setdefault(word.text, [])
        if len(at) < MAX_LEXEME_PLACES_EACH and number <= MAX_LEXEME_PLACES:
            at.append(number)
    return " ".join(
        f"'{word}':{','.join(map(str, at))}" if at else f"'{word}'" for word, at in places.items()
    )


def query(wanted: Sequence[str], *, all_of: bool, joins_underscore: bool) -> str:
    """Words to be looked for as PostgreSQL writes a `tsquery`; one of several parts is a phrase. ""
    without any.
    """
    phrases = [
        [f"'{part.text}'" for part in words(word, joins_underscore=joins_underscore)]
        for word in wanted
    ]
    if all_of and not all(phrases):
        return ""
    return (" & " if all_of else " | ").join(
        f"({' <-> '.join(phrase)})" for phrase in phrases if phrase
    )


def snippet(text: str, wanted: Iterable[str]) -> str:
    """The part of a text with the first of some words, which stand between « and »."""
    looked_for = {part.text for word in wanted for part in words(word, joins_underscore=True)}
    shown = list(words(text, joins_underscore=True))
    first = next((number for number, word in enumerate(shown) if word.text in looked_for), 0)
    start = min(max(first - SNIPPET_WORDS // 4, 0), max(len(shown) - SNIPPET_WORDS, 0))
    part = shown[start : start + SNIPPET_WORDS]
    is_whole_end = start + len(part) == len(shown)
    at = part[0].start if part and start else 0
    told = [" … "] if start else []
    for word in part:
        told.append(text[at : word.start])
        told.append(
            f"«{text[word.start : word.end]}»"
            if word.text in looked_for
            else text[word.start : word.end]
        )
        at = word.end
    told.append(text[at:] if is_whole_end else " … ")
    return "".join(told)


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()[:MAX_LEXEME_CHARACTERS]
    bare = "".join(
        one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one)
    )
    return bare.lower()[:MAX_LEXEME_CHARACTERS]
