"""What words of other languages mean in the words of code.

They are found by a table of stems, by words that English begins alike, and by what stands in a
collection as it is written: technical terms are the same everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.words import STOP_WORDS, stem, words_of_text

GLOSSARY = "glossary.txt"
MAX_FOREIGN_CHARACTERS = 4_000  # that are read of a text in another language
LEAST_INNER_LETTERS = 5  # of a stem that is sought inside of a word
COGNATE_LETTERS = 6  # that a word and one of English begin with, both in one spelling
_LATIN = r"[^\W\u2e80-\uffff]"
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_SPELLING = str.maketrans("cyzwfq", "kisvpk", "h")  # of sounds that languages write in several ways


class Glossary(NamedTuple):
    """Words that say nothing, and stems with the words of code for each."""

    fillers: frozenset[str]
    meanings: dict[str, list[str]]


def in_english(text: str, units_with: Callable[[str], int]) -> str:
    """The words of code that a text in another language speaks of; one in English as it is.

    `units_with` says how many units of a collection have a stem. What nobody knows is left out.
    """
    known = glossary()
    plain = _folded(text[:MAX_FOREIGN_CHARACTERS])
    said = words_of_text(plain)
    strange = sum(word in known.fillers for word in said) + sum(not one.isascii() for one in text)
    if strange <= sum(word in STOP_WORDS for word in said) and not any(map(_is_unspaced, text)):
        return text
    found: dict[str, None] = {}
    for sought, word in _pattern().findall(plain):
        meanings = known.meanings.get(sought) or _as_written(word, units_with)
        having = [one for one in meanings if units_with(stem(one))]
        found.update(dict.fromkeys(having or meanings[: bool(sought)]))
    return " ".join(found)


def _as_written(word: str, units_with: Callable[[str], int]) -> Sequence[str]:
    """The word itself where some unit has it, else the commonest that begins alike in English."""
    near = _by_beginning().get(_spelt(word), ())
    is_known = units_with(stem(word))
    return [word] if is_known else sorted(near, key=lambda one: -units_with(stem(one)))[:1]


@cache
def _by_beginning() -> dict[str, list[str]]:
    words: dict[str, list[str]] = defaultdict(list)
    for word in shipped_table().number_of:
        if len(word) >= COGNATE_LETTERS:
            words[_spelt(word)].append(word)
    return words


def _spelt(word: str) -> str:
    """The beginning of a word, in one spelling."""
    return re.sub(r"(.)\1", r"\1", word.translate(_SPELLING))[:COGNATE_LETTERS]


def _is_unspaced(text: str) -> bool:
    """True if a text begins with a letter of a script that writes words without spaces; a pattern of
    all of them would take longer to make than a question to read.
    """
    return "\u2e80" <= text <= "\uffff"


def _folded(text: str) -> str:
    """Small letters, Latin ones without their marks."""
    plain = text.lower().translate(_UMLAUTS)
    return "".join(
        one if one.isascii() or _is_unspaced(one) else unicodedata.normalize("NFKD", one)[0]
        for one in plain
    )


@cache
def glossary() -> Glossary:
    """The table that comes with the program."""
    text = _folded(Path(__file__).with_name(GLOSSARY).read_text("utf-8"))
    rows = [line.partition(": ") for line in text.splitlines() if line[0] not in "-#"]
    meanings = {
        one.replace("+", " "): words.split() for words, _, stems in rows for one in stems.split()
    }
    fillers = frozenset(
        word for line in text.splitlines() if line[0] == "-" for word in line.split()
    )
    return Glossary(fillers, meanings)


@cache
def _pattern() -> re.Pattern[str]:
    """A pattern whose first group is a stem, and the second a word without any."""
    fillers, meanings = glossary()
    stems = sorted(meanings, key=len, reverse=True)
    inner = "|".join(one for one in stems if len(one) >= LEAST_INNER_LETTERS or _is_unspaced(one))
    pattern = (
        rf"\b(?:{'|'.join(fillers)})\b|(\b(?:{'|'.join(stems)})|{inner})"
        rf"|\b({_LATIN}+?)(?={inner}|\b)"
    )
    return re.compile(pattern)
