"""Text as words: identifiers with their places, the pieces that they are made of, and the stems of
those.

A *word* is an identifier or a word of prose as it is written. Its *pieces* are the lower-case words
that it is made of: `getHTTPResponse` has `get`, `http` and `response`. *Terms* are what is looked
up: the stems of the pieces, and for a word of several pieces the whole of it after a `=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from tersely.foundation.types import Strings

MAX_WORD_BYTES = 80  # what is longer is data
MAX_WHOLE_CHARACTERS = 40
WHOLE = "="  # before the term for a word as a whole
STEM_CACHE_WORDS = 1 << 17
WORD_CACHE_WORDS = 1 << 17

_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z][^\W\d_A-Z]*")
_WORD = re.compile(r"[^\W_]\w*|_\w+")

ASKING_WORDS = frozenset("how what who whom whose why where".split())
# Words of a question that say nothing of what is sought.
STOP_WORDS = frozenset(
    """a about all also an and any are as at be been but by can could do does doing done for from get gets given had
    has have how if in into is it its just may might must no nor not of on once one only onto or other our over own
    same shall should so some such than that the their them then there these they this those through to too under
    until up upon us use used uses using very was we were what when where whether which while who whose why will with
    within without would you your""".split()
)


def words_of_text(text: str) -> list[str]:
    """The words of a question, a name or a path."""
    return _WORD.findall(text)


@lru_cache(WORD_CACHE_WORDS)
def _split(word: str) -> tuple[Strings, str]:
    """The pieces of a word and the term for it as a whole."""
    pieces = [piece.lower() for piece in _PIECE.findall(word)]
    whole = "".join(pieces)
    has_whole = len(pieces) > 1 and len(whole) <= MAX_WHOLE_CHARACTERS
    telling = pieces if len(word) <= MAX_WORD_BYTES else ()
    return (
        tuple(piece for piece in telling if len(piece) > 1 or piece.isdigit()),
        f"{WHOLE}{whole}" if has_whole else "",
    )


def pieces_of(word: str) -> Strings:
    """The pieces of a word, without single letters."""
    return _split(word)[0]


def parts_of(word: str) -> Strings:
    """The pieces of a word, and the term for it as a whole where it has several."""
    pieces, whole = _split(word)
    return (*pieces, whole) if whole else pieces


def whole_of(word: str) -> str:
    """The term for a word as a whole, "" for one that has but one piece."""
    return _split(word)[1]


@lru_cache(STEM_CACHE_WORDS)
def stem(piece: str) -> str:
    """The stem of a piece, by the Snowball stemmer for English (Porter 2)."""
    stemmed: str = _stemmer().stemWord(piece) if piece.isascii() and piece.isalpha() else piece
    return stemmed


def stems_of(words: Iterable[str]) -> list[str]:
    """The stems of all pieces of some words, in order."""
    return [stem(piece) for word in words for piece in pieces_of(word)]


def telling_stems(text: str) -> list[str]:
    """The stems of a text, in order, without those of words that say nothing of what is sought."""
    return stems_of(word for word in words_of_text(text) if word.lower() not in STOP_WORDS)


@cache
def _stemmer() -> Any:
    from Stemmer import Stemmer

    return Stemmer("english", 0)
