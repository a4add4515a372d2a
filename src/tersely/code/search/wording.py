"""A question in the words of one collection: in English, without the name of its language, and
spelt as it is there.

Questions that were meant for the whole web name the language (`python read a file by lines`), which
tells nothing between units that are all in it, and they are typed in haste (`dictionarry`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from string import ascii_lowercase, digits

from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.glossary import in_english
from tersely.code.search.query import Query
from tersely.code.search.storage.collection import FileEntry
from tersely.code.search.words import MAX_WORD_BYTES, stem
from tersely.foundation.types import replace

COMMON_SHARE = 0.5  # of the units, from which on a language is that of the collection
LEAST_LETTERS = 5  # of a word that may be misspelt: shorter ones are too near to others
LEAST_HALF = 3  # letters of each of two words that were typed as one


def common_language(files: Sequence[FileEntry]) -> str:
    """The language that most units are in, "" where none has most."""
    units = Counter[str]()
    for file in files:
        units[file.language] += file.count
    language, count = max(units.items(), key=lambda item: item[1], default=("", 0))
    return language if count and count >= COMMON_SHARE * units.total() else ""


def in_words_of(query: Query, language: str, units_with: Callable[[str], int]) -> Query:
    """The question in English without the name of a language, its misspelt words as the collection
    spells them.

    `units_with` says how many units have a stem. Nothing changes that would leave a question
    without words.
    """
    asked = in_english(" ".join(query.words), units_with).split() or query.words
    telling = [word for word in asked if word.lower().rstrip(digits) != language]
    words: list[str] = []
    for word in telling or asked:
        words.extend(_spelt(word, units_with) if _is_prose(word, query) else (word,))
    return replace(query, words=tuple(words))


def _is_prose(word: str, query: Query) -> bool:
    is_plain = word.isascii() and word.isalpha() and word.islower()
    return (
        is_plain
        and LEAST_LETTERS <= len(word) <= MAX_WORD_BYTES
        and query.name != word
        and word not in query.names
    )


def _spelt(word: str, units_with: Callable[[str], int]) -> Sequence[str]:
    """A word that somebody knows; else the commonest of the collection one slip of the fingers
    away, or two in one.
    """
    known = shipped_table().number_of

    def units(other: str) -> int:
        return units_with(stem(other)) if other in known else 0

    if word in known or units_with(stem(word)):
        return (word,)
    near = max(sorted(set(_one_slip_from(word))), key=units)
    if units(near):
        return (near,)
    halves = [(word[:at], word[at:]) for at in range(LEAST_HALF, len(word) - LEAST_HALF + 1)]
    both = max(halves, key=lambda pair: min(map(units, pair)), default=(word,))
    return both if all(map(units, both)) else (word,)


def _one_slip_from(word: str) -> Iterator[str]:
    """All that a letter left out, doubled, mistaken or swapped with the next makes of a word."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
